//! Structures of C that grow with the versions of a library.

use std::ffi::c_void;

/// A structure of up to `8 * WORDS` bytes, of which the fields in use are known by their offsets; all others are 0.
///
/// Later versions of a library add fields at the end, and use them only if a mask in the structure says so.
pub(crate) struct Structure<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Structure<WORDS> {
    /// The words with these values, by the offset of their first byte.
    pub(crate) fn of(fields: &[(usize, u64)]) -> Self {
        let mut words = [0; WORDS];
        for &(at, value) in fields {
            words[at / 8] = value;
        }
        Self(words)
    }

    #[inline(always)]
    pub(crate) fn at(&self) -> *const c_void {
        self.0.as_ptr().cast()
    }

    pub(crate) fn at_mut(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }

    /// The word whose first byte has this offset.
    pub(crate) fn word(&self, at: usize) -> u64 {
        self.0[at / 8]
    }
}
