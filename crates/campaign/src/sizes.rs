//! The message sizes of a series.

use std::collections::BTreeSet;

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
    let all = powers.flat_map(|power| match power {
        FROM.. => vec![power - PERTURBED, power, power + PERTURBED],
        _ => vec![power],
    });
    let all = all.chain([0, *range.start(), *range.end()]);
    ascending(all.filter(|size| range.contains(size) && *size <= LONGEST))
}

/// Each of them once.
fn ascending(all: impl Iterator<Item = u32>) -> Vec<u32> {
    all.collect::<BTreeSet<u32>>().into_iter().collect()
}

/// Lengths of vectors whose bytes lie within `range`: powers of two of elements of so many bytes, and
/// the ends of the range where these are whole elements.
pub fn vectors(range: std::ops::RangeInclusive<u32>, element: u32) -> Vec<u32> {
    let powers = (0..=LONGEST.ilog2()).map(|exponent| 1_u32 << exponent);
    let fit =
        |length: &u32| length.checked_mul(element).is_some_and(|bytes| range.contains(&bytes));
    let ends = [*range.start(), *range.end()].into_iter();
    let ends = ends.filter(|bytes| *bytes > 0 && bytes.is_multiple_of(element));
    ascending(powers.filter(fit).chain(ends.map(|bytes| bytes / element)))
}

/// Dimensions of matrices within `range`: its ends, and the powers of two between them, each raised
/// to a multiple of `of`, unless that is no longer in the range. A single one stays what it is.
pub fn matrices(range: std::ops::RangeInclusive<u32>, of: u32) -> Vec<u32> {
    if range.start() == range.end() {
        return vec![*range.start()];
    }
    let powers = (0..u32::BITS).map(|exponent| 1_u32 << exponent);
    let raised = powers.chain([*range.start(), *range.end()]).filter(|rows| range.contains(rows));
    let raised = raised.filter_map(|rows| rows.checked_next_multiple_of(of));
    ascending(raised.filter(|rows| range.contains(rows)))
}

/// Rounds of one sample of short messages, so that the clock is read seldom beside them, as far as
/// they stay within [`ROUNDS_BYTES`].
const ROUNDS: u32 = 16;
/// Bytes that the rounds of one sample send one way.
const ROUNDS_BYTES: u64 = 64 << 10;

/// Rounds of one sample of messages of this length.
pub fn rounds(bytes: u64) -> u32 {
    (ROUNDS_BYTES / bytes.max(1)).clamp(1, ROUNDS.into()) as u32
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
    fn short_messages_go_several_rounds_and_long_ones_one() {
        let rounds = [0, 1, 4 << 10, 8 << 10, 40 << 10, 64 << 10, u64::MAX].map(rounds);
        assert_eq!(rounds, [16, 16, 16, 8, 1, 1, 1]);
    }

    #[test]
    fn vectors_fit_into_the_bytes_and_matrices_have_both_ends() {
        assert_eq!(vectors(0..=64, 8), [1, 2, 4, 8]);
        assert_eq!(vectors(20..=40, 8), [4, 5]);
        assert_eq!((vectors(24..=24, 8), vectors(17..=23, 8)), (vec![3], vec![]));
        assert_eq!(matrices(6..=16, 1), [6, 8, 16]);
        assert_eq!(matrices(6..=17, 3), [6, 9]);
        assert_eq!(matrices(50..=50, 3), [50]);
    }

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
