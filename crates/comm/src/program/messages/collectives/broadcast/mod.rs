//! The bytes of one rank for all.

mod binomial;
mod chain;
mod from_root;
mod linear;
mod scatter_allgather;

pub use chain::segments;
pub use from_root::Count;

pub(super) use binomial::binomial;
pub(super) use from_root::FromRoot;

use super::algorithm::algorithms;
use super::blocks::too_few;
use crate::{Comm, CommError, Part, Rank};

algorithms! {
    /// How the bytes of one rank get to all.
    Broadcast, "broadcast",
    /// The root sends to each rank in turn.
    Linear "linear"
    /// Down a binomial tree.
    #[default]
    Binomial "binomial"
    /// Blocks dealt out down a binomial tree, then gathered by all (van de Geijn).
    ScatterAllgather "scatter_allgather"
    /// From rank to rank, in segments.
    Chain "chain"
}

impl Broadcast {
    /// Gives every rank the bytes that `root` has in `part`.
    ///
    /// # Errors
    /// As [`Comm::wait`]; or there is no rank `root`.
    #[inline]
    pub fn run<C: Comm>(self, comm: &mut C, root: Rank, part: Part) -> Result<(), CommError> {
        self.counted(comm, root, Count::Up, part)
    }

    /// As [`Broadcast::run`], with the other ranks numbered from the root this way. All ranks give
    /// the same one.
    ///
    /// # Errors
    /// As [`Broadcast::run`].
    #[inline]
    pub fn counted<C: Comm>(
        self,
        comm: &mut C,
        root: Rank,
        count: Count,
        part: Part,
    ) -> Result<(), CommError> {
        let size = comm.size();
        if root >= size {
            return Err(CommError::NoSuchPeer { peer: root, size });
        }
        let from = FromRoot { root, size, count };
        match self {
            Self::Linear => linear::linear(comm, from, part),
            Self::Binomial => binomial(comm, from, part),
            Self::ScatterAllgather => scatter_allgather::scatter_allgather(comm, from, part),
            Self::Chain => chain::chain(comm, from, part),
        }
    }

    /// The number, from the root on, of a rank that ends last.
    ///
    /// *Formula*, with Q the largest power of two within P:
    /// - linear and chain: P − 1.
    /// - binomial: Q − 1. All bits of it are set: of P = Q ranks it is the one of the most hops,
    ///   else the one of as many as any other and the latest begin.
    /// - scatter_allgather: 0 where P = Q, since the root waits for the block that has the longest way
    ///   to it; else Q − 2, which gets by the ring what rank Q − 1 got last.
    ///
    /// *Assumes* that a message takes no less time than the sender's interval, and that all messages
    /// of a length take the same. With scatter_allgather and P ≠ Q also that bytes, not gaps, hold up a
    /// sender; else another rank may end later.
    pub fn last(self, ranks: usize) -> usize {
        let Some(within) = ranks.checked_ilog2().map(|log| 1_usize << log) else { return 0 };
        match self {
            Self::Linear | Self::Chain => ranks - 1,
            Self::Binomial => within - 1,
            Self::ScatterAllgather if within == ranks => 0,
            Self::ScatterAllgather => within - 2,
        }
    }

    /// Messages that `rank` of `size` receives when `root` broadcasts so many bytes.
    pub fn receives(self, rank: Rank, size: usize, root: Rank, bytes: usize) -> u64 {
        match self {
            Self::Linear | Self::Binomial => u64::from(rank != root),
            Self::ScatterAllgather => scatter_allgather::receives(rank, size, root),
            Self::Chain => chain::receives(rank, size, root, bytes),
        }
    }

    fn stands_against(self, ranks: usize, bytes: usize) -> Option<String> {
        match self {
            Self::ScatterAllgather => too_few(ranks, bytes, "bytes"),
            Self::Linear | Self::Binomial | Self::Chain => None,
        }
    }
}
