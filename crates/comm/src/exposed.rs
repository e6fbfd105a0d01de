//! Memory of this process that a [`crate::Link`] exposes, or that messages come from and go to.

use std::ops::{Deref, DerefMut};

/// Bytes in a page. Copies of whole cache lines and whole pages are cheapest.
const ALIGNMENT: usize = 4096;

/// Bytes, initially 0, that begin at a page as shared memory does.
#[derive(Debug, Default)]
pub struct ExposedMemory {
    bytes: Box<[u8]>,
    begin: usize,
    len: usize,
}

impl ExposedMemory {
    /// Memory of `len` bytes. The system provides a page when it is first touched.
    pub fn new(len: usize) -> Self {
        let bytes = vec![0; len + ALIGNMENT].into_boxed_slice();
        let begin = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Self { bytes, begin, len }
    }

    /// Changes the length. Existing bytes keep their values, and new ones are 0. If the allocation
    /// is too short, it is replaced by a new one.
    pub fn resize(&mut self, len: usize) {
        if len > self.bytes.len() - self.begin {
            let mut longer = Self::new(len);
            longer[..self.len].copy_from_slice(self);
            *self = longer;
            return;
        }
        let before = std::mem::replace(&mut self.len, len);
        if before < len {
            self[before..].fill(0);
        }
    }
}

impl Deref for ExposedMemory {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[self.begin..self.begin + self.len]
    }
}

impl DerefMut for ExposedMemory {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.begin..self.begin + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_bytes_asked_for_from_a_page_on() {
        for len in [0, 1, 4095, 4096, 100_000] {
            let mut memory = ExposedMemory::new(len);
            assert!(memory.iter().all(|&byte| byte == 0) && memory.len() == len);
            assert!(len == 0 || memory.as_ptr().addr().is_multiple_of(4096));
            memory.fill(7);
            assert!(memory.iter().all(|&byte| byte == 7));
        }
    }

    #[test]
    fn bytes_keep_their_values_when_it_grows_and_those_that_come_are_0() {
        let mut memory = ExposedMemory::default();
        for (kept, len) in [(0, 3), (3, 9000), (9000, 5), (5, 8000), (8000, 0), (0, 20_000)] {
            memory.resize(len);
            let kept = kept.min(len);
            assert!(memory.len() == len && memory[..kept].iter().all(|&byte| byte == 7), "{len}");
            assert!(memory[kept..].iter().all(|&byte| byte == 0), "{len}");
            assert!(len == 0 || memory.as_ptr().addr().is_multiple_of(4096));
            memory.fill(7);
        }
    }
}
