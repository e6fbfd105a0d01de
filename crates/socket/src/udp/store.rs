//! Room for datagrams, each in one piece, in the order in which they are made.

/// A ring of bytes: regions are taken at one end and returned at the other.
#[derive(Debug, Default)]
#[cfg_attr(test, derive(Clone, PartialEq))]
pub(super) struct Store {
    bytes: Box<[u8]>,
    /// Where the oldest region in use begins.
    first: usize,
    /// Where the next region may begin; equal to `first` only if no region is in use.
    next: usize,
}

impl Store {
    pub(super) fn new(bytes: usize) -> Self {
        Self { bytes: vec![0; bytes].into_boxed_slice(), first: 0, next: 0 }
    }

    /// Takes a region of `len` bytes (more than 0), and returns where it begins.
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

    /// Returns all regions before the one that begins at `oldest`, or all regions. In the second
    /// case the next region begins at the start again, where the bytes are in the cache.
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
        /// Regions never overlap, whatever is taken and returned, and a region is refused only if
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
                    // Less than 40 bytes are unused at the end, and one byte between the two ends.
                    None => {
                        let taken: usize = used.iter().map(|region| region.1).sum();
                        prop_assert!(taken + len + 40 > BYTES, "{len} {used:?}");
                    }
                }
            }
        }
    }
}
