//! Contents: bytes that identify their message.

use std::ops::RangeInclusive;

use bandgap_comm::{Part, Rank, Result};

use crate::{Content, Elements, Flaw, Placed};

/// Bytes that are written and compared at a time; a multiple of 8.
pub(super) const CHUNK: usize = 4096;

const STEP: u64 = 0xD6E8_FEB8_6659_FD93;

/// A number that depends on all of `numbers`.
pub(super) fn salt<const N: usize>(numbers: [u64; N]) -> u64 {
    numbers.into_iter().fold(0x5555_AAAA_5555_AAAA, mixed)
}

fn mixed(salt: u64, number: u64) -> u64 {
    let mixed = (salt ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed >> 29
}

/// The turn in which contents are written, and the kind of batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) turn: u64,
    /// Whether messages share places. If so, a content identifies neither its receiver nor its
    /// message.
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

    /// Writes a content's bytes from byte `at` on, a multiple of 8.
    fn write(self, content: Content, into: &mut [u8], at: usize) {
        match content {
            Content::Sent { source, to, message } => {
                fill(into, self.salt(source, Some(to), message), at);
            }
            Content::Doubles { source, message } => self.add(source..=source, message, into, at),
            Content::Sum { sources: 0, .. } => into.fill(0),
            Content::Sum { sources, message } => self.add(0..=sources - 1, message, into, at),
            Content::Elements(elements) => self.elements(elements, into, at),
        }
    }

    /// Writes sums of some ranks' doubles. The terms are small whole numbers, so that each sum is
    /// exact in any order of addition. If every message is compared, they are multiples of the
    /// smallest double: adding these adds their bits, so that a sum shows a change in any bit of a
    /// term, but processors are slow at it.
    fn add(self, sources: RangeInclusive<Rank>, message: u64, into: &mut [u8], at: usize) {
        let salts: Vec<u64> = sources.map(|source| self.salt(source, None, message)).collect();
        for (element, room) in (at as u64 / 8..).zip(into.chunks_mut(8)) {
            let terms = salts.iter().map(|salt| (mixed(*salt, element) >> (64 - DOUBLE_BITS)) + 1);
            let sum = terms.sum::<u64>();
            let sum = if self.shared { sum as f64 } else { f64::from_bits(sum) };
            room.copy_from_slice(&sum.to_ne_bytes()[..room.len()]);
        }
    }

    /// Writes a matrix's elements in a row of memory, from byte `at` of all of them on.
    fn elements(self, elements: Elements, into: &mut [u8], at: usize) {
        let salt = self.salt(ELEMENTS, None, elements.message);
        for (index, room) in (at / 8..).zip(into.as_chunks_mut().0) {
            let (row, column) = elements.place(index);
            *room = mixed(mixed(salt, row as u64), column as u64).to_le_bytes();
        }
    }

    /// Writes a content.
    pub(super) fn fill(self, memory: &mut [u8], placed: &Placed) -> Result<()> {
        pieces(placed).try_for_each(|(piece, at)| {
            self.write(placed.content, piece.of_mut(memory)?, at);
            Ok(())
        })
    }

    /// Writes every byte of a content inverted.
    pub(super) fn poison(self, memory: &mut [u8], placed: &Placed) -> Result<()> {
        self.fill(memory, placed)?;
        pieces(placed).try_for_each(|(piece, _)| {
            piece.of_mut(memory)?.iter_mut().for_each(|byte| *byte = !*byte);
            Ok(())
        })
    }

    /// The first error in a content, if any.
    pub(super) fn compare(self, memory: &[u8], placed: &Placed) -> Result<Option<Flaw>> {
        let mut room = [0; CHUNK];
        for (piece, at) in pieces(placed) {
            let (got, expected) = (piece.of(memory)?, &mut room[..piece.len]);
            self.write(placed.content, expected, at);
            if let Some(flaw) = differs(placed, at, expected, got) {
                return Ok(Some(flaw));
            }
        }
        Ok(None)
    }
}

/// Used as the source of matrix elements, which are the same on every rank.
const ELEMENTS: Rank = Rank::MAX;

/// The pieces of a content in memory, and the number of its bytes before each. A content without
/// bytes has one empty piece.
fn pieces(placed: &Placed) -> impl Iterator<Item = (Part, usize)> + use<> {
    let Placed { part, content, .. } = *placed;
    let (rows, len, step) = match content {
        Content::Elements(Elements { rows, columns, stride, .. }) => {
            (rows, 8 * columns, 8 * stride)
        }
        _ => (1, part.len, 0),
    };
    (0..rows).flat_map(move |row| {
        (0..len.max(1)).step_by(CHUNK).map(move |at| {
            (Part::new(part.at + row * step + at, (len - at).min(CHUNK)), row * len + at)
        })
    })
}

/// The first difference in a piece of a content; `at` of the content's bytes precede the piece.
fn differs(placed: &Placed, at: usize, expected: &[u8], got: &[u8]) -> Option<Flaw> {
    let Placed { part, content, .. } = *placed;
    let (source, message) = match content {
        Content::Sent { source, message, .. } | Content::Doubles { source, message } => {
            (Some(source), message)
        }
        Content::Sum { message, .. } => (None, message),
        Content::Elements(elements) => return element(elements, at, expected, got),
    };
    Flaw::of_bytes(source, message, part.len, at, expected, got)
}

