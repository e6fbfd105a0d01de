//! Barriers: all ranks wait for all.

use super::algorithm::algorithms;
use super::around::shift;
use super::tags::{BARRIER, TREE_BARRIER};
use crate::ring::{after, before, rounds};
use crate::{Comm, Part, Result};

algorithms! {
    /// Algorithms for a barrier. No bytes are moved, and messages have tags from
    /// [`BARRIER`](crate::BARRIER) on.
    Barrier, "barrier",
    /// Each rank notifies the ranks 1, 2, 4, … after it. This is [`Comm::barrier`], which may use a
    /// transport's signals, unless a library has its own.
    #[default]
    Dissemination "dissemination"
    /// Up a binomial tree to rank 0, and down again.
    Tree "tree"
}

impl Barrier {
    /// Waits until every rank has called it.
    ///
    /// # Errors
    /// As [`Comm::wait`].
    #[inline]
    pub fn run<C: Comm>(self, comm: &mut C) -> Result<()> {
        match self {
            Self::Dissemination if C::LIBRARY => dissemination(comm),
            Self::Dissemination => comm.barrier(),
            Self::Tree => tree(comm),
        }
    }

    fn stands_against(self, _ranks: usize, _bytes: usize) -> Option<String> {
        None
    }
}

/// In round k of ⌈log₂ size⌉ a rank notifies the rank 2ᵏ after it and waits for the rank 2ᵏ before
/// it.
///
/// *Source*: Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988.
#[inline]
pub fn dissemination<C: Comm>(comm: &mut C) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let nothing = Part::default();
    for round in 0..rounds(size) {
        let (next, last) = (after(rank, 1 << round, size), before(rank, 1 << round, size));
        shift(comm, BARRIER + round, (next, nothing), (last, nothing))?;
    }
    Ok(())
}

/// A rank whose number ends with i zero bits waits for the ranks 1, 2, 4, …, 2ⁱ⁻¹ after it,
/// notifies the rank 2ⁱ before it, waits for that one, and notifies those after it. Rank 0 knows
/// when all have arrived. Messages up and down between two ranks have opposite directions, so they
/// can share a tag.
///
/// *Source*: Mellor-Crummey and Scott, "Algorithms for Scalable Synchronization on Shared-Memory
/// Multiprocessors", ACM TOCS 9(1), 1991, with a binomial tree.
#[inline]
fn tree<C: Comm>(comm: &mut C) -> Result<()> {
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
