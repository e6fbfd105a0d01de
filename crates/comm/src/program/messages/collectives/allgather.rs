//! Allgather: every rank gets the blocks of all ranks.

use super::around::{Around, pass};
use super::blocks::Blocks;
use super::tags::BLOCKS;
use crate::{Comm, DOUBLE, Part, Rank, Result};

/// Allgather by rings: in each of size − 1 steps a rank passes the block that it got last to the
/// next rank, beginning with its own.
///
/// *Source*: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
/// MPICH", IJHPCA 19(1), 2005, on allgather.
#[inline]
pub(super) fn ring<C: Comm, const N: usize>(
    comm: &mut C,
    tag: u32,
    rings: &[Around; N],
) -> Result<()> {
    pass(comm, tag, rings, None, 0)
}

/// Sends the doubles in `from` to every rank, by a ring: those of rank r become block r of `into`.
///
/// # Errors
/// As [`Comm::wait`]; or `from` and that block differ in length.
#[inline]
pub fn all_gather<C: Comm>(comm: &mut C, from: Part, into: Part) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let blocks = Blocks::of(into, DOUBLE, size);
    comm.copy(from, blocks.one(rank))?;
    ring(comm, BLOCKS, &[Around::up(rank, size, blocks)])
}

/// Allgather by recursive doubling among a power of two of ranks: in step k a rank exchanges the 2ᵏ
/// blocks that it has with the rank whose index differs in bit k. Rank `rank_of(index)` begins with
/// block `index`.
///
/// *Source*: as [`ring`].
#[inline]
pub(super) fn doubling<C: Comm>(
    comm: &mut C,
    tag: u32,
    blocks: Blocks,
    (index, count): (usize, usize),
    rank_of: impl Fn(usize) -> Rank,
) -> Result<()> {
    let mut held = 1;
    while held < count {
        let first = index & !(held - 1);
        let theirs = first ^ held;
        let (from, into) = (blocks.all(first..first + held), blocks.all(theirs..theirs + held));
        comm.exchange(rank_of(index ^ held), tag, from, into)?;
        held *= 2;
    }
    Ok(())
}
