//! Parts of a rank's memory.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Bytes of an element of a vector or a matrix.
pub const DOUBLE: usize = size_of::<f64>();

/// A part of a rank's memory, in bytes.
///
/// It borrows nothing. So a program can keep it while messages are on their way, and a recorder,
/// which has no memory, can take it too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Offset of the first byte.
    pub at: usize,
    /// Number of bytes.
    pub len: usize,
}

impl Part {
    /// `len` bytes from offset `at` on.
    pub const fn new(at: usize, len: usize) -> Self {
        Self { at, len }
    }

    /// Offsets of its bytes. The end saturates, so that a part too large for any memory remains too
    /// large.
    #[inline(always)]
    pub fn range(self) -> Range<usize> {
        self.at..self.end()
    }

    /// Offset behind the last byte; saturates.
    #[inline(always)]
    pub fn end(self) -> usize {
        self.at.saturating_add(self.len)
    }

    /// Whether two parts share a byte.
    #[inline(always)]
    pub fn overlaps(self, other: Self) -> bool {
        let begins_in = |a: Self, b: Self| a.at.wrapping_sub(b.at) < b.len && a.len > 0;
        begins_in(self, other) || begins_in(other, self)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.at, self.end())
    }
}
