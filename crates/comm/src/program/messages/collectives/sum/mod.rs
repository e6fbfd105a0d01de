//! The sum of the doubles of all ranks, for all.

mod double_tree;
mod rabenseifner;
mod recursive_doubling;
mod ring;
mod tree;

pub use double_tree::chunks;

use super::algorithm::algorithms;
use super::blocks::too_few;
use super::fold::Fold;
use crate::{Comm, CommError, DOUBLE, Part, Rank};

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
    /// The same of each half of the vector, by two rings the one of which goes the other way.
    TwoRings "two_rings"
    /// Each half goes up and down a binary tree in chunks; leaves of one tree are inside the other.
    DoubleTree "double_tree"
}

impl Sum {
    /// Adds up the doubles in `from` of all ranks, and gives every rank the sum in `into`. The same
    /// bits on all ranks: each element is added up in one order. `from` stays as it is, and
    /// `scratch` is overwritten. The three have the same length, and must not overlap.
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
        from.apart(into)?;
        if self.begins_with_terms() {
            comm.copy(from, into)?;
        }
        match self {
            Self::Tree => tree::tree(comm, into, scratch),
            Self::RecursiveDoubling => recursive_doubling::recursive_doubling(comm, into, scratch),
            Self::Rabenseifner => rabenseifner::rabenseifner(comm, into, scratch),
            Self::Ring => ring::rings::<C, 1>(comm, from, into),
            Self::TwoRings => ring::rings::<C, 2>(comm, from, into),
            Self::DoubleTree => double_tree::double_tree(comm, from, into, scratch),
        }
    }

    /// Whether its ranks begin with their terms where the sum will be.
    #[inline(always)]
    fn begins_with_terms(self) -> bool {
        matches!(self, Self::Tree | Self::RecursiveDoubling | Self::Rabenseifner)
    }

    /// Messages that `rank` of `size` receives when vectors of so many bytes are added up.
    pub fn receives(self, rank: Rank, size: usize, bytes: usize) -> u64 {
        match self {
            Self::Tree => tree::receives(rank, size),
            Self::RecursiveDoubling => recursive_doubling::receives(rank, size),
            Self::Rabenseifner => rabenseifner::receives(rank, size),
            Self::Ring => ring::receives(1, size),
            Self::TwoRings => ring::receives(2, size),
            Self::DoubleTree => double_tree::receives(rank, size, bytes),
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
            Self::TwoRings => too_few(2 * ranks, doubles, "doubles"),
            Self::DoubleTree => too_few(2, doubles, "doubles"),
        }
    }
}
