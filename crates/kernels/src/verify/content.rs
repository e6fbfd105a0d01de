//! Bytes that tell what they are.

use std::ops::RangeInclusive;

use bandgap_comm::{CommError, Rank};

use crate::{Content, Flaw, Placed};

/// Bytes written and compared at a time; a multiple of 8.
pub(super) const CHUNK: usize = 4096;

const STEP: u64 = 0xD6E8_FEB8_6659_FD93;

/// A number that all of `numbers` change.
pub(super) fn salt<const N: usize>(numbers: [u64; N]) -> u64 {
    numbers.into_iter().fold(0x5555_AAAA_5555_AAAA, mixed)
}

fn mixed(salt: u64, number: u64) -> u64 {
    let mixed = (salt ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed >> 29
}

/// In which turn contents are written, and in what kind of batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) turn: u64,
    /// Whether messages share places. Then a content tells neither its receiver nor its message.
    pub(super) shared: bool,
}

impl Turn {
    fn salt(self, source: Rank, to: Option<Rank>, message: u64) -> u64 {
        let to = to.map_or(u64::MAX, |to| to as u64);
        match self.shared {
            true => salt([self.turn, source as u64]),
            false => salt([self.turn, source as u64, to, message]),
        }
    }

    /// Writes the bytes of a content from byte `at` on, a multiple of 8.
    fn write(self, content: Content, into: &mut [u8], at: usize) {
        match content {
            Content::Sent { source, to, message } => {
                fill(into, self.salt(source, Some(to), message), at);
            }
            Content::Doubles { source, message } => self.add(source..=source, message, into, at),
            Content::Sum { sources: 0, .. } => into.fill(0),
            Content::Sum { sources, message } => self.add(0..=sources - 1, message, into, at),
        }
    }

    /// Writes sums of the doubles of some ranks: whole numbers so small that a sum is exact in
    /// whatever order it is formed.
    fn add(self, sources: RangeInclusive<Rank>, message: u64, into: &mut [u8], at: usize) {
        let salts: Vec<u64> = sources.map(|source| self.salt(source, None, message)).collect();
        for (element, room) in (at as u64 / 8..).zip(into.chunks_mut(8)) {
            let terms = salts.iter().map(|salt| mixed(*salt, element) >> (64 - DOUBLE_BITS));
            let sum = terms.sum::<u64>() as f64;
            room.copy_from_slice(&sum.to_ne_bytes()[..room.len()]);
        }
    }

    /// Writes a content.
    pub(super) fn fill(self, memory: &mut [u8], placed: &Placed) -> Result<(), CommError> {
        for (chunk, at) in placed.part.of_mut(memory)?.chunks_mut(CHUNK).zip((0..).step_by(CHUNK)) {
            self.write(placed.content, chunk, at);
        }
        Ok(())
    }

    /// Writes something else in every byte.
    pub(super) fn poison(self, memory: &mut [u8], placed: &Placed) -> Result<(), CommError> {
        self.fill(memory, placed)?;
        placed.part.of_mut(memory)?.iter_mut().for_each(|byte| *byte = !*byte);
        Ok(())
    }

    /// What is wrong with a content, if anything.
    pub(super) fn compare(self, memory: &[u8], placed: &Placed) -> Result<Option<Flaw>, CommError> {
        let Placed { part, content } = *placed;
        let (source, message) = match content {
            Content::Sent { source, message, .. } | Content::Doubles { source, message } => {
                (Some(source), message)
            }
            Content::Sum { message, .. } => (None, message),
        };
        let mut expected = [0; CHUNK];
        let flaws = part.of(memory)?.chunks(CHUNK).zip((0..).step_by(CHUNK)).map(|(got, at)| {
            let expected = &mut expected[..got.len()];
            self.write(content, expected, at);
            Flaw::of_bytes(source, message, part.len, at, expected, got)
        });
        Ok(flaws.flatten().next())
    }
}

/// Bits of the whole numbers in vectors of doubles: 2³² ranks may be summed.
const DOUBLE_BITS: u32 = 20;

