//! Operations of a rank on parts of its memory.

use crate::{CommError, Part, Result};

impl Part {
    /// The bytes of the part in `memory`.
    ///
    /// # Errors
    /// [`CommError::NotInMemory`].
    #[inline(always)]
    pub fn of(self, memory: &[u8]) -> Result<&[u8]> {
        match memory.get(self.at..).and_then(|rest| rest.get(..self.len)) {
            Some(bytes) => Ok(bytes),
            None => Err(self.outside(memory.len())),
        }
    }

    /// The bytes of the part in `memory`, writable.
    ///
    /// # Errors
    /// [`CommError::NotInMemory`].
    #[inline(always)]
    pub fn of_mut(self, memory: &mut [u8]) -> Result<&mut [u8]> {
        let len = memory.len();
        match memory.get_mut(self.at..).and_then(|rest| rest.get_mut(..self.len)) {
            Some(bytes) => Ok(bytes),
            None => Err(self.outside(len)),
        }
    }

    #[cold]
    #[inline(never)]
    fn outside(self, memory: usize) -> CommError {
        CommError::NotInMemory { part: self, memory }
    }

    /// Copies the part's bytes in `memory` to `into`, which must have the same length and may
    /// overlap it.
    ///
    /// # Errors
    /// [`CommError::NotInMemory`]; [`CommError::Lengths`] if the lengths differ.
    #[inline]
    pub fn copy(self, memory: &mut [u8], into: Self) -> Result<()> {
        self.of(memory)?;
        into.of(memory)?;
        if self.len != into.len {
            return Err(CommError::Lengths { parts: [self, into].into() });
        }
        memory.copy_within(self.range(), into.at);
        Ok(())
    }

    /// Adds the doubles of `term` to its own, element by element. Elements are in the machine's
    /// byte order, at any offset. The parts must have the same length and not overlap.
    ///
    /// # Errors
    /// [`CommError::NotInMemory`]; [`CommError::Lengths`] if the lengths differ or are not a
    /// multiple of 8; [`CommError::Overlap`].
    pub fn add(self, memory: &mut [u8], term: Self) -> Result<()> {
        self.of(memory)?;
        term.of(memory)?;
        if term.len != self.len || !self.len.is_multiple_of(size_of::<f64>()) {
            return Err(CommError::Lengths { parts: [self, term].into() });
        }
        self.apart(term)?;
        if let Ok([sums, terms]) = memory.get_disjoint_mut([self.range(), term.range()]) {
            for (sum, &term) in sums.as_chunks_mut().0.iter_mut().zip(terms.as_chunks().0) {
                *sum = (f64::from_ne_bytes(*sum) + f64::from_ne_bytes(term)).to_ne_bytes();
            }
        }
        Ok(())
    }

