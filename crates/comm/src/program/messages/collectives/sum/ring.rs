//! Sum of long vectors by rings.

use super::super::allgather;
use super::super::around::Around;
use super::super::blocks::Blocks;
use super::super::reduce_scatter;
use super::super::tags::SUM;
use crate::{Comm, CommError, DOUBLE, Part};

/// On each of N rings a block for each rank goes around, and each rank adds its own terms to it; when
/// it has passed all, it goes around once more, to be kept. 2(P − 1) steps of n/(N·P) bytes on each: the
/// fewest bytes that a rank can send, for any number of ranks. Every other ring goes down.
///
/// *Source*: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
/// workstations", JPDC 69(2), 2009.
#[inline]
pub(super) fn rings<C: Comm, const N: usize>(
    comm: &mut C,
    from: Part,
    into: Part,
) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let ways = [Around::up, Around::down];
    let blocks = |part, way| Blocks::of(Blocks::of(part, DOUBLE, N).one(way), DOUBLE, size);
    let rings = std::array::from_fn(|way| ways[way % 2](rank, size, blocks(into, way)));
    let terms = std::array::from_fn(|way| blocks(from, way));
    reduce_scatter::ring::<C, N>(comm, &rings, terms)?;
    allgather::ring(comm, SUM, &rings)
}

/// One for each step of each of so many rings, on every rank.
pub(super) fn receives(rings: u64, size: usize) -> u64 {
    2 * rings * (size as u64 - 1)
}
