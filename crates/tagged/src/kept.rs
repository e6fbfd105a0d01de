//! Bytes that stay while a library uses them.

/// Bytes of a [`Memory`](crate::Memory) for a message.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    at: *mut u8,
    len: usize,
}

impl Kept {
    #[inline(always)]
    pub(crate) fn of(bytes: &mut [u8]) -> Self {
        Self { at: bytes.as_mut_ptr(), len: bytes.len() }
    }

    /// The first byte.
    #[inline(always)]
    pub fn at(self) -> *mut u8 {
        self.at
    }

    /// Number of bytes.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether doubles may begin there.
    #[inline(always)]
    pub(crate) fn is_aligned(self) -> bool {
        self.at.cast::<f64>().is_aligned()
    }
}
