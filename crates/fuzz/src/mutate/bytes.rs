//! Changes of bytes, whatever they mean.

use rand::RngExt;

use super::{Mutator, Random, piece};

/// Values of a byte, or of the highest of a number, that lie at a border.
const BORDERS: [u8; 10] = [0, 1, 2, 7, 8, 0x7f, 0x80, 0xfe, 0xff, b'\n'];

/// Changes bytes in one place.
pub(super) fn change(input: &mut Vec<u8>, with: &Mutator<'_>, random: &mut Random) {
    let len = input.len();
    let at = random.random_range(0..=len);
    match random.random_range(0..10_u32) {
        0 if at < len => input[at] ^= 1 << random.random_range(0..8_u32),
        1 if at < len => input[at] = random.random(),
        2 if at < len => input[at] = BORDERS[random.random_range(0..BORDERS.len())],
        3 => number(input, at, random),
        4 => input.insert(at, random.random()),
        5 => {
            let end = (at + random.random_range(0..64_usize)).min(len);
            input.drain(at..end);
        }
        6 => {
            let part = piece(input, random);
            input.splice(at..at, part);
        }
        7 => {
            let part = piece(with.example(random), random);
            input.splice(at..at, part);
        }
        8 => {
            // The begin of one, and the end of another.
            let other = with.example(random);
            let from = random.random_range(0..=other.len());
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
        9 => input.truncate(at),
        _ => input.push(random.random()),
    }
}

/// Writes a number of 2, 4 or 8 bytes, of either order.
fn number(input: &mut [u8], at: usize, random: &mut Random) {
    let value: u64 = match random.random_range(0..5_u32) {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << random.random_range(0..64_u32),
        3 => (1_u64 << random.random_range(0..64_u32)).wrapping_sub(1),
        _ => random.random_range(0..300),
    };
    let bytes = if random.random() { value.to_le_bytes() } else { value.to_be_bytes() };
    let size = 1 << random.random_range(1..4_u32);
    for (byte, new) in input.iter_mut().skip(at).zip(&bytes[..size]) {
        *byte = *new;
    }
}
