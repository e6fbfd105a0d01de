//! Every rank has a block, and gets those of all others.

use super::blocks::Blocks;
use super::shift::shift;
use crate::ring::before;
use crate::{Comm, CommError, Rank};

/// By a ring: in each of size − 1 steps a rank passes to the next one the block that it got last,
/// beginning with `held`. `next` and `last` are the ranks after this one and before it; the one before
/// holds the block before.
///
/// *Source*: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
/// MPICH", IJHPCA 19(1), 2005, on allgather.
#[inline]
pub(super) fn ring<C: Comm>(
    comm: &mut C,
    tag: u32,
    blocks: Blocks,
    held: usize,
    (next, last): (Rank, Rank),
) -> Result<(), CommError> {
    let size = comm.size();
    let mut held = held;
    for _ in 1..size {
        let got = before(held, 1, size);
        shift(comm, tag, (next, blocks.one(held)), (last, blocks.one(got)))?;
        held = got;
    }
    Ok(())
}

/// By recursive doubling, among a power of two of ranks: in step k a rank exchanges the 2ᵏ blocks
/// that it has with the rank whose index differs in bit k. Rank `rank_of(index)` has block `index`.
///
/// *Source*: as [`ring`].
#[inline]
pub(super) fn doubling<C: Comm>(
    comm: &mut C,
    tag: u32,
    blocks: Blocks,
    (index, count): (usize, usize),
    rank_of: impl Fn(usize) -> Rank,
) -> Result<(), CommError> {
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
