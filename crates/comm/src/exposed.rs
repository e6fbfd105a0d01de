//! Memory of this process that a [`crate::Link`] exposes.

use std::ops::{Deref, DerefMut};

/// Bytes in a page. Copies of whole cache lines and whole pages are the cheapest.
const ALIGNMENT: usize = 4096;

/// Bytes, 0 at first, that begin at a page as shared memory does.
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
}
