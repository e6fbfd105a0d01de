//! Blocks that go around a ring of all ranks, and one step of it.

use super::blocks::Blocks;
use crate::ring::{after, before};
use crate::{Comm, Part, Rank, Result};

/// One direction around all ranks, and the blocks that go there: one for each rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    /// The rank after this one.
    pub(super) next: Rank,
    /// The rank before this one; it owns the block before.
    pub(super) last: Rank,
    /// The block that this rank owns.
    pub(super) own: usize,
    /// Where this rank has the blocks.
    pub(super) blocks: Blocks,
}

impl Around {
    /// In ascending order: rank r owns block r.
    #[inline(always)]
    pub(super) fn up(rank: Rank, size: usize, blocks: Blocks) -> Self {
        Self { next: after(rank, 1, size), last: before(rank, 1, size), own: rank, blocks }
    }

    /// In descending order.
    #[inline(always)]
    pub(super) fn down(rank: Rank, size: usize, blocks: Blocks) -> Self {
        let Self { next, last, .. } = Self::up(rank, size, blocks);
        Self { next: last, last: next, own: before(0, rank, size), blocks }
    }
}

/// Passes blocks around every ring at the same time: in each of size − 1 steps a rank passes on the
/// block that it got last, beginning with the block `back` before its own. With `terms`, it begins
/// with its own terms, and adds its own terms to each block that it gets.
#[inline(always)]
pub(super) fn pass<C: Comm, const N: usize>(
    comm: &mut C,
    tag: u32,
    rings: &[Around; N],
    terms: Option<[Blocks; N]>,
    back: usize,
) -> Result<()> {
    let size = comm.size();
    let mut held = rings.map(|ring| before(ring.own, back, size));
    for step in 1..size {
        let mut receives = [const { None }; N];
        for (way, ring) in rings.iter().enumerate() {
            let got = ring.blocks.one(before(held[way], 1, size));
            receives[way] = Some(comm.irecv(ring.last, tag, got)?);
        }
        for (way, ring) in rings.iter().enumerate() {
            let from = terms.filter(|_| step == 1).map_or(ring.blocks, |terms| terms[way]);
            comm.send(ring.next, tag, from.one(held[way]))?;
        }
        for (way, (ring, receive)) in rings.iter().zip(receives).enumerate() {
            receive.map_or(Ok(()), |receive| comm.wait(receive))?;
            held[way] = before(held[way], 1, size);
            if let Some(terms) = terms {
                comm.add(ring.blocks.one(held[way]), terms[way].one(held[way]))?;
            }
        }
    }
    Ok(())
}

/// Sends `from` to rank `to`, and receives a message from rank `source` into `into`. The parts must
/// not overlap.
#[inline]
pub(super) fn shift<C: Comm>(
    comm: &mut C,
    tag: u32,
    (to, from): (Rank, Part),
    (source, into): (Rank, Part),
) -> Result<()> {
    let receive = comm.irecv(source, tag, into)?;
    comm.send(to, tag, from)?;
    comm.wait(receive)
}
