//! The message sizes of a series.

/// Bytes of the region that blocks are sent from, and of the one that they arrive in, where no
/// block is longer.
pub const SIZES_REGION: usize = 8 << 20;
/// Longest message.
pub const LONGEST: u32 = 1 << 30;
/// Sizes this far below and above a power of two are measured too: buffers that end or begin at a
/// round number cost less than others.
const PERTURBED: u32 = 3;
/// Powers of two from here on have such neighbours.
const FROM: u32 = 16;

/// 0, then powers of two with their neighbours, as far as they lie within `range`.
pub fn sizes(range: std::ops::RangeInclusive<u32>) -> Vec<u32> {
    let powers = (0..=LONGEST.ilog2()).map(|exponent| 1_u32 << exponent);
    let mut sizes: Vec<u32> = powers
        .flat_map(|power| match power {
            FROM.. => vec![power - PERTURBED, power, power + PERTURBED],
            _ => vec![power],
        })
        .chain([0, *range.start(), *range.end()])
        .filter(|size| range.contains(size) && *size <= LONGEST)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Samples of `messages` messages of `bytes` bytes: so many that a batch moves `room` bytes, but
/// from `least` to `most`.
pub fn samples_within(room: u64, bytes: u32, messages: u32, least: u32, most: u32) -> u32 {
    let moved = u64::from(bytes.max(1)) * u64::from(messages);
    let fit = (room / moved).min(u64::from(u32::MAX)) as u32;
    fit.clamp(least.min(most), most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_two_and_their_neighbours() {
        assert_eq!(sizes(0..=40), [0, 1, 2, 4, 8, 13, 16, 19, 29, 32, 35, 40]);
        assert_eq!(sizes(30..=33), [30, 32, 33]);
        let all = sizes(0..=LONGEST);
        assert_eq!(all.last(), Some(&LONGEST));
        // 0, four powers below 16, then 27 with two neighbours, of which one is too long.
        assert_eq!(all.len(), 1 + 4 + 3 * 27 - 1);
    }
}
