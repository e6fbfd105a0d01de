//! Reduce-scatter: each rank gets a block of the sum of all vectors.

use super::around::{Around, pass};
use super::blocks::Blocks;
use super::tags::SUM;
use crate::{Comm, DOUBLE, Part, Result};

/// Reduce-scatter by rings: each block goes once around its ring to the rank that owns it, and
/// every rank adds its own terms. `terms` must not overlap the blocks of the sums.
///
/// *Source*: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
/// JPDC 69(2), 2009.
#[inline]
pub(super) fn ring<C: Comm, const N: usize>(
    comm: &mut C,
    rings: &[Around; N],
    terms: [Blocks; N],
) -> Result<()> {
    match comm.size() {
        1 => rings
            .iter()
            .zip(terms)
            .try_for_each(|(ring, terms)| comm.copy(terms.one(0), ring.blocks.one(0))),
        _ => pass(comm, SUM, rings, Some(terms), 1),
    }
}

/// Sums the doubles in `from` over all ranks, and gives rank r block r of the sum, at its place in
/// `into`: a ring of P − 1 steps. The other blocks of `into` are overwritten. The parts must have
/// the same length.
///
/// # Errors
/// As [`Comm::wait`] and [`Comm::add`].
#[inline]
pub fn reduce_scatter<C: Comm>(comm: &mut C, from: Part, into: Part) -> Result<()> {
    from.apart(into)?;
    let size = comm.size();
    let blocks = |part| Blocks::of(part, DOUBLE, size);
    ring(comm, &[Around::up(comm.rank(), size, blocks(into))], [blocks(from)])
}
