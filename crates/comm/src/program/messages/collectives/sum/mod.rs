//! The sum of the doubles of all ranks, for all.

mod rabenseifner;
mod recursive_doubling;
mod ring;
mod tree;

use super::algorithm::algorithms;
use super::blocks::too_few;
use super::fold::Fold;
use crate::{Comm, CommError, Part, Rank};

algorithms! {
    /// How all ranks get the sum of the doubles of each.
    Sum, "sum",
    /// Up a binomial tree to rank 0, and a binomial broadcast.
    Tree "tree"
    /// Ranks exchange what they have added up, at twice the distance each time.
    #[default]
    RecursiveDoubling "recursive_doubling"
    /// Each rank adds up a block, by recursive halving; then all gather the blocks.
    Rabenseifner "rabenseifner"
    /// Each rank adds up a block, by a ring; then all gather the blocks.
    Ring "ring"
}

/// Bytes of an element.
const DOUBLE: usize = size_of::<f64>();

impl Sum {
    /// Adds up the doubles in `from` of all ranks, and gives every rank the sum in `into`. The same
    /// bits on all ranks: each element is added up in one order. `from` stays as it is, and
    /// `scratch` is overwritten. The three have the same length; `scratch` must not overlap `into`.
    ///
    /// # Errors
    /// As [`Comm::wait`] and [`Comm::add`].
    #[inline]
    pub fn run<C: Comm>(
        self,
        comm: &mut C,
        from: Part,
        into: Part,
        scratch: Part,
    ) -> Result<(), CommError> {
        // Not every rank adds; all refuse the same parts.
        scratch.apart(into)?;
        if scratch.len != into.len || !into.len.is_multiple_of(DOUBLE) {
            return Err(CommError::Lengths { parts: [from, into, scratch].into() });
        }
        comm.copy(from, into)?;
        match self {
            Self::Tree => tree::tree(comm, into, scratch),
            Self::RecursiveDoubling => recursive_doubling::recursive_doubling(comm, into, scratch),
            Self::Rabenseifner => rabenseifner::rabenseifner(comm, into, scratch),
            Self::Ring => ring::ring(comm, into, scratch),
        }
    }

    /// Messages that `rank` of `size` receives, whatever their lengths.
    pub fn receives(self, rank: Rank, size: usize) -> u64 {
        match self {
            Self::Tree => tree::receives(rank, size),
            Self::RecursiveDoubling => recursive_doubling::receives(rank, size),
            Self::Rabenseifner => rabenseifner::receives(rank, size),
            Self::Ring => ring::receives(size),
        }
    }

    fn stands_against(self, ranks: usize, bytes: usize) -> Option<String> {
        let doubles = bytes / DOUBLE;
        if !bytes.is_multiple_of(DOUBLE) {
            return Some(format!("a sum adds doubles, of {DOUBLE} bytes each"));
        }
        match self {
            Self::Tree | Self::RecursiveDoubling => None,
            Self::Rabenseifner => too_few(Fold::of(ranks.max(1)).within, doubles, "doubles"),
            Self::Ring => too_few(ranks, doubles, "doubles"),
        }
    }
}
