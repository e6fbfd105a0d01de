//! Two vectors in memory that become one.

use super::Part;
use crate::CommError;

/// How two vectors become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// The sum of doubles, element by element.
    Sum,
}

/// Bytes of an element.
const ELEMENT: usize = size_of::<f64>();

impl Combine {
    /// Combines `a` and `b` in `memory` into `into`, element by element. Elements are doubles in
    /// this machine's byte order, at any offset. The three parts have the same length and are apart
    /// from each other, except that `into` may be `a`.
    ///
    /// # Errors
    /// [`CommError::NotInMemory`]; [`CommError::Lengths`] where lengths differ or are no multiple
    /// of 8; [`CommError::Overlap`].
    pub fn apply(self, memory: &mut [u8], into: Part, a: Part, b: Part) -> Result<(), CommError> {
        for part in [into, a, b] {
            part.of(memory)?;
        }
        if a.len != into.len || b.len != into.len || !into.len.is_multiple_of(ELEMENT) {
            return Err(CommError::Lengths { parts: [into, a, b].into() });
        }
        b.apart(into)?;
        b.apart(a)?;
        let Self::Sum = self;
        if into == a {
            if let Ok([into, b]) = memory.get_disjoint_mut([into.range(), b.range()]) {
                for (sum, b) in elements_mut(into).zip(elements(b)) {
                    *sum = (f64::from_ne_bytes(*sum) + b).to_ne_bytes();
                }
            }
            return Ok(());
        }
        into.apart(a)?;
        if let Ok([into, a, b]) = memory.get_disjoint_mut([into.range(), a.range(), b.range()]) {
            for (sum, (a, b)) in elements_mut(into).zip(elements(a).zip(elements(b))) {
                *sum = (a + b).to_ne_bytes();
            }
        }
        Ok(())
    }
}

fn elements(bytes: &[u8]) -> impl Iterator<Item = f64> {
    bytes.as_chunks().0.iter().map(|&element| f64::from_ne_bytes(element))
}

fn elements_mut(bytes: &mut [u8]) -> impl Iterator<Item = &mut [u8; ELEMENT]> {
    bytes.as_chunks_mut().0.iter_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    fn part(first: usize, values: usize) -> Part {
        Part::new(first * ELEMENT, values * ELEMENT)
    }

    #[test]
    fn a_sum_goes_beside_its_terms_or_in_place_of_the_first() {
        let mut bytes = memory(&[0.5, 1.0, 2.0, 3.0, 9.0, 9.0]);
        let (a, b, beside) = (part(0, 2), part(2, 2), part(4, 2));
        Combine::Sum.apply(&mut bytes, beside, a, b).unwrap();
        assert_eq!(bytes, memory(&[0.5, 1.0, 2.0, 3.0, 2.5, 4.0]));
        Combine::Sum.apply(&mut bytes, a, a, b).unwrap();
        assert_eq!(bytes, memory(&[2.5, 4.0, 2.0, 3.0, 2.5, 4.0]));
        let none = part(6, 0);
        Combine::Sum.apply(&mut bytes, none, none, none).unwrap();
        // At an offset that no double is aligned to.
        let mut odd = [&[7; 3][..], &memory(&[1.0, 2.0])].concat();
        let (a, b) = (Part::new(3, ELEMENT), Part::new(3 + ELEMENT, ELEMENT));
        Combine::Sum.apply(&mut odd, a, a, b).unwrap();
        assert_eq!(odd, [&[7; 3][..], &memory(&[3.0, 2.0])].concat());
    }

    #[test]
    fn parts_that_do_not_belong_together_are_errors_and_change_nothing() {
        let before = memory(&[1.0; 6]);
        let apply = |into, a, b| {
            let mut bytes = before.clone();
            let error = Combine::Sum.apply(&mut bytes, into, a, b).unwrap_err();
            assert_eq!(bytes, before);
            error
        };
        let (a, b, c) = (part(0, 2), part(2, 2), part(4, 2));
        let outside = part(5, 2);
        for error in [apply(outside, a, b), apply(c, outside, b), apply(c, a, outside)] {
            assert!(matches!(error, CommError::NotInMemory { part, .. } if part == outside));
        }
        let short = part(4, 1);
        for error in [apply(short, a, b), apply(c, part(0, 1), b), apply(c, a, part(2, 1))] {
            assert!(matches!(error, CommError::Lengths { .. }), "{error}");
        }
        let odd = [0, 16, 32].map(|at| Part::new(at, 12));
        let error = apply(odd[0], odd[1], odd[2]);
        assert!(matches!(error, CommError::Lengths { .. }), "{error}");
        // Overlaps: into with a, into with b, a with b.
        for error in [apply(part(1, 2), a, c), apply(c, a, c), apply(c, a, a), apply(a, a, a)] {
            assert!(matches!(error, CommError::Overlap { .. }), "{error}");
        }
    }
}
