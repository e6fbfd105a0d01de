//! Memory of this process that a [`crate::Link`] exposes, and that messages come from and go to.

use std::ops::{Deref, DerefMut};

/// Bytes in a page. Copies of whole cache lines and whole pages are the cheapest.
const ALIGNMENT: usize = 4096;

/// Bytes, 0 at first, that begin at a page as shared memory does.
#[derive(Debug, Default)]
pub struct ExposedMemory {
    bytes: Bytes,
    begin: usize,
    len: usize,
}

/// Whose bytes they are. Both are a pointer and a length, so that access need not tell them apart.
#[derive(Debug)]
enum Bytes {
    Own(Box<[u8]>),
    Lent(&'static mut [u8]),
}

impl Default for Bytes {
    fn default() -> Self {
        Self::Own(Box::default())
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Lent(bytes) => bytes,
        }
    }
}

impl DerefMut for Bytes {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Lent(bytes) => bytes,
        }
    }
}

impl ExposedMemory {
    /// Memory of `len` bytes. The system provides a page when it is first touched.
    pub fn new(len: usize) -> Self {
        let bytes = Bytes::Own(vec![0; len + ALIGNMENT].into_boxed_slice());
        let begin = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Self { bytes, begin, len }
    }

    /// Memory that is a part of `bytes`, empty at first.
    pub fn lent(bytes: &'static mut [u8]) -> Self {
        let begin = bytes.as_ptr().align_offset(ALIGNMENT).min(bytes.len());
        Self { bytes: Bytes::Lent(bytes), begin, len: 0 }
    }

    /// The greatest length that it takes without becoming other memory.
    pub fn room(&self) -> usize {
        self.bytes.len() - self.begin
    }

    /// Changes the length. Bytes that were there keep their values, new ones are 0. Where there is
    /// no room it becomes other memory, of its own.
    pub fn resize(&mut self, len: usize) {
        if len > self.room() {
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
    fn what_is_lent_is_used_as_far_as_it_goes() {
        let whole: &'static mut [u8] = vec![9; 3 * 4096].leak();
        let first = whole.as_ptr().addr();
        let mut memory = ExposedMemory::lent(whole);
        assert!(memory.is_empty() && memory.room() >= 2 * 4096);
        let room = memory.room();
        for len in [room, 5, room] {
            memory.resize(len);
            assert!(memory.iter().all(|byte| *byte == 0) && memory.len() == len);
            assert_eq!(memory.as_ptr().addr(), first.next_multiple_of(4096));
        }
        memory.fill(7);
        memory.resize(room + 1);
        assert_ne!(memory.as_ptr().addr(), first.next_multiple_of(4096));
        assert!(memory[..room].iter().all(|byte| *byte == 7) && memory[room] == 0);
        assert_eq!(ExposedMemory::lent(&mut []).room(), 0);
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
