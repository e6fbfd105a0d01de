//! Sum of long vectors: each rank adds up a block.

use super::super::allgather::doubling;
use super::super::blocks::Blocks;
use super::super::fold::{Fold, folded};
use super::super::tags::SUM;
use crate::{Comm, CommError, DOUBLE, Part, Rank};

/// A reduce-scatter by recursive halving: in each step a rank sends half of the blocks that it still
/// adds up to the rank whose index differs in one bit, the highest first, and adds the other half of
/// that rank to its own. Then an allgather by recursive doubling.
///
/// *Source*: Rabenseifner, "Optimization of Collective Reduction Operations", ICCS 2004; Thakur,
/// Rabenseifner, Gropp 2005, on allreduce.
#[inline]
pub(super) fn rabenseifner<C: Comm>(
    comm: &mut C,
    into: Part,
    scratch: Part,
) -> Result<(), CommError> {
    folded(comm, (into, scratch), |comm, fold, index| {
        let count = fold.within;
        let sums = Blocks::of(into, DOUBLE, count);
        let terms = Blocks::of(scratch, DOUBLE, count);
        let mut half = count / 2;
        while half > 0 {
            // The first of the blocks that stay with this rank, and of those that go.
            let mine = index & !(half - 1);
            let theirs = mine ^ half;
            let keep = mine..mine + half;
            let give = sums.all(theirs..theirs + half);
            comm.exchange(fold.rank(index ^ half), SUM, give, terms.all(keep.clone()))?;
            comm.add(sums.all(keep.clone()), terms.all(keep))?;
            half /= 2;
        }
        doubling(comm, SUM, sums, (index, count), |index| fold.rank(index))
    })
}

/// Two for each step of halving, beside what the fold brings.
pub(super) fn receives(rank: Rank, size: usize) -> u64 {
    let fold = Fold::of(size);
    fold.receives(rank, 2 * u64::from(fold.within.ilog2()))
}
