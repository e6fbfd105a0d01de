//! Sum of long vectors by a ring.

use super::super::allgather;
use super::super::blocks::Blocks;
use super::super::shift::shift;
use super::super::tags::SUM;
use super::DOUBLE;
use crate::ring::{after, before};
use crate::{Comm, CommError, Part};

/// A block for each rank goes around the ring, and each rank adds its own terms to it; when it has
/// passed all, it goes around once more, to be kept. 2(P − 1) steps of n/P bytes: the fewest bytes
/// that a rank can send, for any number of ranks.
///
/// *Source*: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
/// workstations", JPDC 69(2), 2009.
#[inline]
pub(super) fn ring<C: Comm>(comm: &mut C, into: Part, scratch: Part) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let (next, last) = (after(rank, 1, size), before(rank, 1, size));
    let sums = Blocks::of(into, DOUBLE, size);
    let terms = Blocks::of(scratch, DOUBLE, size);
    let mut held = rank;
    for _ in 1..size {
        let got = before(held, 1, size);
        shift(comm, SUM, (next, sums.one(held)), (last, terms.one(got)))?;
        comm.add(sums.one(got), terms.one(got))?;
        held = got;
    }
    allgather::ring(comm, SUM, sums, held, (next, last))
}

/// One for each step, on every rank.
pub(super) fn receives(size: usize) -> u64 {
    2 * (size as u64 - 1)
}
