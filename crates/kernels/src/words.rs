//! Words that Active Messages carry in a program.

use bandgap_comm::{Rank, Word};

const SOURCE: u64 = 0xC2B2_AE3D_27D4_EB4F;
const TURN: u64 = 0x1656_67B1_9E37_79F9;
const DESTINATION: u64 = 0xD6E8_FEB8_6659_FD93;
const INDEX: u64 = 0x9E37_79B9_7F4A_7C15;
const OFFSET: u64 = 0x5555_AAAA_5555_AAAA;

/// Words of one rank's requests in one turn. A word identifies its source, its destination, its
/// index and the turn. A reply carries the complement of its request's word.
///
/// *Formula*: w = c + source·S + turn·T + destination·D + index·I modulo 2⁶⁴, with odd constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words {
    base: u64,
}

impl Words {
    /// Words of rank `source`.
    #[inline]
    pub fn new(source: Rank, turn: u64) -> Self {
        let source = (source as u64).wrapping_mul(SOURCE);
        Self { base: OFFSET.wrapping_add(source).wrapping_add(turn.wrapping_mul(TURN)) }
    }

    /// The word of request `index` to rank `to`.
    #[inline(always)]
    pub fn word(self, to: Rank, index: u64) -> Word {
        let to = (to as u64).wrapping_mul(DESTINATION);
        self.base.wrapping_add(to).wrapping_add(index.wrapping_mul(INDEX))
    }

    /// Sum of the words `first`, `first + step`, …, `count` of them, modulo 2⁶⁴.
    pub fn sum(self, to: Rank, first: u64, step: u64, count: u64) -> u64 {
        // Σ (first + k·step) = count·first + step·count·(count − 1)/2.
        let pairs = u128::from(count) * u128::from(count.saturating_sub(1)) / 2;
        let indices = first.wrapping_mul(count).wrapping_add(step.wrapping_mul(pairs as u64));
        self.word(to, 0).wrapping_mul(count).wrapping_add(indices.wrapping_mul(INDEX))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn words_tell_source_destination_number_and_turn() {
        let mut words = BTreeSet::new();
        for source in 0..8 {
            for turn in 0..8 {
                let from = Words::new(source, turn);
                words.extend((0..8).flat_map(|to| (0..64).map(move |i| from.word(to, i))));
            }
        }
        assert_eq!(words.len(), 8 * 8 * 8 * 64);
        assert!(!words.contains(&0));
    }

    #[test]
    fn the_sum_is_that_of_the_words() {
        let words = Words::new(3, 7);
        for (first, step, count) in [(0, 1, 0), (0, 1, 1), (5, 1, 1000), (2, 7, 333), (9, 3, 2)] {
            let added =
                (0..count).map(|k| words.word(1, first + k * step)).fold(0_u64, u64::wrapping_add);
            assert_eq!(words.sum(1, first, step, count), added, "{first} {step} {count}");
        }
    }
}