    /// Checks that it does not overlap `other`.
    ///
    /// # Errors
    /// [`CommError::Overlap`].
    #[inline(always)]
    pub fn apart(self, other: Self) -> Result<()> {
        if self.overlaps(other) { Err(self.overlap(other)) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn overlap(self, other: Self) -> CommError {
        CommError::Overlap { first: self, second: other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_its_bytes_and_one_outside_memory_is_an_error_that_names_both() {
        let mut memory = [0, 1, 2, 3];
        assert_eq!(Part::new(1, 2).of(&memory).unwrap(), [1, 2]);
        assert_eq!(Part::new(4, 0).of(&memory).unwrap(), []);
        Part::new(0, 4).of_mut(&mut memory).unwrap()[3] = 9;
        assert_eq!(memory, [0, 1, 2, 9]);
        let outside = [(0, 5), (3, 2), (5, 0), (usize::MAX, 0), (1, usize::MAX)];
        for part in outside.map(|(at, len)| Part::new(at, len)) {
            for answer in [part.of(&memory).map(drop), part.of_mut(&mut memory.clone()).map(drop)] {
                let Err(CommError::NotInMemory { part: named, memory: 4 }) = answer else {
                    panic!("{part:?}: {answer:?}");
                };
                assert_eq!(named, part);
            }
        }
        let error = Part::new(3, 2).of(&memory).unwrap_err().to_string();
        assert!(error.contains("3..5") && error.contains("4 bytes"), "{error}");
    }

    #[test]
    fn parts_overlap_where_they_share_a_byte() {
        let overlap = |a: (usize, usize), b: (usize, usize)| {
            let (a, b) = (Part::new(a.0, a.1), Part::new(b.0, b.1));
            assert_eq!(a.overlaps(b), b.overlaps(a));
            assert_eq!(a.apart(b).is_err(), a.overlaps(b));
            a.overlaps(b)
        };
        assert!(overlap((0, 4), (3, 1)) && overlap((2, 2), (2, 2)) && overlap((0, 9), (4, 1)));
        // Side by side; and an empty one anywhere.
        assert!(!overlap((0, 4), (4, 4)) && !overlap((0, 9), (4, 0)) && !overlap((4, 0), (4, 0)));
    }

    #[test]
    fn a_copy_takes_overlapping_parts_and_refuses_those_that_do_not_fit() {
        let mut memory = [0, 1, 2, 3, 4];
        Part::new(0, 4).copy(&mut memory, Part::new(1, 4)).unwrap();
        assert_eq!(memory, [0, 0, 1, 2, 3]);
        let fails = |from, into| Part::copy(from, &mut memory.clone(), into).unwrap_err();
        let (short, long) = (Part::new(0, 2), Part::new(2, 3));
        assert!(matches!(fails(short, long), CommError::Lengths { .. }));
        let outside = Part::new(4, 2);
        assert!(
            matches!(fails(outside, short), CommError::NotInMemory { part, .. } if part == outside)
        );
        assert!(
            matches!(fails(short, outside), CommError::NotInMemory { part, .. } if part == outside)
        );
    }

    fn doubles(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    fn of_doubles(first: usize, values: usize) -> Part {
        Part::new(8 * first, 8 * values)
    }

    #[test]
    fn a_sum_takes_the_place_of_its_first_term() {
        let mut memory = doubles(&[0.5, 1.0, 2.0, 3.0, 9.0]);
        of_doubles(0, 2).add(&mut memory, of_doubles(2, 2)).unwrap();
        assert_eq!(memory, doubles(&[2.5, 4.0, 2.0, 3.0, 9.0]));
        let none = of_doubles(5, 0);
        none.add(&mut memory, none).unwrap();
        // At an offset that no double is aligned to.
        let mut odd = [&[7; 3][..], &doubles(&[1.0, 2.0])].concat();
        Part::new(3, 8).add(&mut odd, Part::new(11, 8)).unwrap();
        assert_eq!(odd, [&[7; 3][..], &doubles(&[3.0, 2.0])].concat());
    }

    #[test]
    fn parts_that_do_not_belong_together_are_not_added() {
        let before = doubles(&[1.0; 6]);
        let add = |into: Part, term| {
            let mut memory = before.clone();
            let error = into.add(&mut memory, term).unwrap_err();
            assert_eq!(memory, before);
            error
        };
        let (two, outside) = (of_doubles(0, 2), of_doubles(5, 2));
        for error in [add(outside, two), add(two, outside)] {
            assert!(matches!(error, CommError::NotInMemory { part, .. } if part == outside));
        }
        let [odd, odder] = [0, 16].map(|at| Part::new(at, 12));
        for error in [add(two, of_doubles(4, 1)), add(of_doubles(4, 1), two), add(odd, odder)] {
            assert!(matches!(error, CommError::Lengths { .. }), "{error}");
        }
        for error in [add(two, of_doubles(1, 2)), add(two, two)] {
            assert!(matches!(error, CommError::Overlap { .. }), "{error}");
        }
    }
}
