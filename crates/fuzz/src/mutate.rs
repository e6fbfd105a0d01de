//! Changes of inputs: by lines, by words and numbers, by values of JSON, by bytes.

mod bytes;
mod json;
mod lines;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus as Random;

use crate::Shape;

/// Longest input, in bytes, but for a few.
const USUAL: usize = 64 << 10;
/// Longest of these few.
const LONGEST: usize = 2 << 20;

/// Numbers at the borders of what types hold, and texts that are none.
pub(crate) const NUMBERS: [&str; 44] = [
    "0",
    "-0",
    "-0.0",
    "1",
    "-1",
    "0.5",
    "1e308",
    "-1e308",
    "1e309",
    "1e-308",
    "5e-324",
    "1e-400",
    "NaN",
    "nan",
    "inf",
    "-inf",
    "Infinity",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "281474976710656",
    "281474976710657",
    "1e6",
    "1e12",
    "1e18",
    "1e400",
    "0x10",
    "1_000",
    "1,5",
    "00000000000000000000000000000000000000000000000000000000000000000000000001",
];

/// Changes inputs of a target.
#[derive(Clone, Copy)]
pub(crate) struct Mutator<'a> {
    pub examples: &'a [Vec<u8>],
    pub words: &'a [Vec<u8>],
    pub shape: Shape,
}

impl Mutator<'_> {
    /// Changes an input once or a few times.
    pub fn change(&self, input: &mut Vec<u8>, random: &mut Random) {
        let times = 1 + random.random_range(0..4_u32) * random.random_range(0..4_u32);
        // JSON that is changed as a text is rarely JSON any more.
        let as_text = random.random_ratio(1, 5);
        if self.shape == Shape::Json && !as_text {
            json::change(input, times, self, random);
        } else {
            for _ in 0..times {
                match self.shape {
                    Shape::Lines if random.random_ratio(1, 2) => lines::line(input, self, random),
                    Shape::Lines | Shape::Json if random.random_ratio(4, 5) => {
                        lines::word(input, self, random);
                    }
                    _ => bytes::change(input, self, random),
                }
                input.truncate(USUAL);
            }
        }
        if random.random_ratio(1, 4000) {
            repeat(input, random);
        }
        input.truncate(LONGEST);
    }

    /// An example.
    fn example<'b>(&'b self, random: &mut Random) -> &'b [u8] {
        match self.examples.len() {
            0 => &[],
            examples => &self.examples[random.random_range(0..examples)],
        }
    }

    /// A word that means something, a number at a border, or nothing.
    fn replacement(&self, random: &mut Random) -> Vec<u8> {
        let number = random.random_ratio(1, 2) || self.words.is_empty();
        if number {
            return NUMBERS[random.random_range(0..NUMBERS.len())].as_bytes().to_vec();
        }
        self.words[random.random_range(0..self.words.len())].clone()
    }
}

/// Repeats a part of the input so often that it becomes long.
fn repeat(input: &mut Vec<u8>, random: &mut Random) {
    let part = piece(input, random);
    if part.is_empty() {
        return;
    }
    let at = random.random_range(0..=input.len());
    let room = random.random_range(USUAL..=LONGEST).saturating_sub(input.len());
    let repeated: Vec<u8> = part.iter().copied().cycle().take(room).collect();
    input.splice(at..at, repeated);
}

/// Some of these bytes, in one piece.
fn piece(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let from = random.random_range(0..bytes.len());
    let most = (bytes.len() - from).min(1 << random.random_range(0..12_u32));
    bytes[from..from + random.random_range(1..=most)].to_vec()
}
