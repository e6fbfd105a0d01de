//! A barrier in which every rank does the same.

use super::super::shift::shift;
use super::super::tags::BARRIER;
use crate::ring::{after, before, rounds};
use crate::{Comm, CommError, Part};

/// In round k of ⌈log₂ size⌉ a rank tells the one 2ᵏ after it, and waits for the one 2ᵏ before it.
///
/// *Source*: Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988.
#[inline]
pub(in super::super::super) fn dissemination<C: Comm>(comm: &mut C) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let nothing = Part::default();
    for round in 0..rounds(size) {
        let (next, last) = (after(rank, 1 << round, size), before(rank, 1 << round, size));
        shift(comm, BARRIER + round, (next, nothing), (last, nothing))?;
    }
    Ok(())
}
