//! Reduction of any number of ranks to a power of two.

use super::tags::SUM;
use crate::{Comm, Part, Rank, Result};

/// The largest power of two of ranks takes part, after the others have handed over their terms. Of
/// the first 2·`extra` ranks the even ones sit out: each sends its terms to the next rank, and gets
/// the sum from it.
///
/// *Source*: Thakur, Rabenseifner, Gropp 2005, on numbers of processes that are not a power of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    /// Number of ranks that sit out.
    extra: usize,
    /// Number of ranks that take part.
    pub(super) within: usize,
}

impl Fold {
    #[inline]
    pub(super) fn of(size: usize) -> Self {
        let within = 1 << size.ilog2();
        Self { extra: size - within, within }
    }

    /// The rank with this index among those that take part.
    #[inline]
    pub(super) fn rank(self, index: usize) -> Rank {
        if index < self.extra { 2 * index + 1 } else { index + self.extra }
    }

    /// The index of `rank` among those that take part; `None` if it sits out.
    #[inline]
    fn index(self, rank: Rank) -> Option<usize> {
        match rank {
            _ if rank >= 2 * self.extra => Some(rank - self.extra),
            _ if rank % 2 == 1 => Some(rank / 2),
            _ => None,
        }
    }

    /// Messages that `rank` receives: one if it sits out; `among` if it takes part, and one more if
    /// another rank handed its terms to it.
    pub(super) fn receives(self, rank: Rank, among: u64) -> u64 {
        match self.index(rank) {
            None => 1,
            Some(index) => among + u64::from(index < self.extra),
        }
    }
}

/// Sums `into` over all ranks; `among` does it for those that take part, given this rank's index.
#[inline]
pub(super) fn folded<C: Comm>(
    comm: &mut C,
    (into, scratch): (Part, Part),
    among: impl FnOnce(&mut C, Fold, usize) -> Result<()>,
) -> Result<()> {
    let rank = comm.rank();
    let fold = Fold::of(comm.size());
    let Some(index) = fold.index(rank) else {
        comm.send(rank + 1, SUM, into)?;
        return comm.recv(rank + 1, SUM, into);
    };
    if index >= fold.extra {
        return among(comm, fold, index);
    }
    comm.recv(rank - 1, SUM, scratch)?;
    comm.add(into, scratch)?;
    among(comm, fold, index)?;
    comm.send(rank - 1, SUM, into)
}
