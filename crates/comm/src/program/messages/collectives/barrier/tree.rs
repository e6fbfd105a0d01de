//! A barrier through rank 0.

use super::super::tags::TREE_BARRIER;
use crate::{Comm, CommError, Part};

/// A rank whose number has i zeros at its end waits for the ranks 1, 2, 4, …, 2ⁱ⁻¹ after it, tells
/// the rank 2ⁱ before it, waits for that one, and tells those after it. Rank 0 knows when all have
/// come. Up and down go opposite ways between two ranks, and so have one tag.
///
/// *Source*: Mellor-Crummey and Scott, "Algorithms for Scalable Synchronization on Shared-Memory
/// Multiprocessors", ACM TOCS 9(1), 1991, with a binomial tree.
#[inline]
pub(super) fn tree<C: Comm>(comm: &mut C) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let nothing = Part::default();
    let mut reach = 1;
    while reach < size && rank & reach == 0 {
        if rank + reach < size {
            comm.recv(rank + reach, TREE_BARRIER, nothing)?;
        }
        reach *= 2;
    }
    if rank != 0 {
        comm.send(rank - reach, TREE_BARRIER, nothing)?;
        comm.recv(rank - reach, TREE_BARRIER, nothing)?;
    }
    while reach > 1 {
        reach /= 2;
        if rank + reach < size {
            comm.send(rank + reach, TREE_BARRIER, nothing)?;
        }
    }
    Ok(())
}