/// The bytes of `salt` from byte `at` on, a multiple of 8. No word is like its neighbour.
pub(super) fn fill(into: &mut [u8], salt: u64, at: usize) {
    let mut word = salt.wrapping_add((at as u64 / 8).wrapping_mul(STEP));
    let mut words = into.chunks_exact_mut(8);
    for room in &mut words {
        room.copy_from_slice(&word.to_le_bytes());
        word = word.wrapping_add(STEP);
    }
    let rest = words.into_remainder();
    rest.copy_from_slice(&word.to_le_bytes()[..rest.len()]);
}

#[cfg(test)]
mod tests {
    use bandgap_comm::Part;

    use super::*;

    const OWN: Turn = Turn { turn: 3, shared: false };

    fn placed(source: usize, to: usize, message: u64) -> Placed {
        Placed { part: Part::new(8, 5000), content: Content::Sent { source, to, message } }
    }

    #[test]
    fn a_content_differs_from_its_poison_in_every_byte_and_from_others() {
        let mut memory = vec![0; 6000];
        let expected = placed(1, 2, 7);
        OWN.poison(&mut memory, &expected).unwrap();
        let poison = memory.clone();
        OWN.fill(&mut memory, &expected).unwrap();
        assert!(memory[8..5008].iter().zip(&poison[8..5008]).all(|(a, b)| a != b));
        assert_eq!(OWN.compare(&memory, &expected).unwrap(), None);
        for other in [placed(0, 2, 7), placed(1, 0, 7), placed(1, 2, 6)] {
            assert!(OWN.compare(&memory, &other).unwrap().is_some(), "{other:?}");
        }
        let later = Turn { turn: 4, ..OWN };
        assert!(later.compare(&memory, &expected).unwrap().is_some());
        // What shares a place tells its sender only.
        let shared = Turn { turn: 3, shared: true };
        shared.fill(&mut memory, &expected).unwrap();
        assert_eq!(shared.compare(&memory, &placed(1, 9, 9)).unwrap(), None);
        assert!(shared.compare(&memory, &placed(2, 2, 7)).unwrap().is_some());
    }

    #[test]
    fn the_first_wrong_byte_is_named_with_both_values() {
        let mut memory = vec![0; 6000];
        OWN.fill(&mut memory, &placed(1, 2, 7)).unwrap();
        for at in [0, 4095, 4096, 4999] {
            let mut spoilt = memory.clone();
            spoilt[8 + at] ^= 0x10;
            let flaw = OWN.compare(&spoilt, &placed(1, 2, 7)).unwrap();
            let (expected, got) = (memory[8 + at], spoilt[8 + at]);
            let named =
                Flaw::Byte { from: Some(1), message: 7, bytes: 5000, first: at, expected, got };
            assert_eq!(flaw, Some(named));
        }
    }

    #[test]
    fn a_sum_formed_in_any_order_is_that_of_its_sources() {
        const LEN: usize = 5000;
        let part = |at| Part::new(at * LEN, LEN);
        for turn in [OWN, Turn { shared: true, ..OWN }] {
            let mut memory = vec![0; 4 * LEN];
            for source in 0..3 {
                let content = Content::Doubles { source, message: 7 };
                turn.fill(&mut memory, &Placed { part: part(source), content }).unwrap();
            }
            let sum = Placed { part: part(3), content: Content::Sum { sources: 3, message: 7 } };
            turn.poison(&mut memory, &sum).unwrap();
            part(2).copy(&mut memory, part(3)).unwrap();
            part(3).add(&mut memory, part(0)).unwrap();
            assert!(turn.compare(&memory, &sum).unwrap().is_some());
            part(3).add(&mut memory, part(1)).unwrap();
            assert_eq!(turn.compare(&memory, &sum).unwrap(), None);
            let fewer = Placed { content: Content::Sum { sources: 2, message: 7 }, ..sum };
            let flaw = turn.compare(&memory, &fewer).unwrap();
            assert!(matches!(flaw, Some(Flaw::Byte { from: None, message: 7, .. })), "{flaw:?}");
        }
    }
}
