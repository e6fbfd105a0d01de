//! Ranks numbered from a root.

use crate::Rank;
use crate::ring::{after, before};

/// Which way ranks are numbered from a root, which is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// The ranks after it are 1, 2, …
    #[default]
    Up,
    /// The ranks before it are.
    Down,
}

/// The numbers of ranks. What an algorithm does depends on these only, so that counted down it is
/// its mirror image.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct FromRoot {
    pub(super) root: Rank,
    pub(super) size: usize,
    pub(super) count: Count,
}

impl FromRoot {
    /// Counted up.
    #[inline(always)]
    pub(in super::super) fn up(root: Rank, size: usize) -> Self {
        Self { root, size, count: Count::Up }
    }

    /// The number of a rank.
    #[inline(always)]
    pub(super) fn number(self, rank: Rank) -> usize {
        match self.count {
            Count::Up => before(rank, self.root, self.size),
            Count::Down => before(self.root, rank, self.size),
        }
    }

    /// The rank of a number, which is less than twice the size.
    #[inline(always)]
    pub(super) fn rank(self, number: usize) -> Rank {
        let number = number.checked_sub(self.size).unwrap_or(number);
        match self.count {
            Count::Up => after(self.root, number, self.size),
            Count::Down => before(self.root, number, self.size),
        }
    }
}
