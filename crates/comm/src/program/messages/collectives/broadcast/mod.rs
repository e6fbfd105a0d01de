//! The bytes of one rank for all.

mod binomial;
mod chain;
mod linear;
mod scatter_allgather;

pub use chain::segments;

pub(super) use binomial::binomial;

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
        let size = comm.size();
        if root >= size {
            return Err(CommError::NoSuchPeer { peer: root, size });
        }
        match self {
            Self::Linear => linear::linear(comm, root, part),
            Self::Binomial => binomial(comm, root, part),
            Self::ScatterAllgather => scatter_allgather::scatter_allgather(comm, root, part),
            Self::Chain => chain::chain(comm, root, part),
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
