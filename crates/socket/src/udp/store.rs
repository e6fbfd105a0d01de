//! Room for datagrams in the order of their making, each in one piece.

/// A ring of bytes: regions are taken at one end and given back at the other.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone, PartialEq))]
pub(super) struct Store {
    bytes: Box<[u8]>,
    /// Where the oldest region in use begins.
    first: usize,
    /// Where the next region may begin; equal to `first` only when none is in use.
    next: usize,
}

impl Store {
    pub(super) fn new(bytes: usize) -> Self {
        Self { bytes: vec![0; bytes].into_boxed_slice(), first: 0, next: 0 }
    }

    /// Takes a region of `len` bytes, more than 0, and returns where it begins.
    #[inline]
    pub(super) fn take(&mut self, len: usize) -> Option<usize> {
        let begin = if self.next < self.first {
            Some(self.next).filter(|at| at + len < self.first)?
        } else if self.next + len <= self.bytes.len() {
            self.next
        } else {
            Some(0).filter(|at| at + len < self.first)?
        };
        self.next = begin + len;
        Some(begin)
    }

    /// Gives back all regions before the one that begins at `oldest`; all, if there is none. The
    /// first is taken from the beginning then, where the bytes are in the cache.
    #[inline]
    pub(super) fn keep_from(&mut self, oldest: Option<usize>) {
        match oldest {
            Some(oldest) => self.first = oldest,
            None => (self.first, self.next) = (0, 0),
        }
    }

    #[inline]
    pub(super) fn region(&mut self, begin: usize, len: usize) -> &mut [u8] {
        &mut self.bytes[begin..begin + len]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Regions never overlap, whatever is taken and given back, and one is refused only when
        /// there may be no room for it.
        #[test]
        fn regions_in_use_are_apart(steps in prop::collection::vec(0..40_usize, 1..300)) {
            const BYTES: usize = 100;
            let mut store = Store::new(BYTES);
            let mut used: VecDeque<(usize, usize)> = VecDeque::new();
            for len in steps {
                if len == 0 {
                    used.pop_front();
                    store.keep_from(used.front().map(|region| region.0));
                    continue;
                }
                match store.take(len) {
                    Some(begin) => {
                        prop_assert!(begin + len <= BYTES);
                        let apart = |&(b, l): &(usize, usize)| begin + len <= b || b + l <= begin;
                        prop_assert!(used.iter().all(apart), "{begin} {len} {used:?}");
                        used.push_back((begin, len));
                    }
                    // Less than 40 bytes are left over at the end, and one between the ends.
                    None => {
                        let taken: usize = used.iter().map(|region| region.1).sum();
                        prop_assert!(taken + len + 40 > BYTES, "{len} {used:?}");
                    }
                }
            }
        }
    }
}
