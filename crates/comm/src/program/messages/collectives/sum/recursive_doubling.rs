//! Sum by exchanges at doubled distances.

use super::super::fold::{Fold, folded};
use super::super::tags::SUM;
use crate::{Comm, CommError, Part, Rank};

/// In step k a rank exchanges all that it has added up with the rank whose index differs in bit k.
/// Two ranks: one exchange and one addition. a + b = b + a to the last bit, so that all ranks have
/// the same sum.
///
/// *Source*: Thakur, Rabenseifner, Gropp 2005, on allreduce.
#[inline]
pub(super) fn recursive_doubling<C: Comm>(
    comm: &mut C,
    into: Part,
    scratch: Part,
) -> Result<(), CommError> {
    folded(comm, (into, scratch), |comm, fold, index| {
        let mut distance = 1;
        while distance < fold.within {
            comm.exchange(fold.rank(index ^ distance), SUM, into, scratch)?;
            comm.add(into, scratch)?;
            distance *= 2;
        }
        Ok(())
    })
}

/// One for each step, beside what the fold brings.
pub(super) fn receives(rank: Rank, size: usize) -> u64 {
    let fold = Fold::of(size);
    fold.receives(rank, fold.within.ilog2().into())
}