fn element(elements: Elements, at: usize, expected: &[u8], got: &[u8]) -> Option<Flaw> {
    let both = expected.as_chunks().0.iter().zip(got.as_chunks().0);
    let different = (at / 8..).zip(both).find(|(_, (expected, got))| expected != got);
    different.map(|(index, (expected, got))| {
        let (row, column) = elements.place(index);
        let [expected, got] = [*expected, *got].map(u64::from_le_bytes);
        let Elements { source: from, message, .. } = elements;
        Flaw::Element { from, message, row, column, expected, got }
    })
}

/// Bits of the numbers in vectors of doubles, so that 2³¹ ranks can be summed.
const DOUBLE_BITS: u32 = 20;

/// Writes the bytes of `salt` from byte `at` on, a multiple of 8. Neighbouring words differ.
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
        Placed {
            part: Part::new(8, 5000),
            content: Content::Sent { source, to, message },
            messages: 1,
        }
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

    /// 3 × 4 elements with a gap behind each row, from element (6, 7) of a matrix of 8 × 8 on.
    fn elements(message: u64) -> Placed {
        let elements = Elements {
            source: 1,
            message,
            dimension: 8,
            first: (6, 7),
            rows: 3,
            columns: 4,
            stride: 6,
            transposed: false,
        };
        Placed { part: Part::new(16, 8 * 16), content: Content::Elements(elements), messages: 0 }
    }

    #[test]
    fn elements_of_a_matrix_are_told_apart_and_what_lies_between_them_is_left_alone() {
        let placed = elements(5);
        let mut memory = vec![9; 200];
        OWN.poison(&mut memory, &placed).unwrap();
        assert!(OWN.compare(&memory, &placed).unwrap().is_some());
        OWN.fill(&mut memory, &placed).unwrap();
        assert_eq!(OWN.compare(&memory, &placed).unwrap(), None);
        let touched = |at: usize| (16..16 + 8 * 16).contains(&at) && (at / 8 - 2) % 6 < 4;
        assert!((0..200).all(|at| touched(at) || memory[at] == 9));
        // All twelve differ from each other, and from those of another message and turn.
        let mut words: Vec<&[u8]> = memory[16..144].chunks(8).filter(|word| word[0] != 9).collect();
        words.sort_unstable();
        words.dedup();
        assert!(words.len() >= 12);
        assert!(OWN.compare(&memory, &elements(6)).unwrap().is_some());
        assert!(Turn { turn: 4, ..OWN }.compare(&memory, &placed).unwrap().is_some());
        // Where messages share a place they do not tell the message.
        let shared = Turn { shared: true, ..OWN };
        shared.fill(&mut memory, &placed).unwrap();
        assert_eq!(shared.compare(&memory, &elements(6)).unwrap(), None);
        // The last one of the second row is that in row 7 and, behind the last column, column 2.
        let last = 16 + 8 * 9;
        let expected = u64::from_le_bytes(memory[last..last + 8].try_into().unwrap());
        memory[last] ^= 1;
        let flaw =
            Flaw::Element { from: 1, message: 5, row: 7, column: 2, expected, got: expected ^ 1 };
        assert_eq!(shared.compare(&memory, &placed).unwrap(), Some(flaw));
    }

    #[test]
    fn transposed_elements_are_those_with_row_and_column_exchanged() {
        let straight = elements(5);
        let Content::Elements(of) = straight.content else { panic!() };
        let turned = Elements { rows: 4, columns: 3, stride: 3, transposed: true, ..of };
        let turned =
            Placed { part: Part::new(16, 8 * 12), content: Content::Elements(turned), messages: 0 };
        let [mut one, mut other] = [vec![0; 200], vec![0; 200]];
        OWN.fill(&mut one, &straight).unwrap();
        OWN.fill(&mut other, &turned).unwrap();
        for (row, column) in (0..3).flat_map(|row| (0..4).map(move |column| (row, column))) {
            let [a, b] = [row * 6 + column, column * 3 + row].map(|index| 16 + 8 * index);
            assert_eq!(one[a..a + 8], other[b..b + 8]);
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
                turn.fill(&mut memory, &Placed { part: part(source), content, messages: 0 })
                    .unwrap();
            }
            let content = Content::Sum { sources: 3, message: 7 };
            let sum = Placed { part: part(3), content, messages: 2 };
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

    #[test]
    fn a_sum_shows_a_change_in_any_bit_of_a_term() {
        let part = |at| Part::new(at * 8, 8);
        let term = |source| Placed {
            part: part(source),
            content: Content::Doubles { source, message: 0 },
            messages: 0,
        };
        let content = Content::Sum { sources: 2, message: 0 };
        let sum = Placed { part: part(1), content, messages: 1 };
        for bit in 0..=64 {
            let mut memory = vec![0; 16];
            OWN.fill(&mut memory, &term(0)).unwrap();
            OWN.fill(&mut memory, &term(1)).unwrap();
            if bit < 64 {
                memory[bit / 8] ^= 1 << (bit % 8);
            }
            part(1).add(&mut memory, part(0)).unwrap();
            assert_eq!(OWN.compare(&memory, &sum).unwrap().is_some(), bit < 64, "bit {bit}");
        }
    }
}
