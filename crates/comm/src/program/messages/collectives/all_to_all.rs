//! All-to-all: each rank sends a block to every other.

use super::around::shift;
use super::blocks::Blocks;
use super::tags::BLOCKS;
use crate::ring::{after, before};
use crate::{Comm, DOUBLE, Part, Result};

/// Sends block d of the doubles in `from` to the rank d after this one, which receives it as block
/// d of `into`: in step d of P − 1 all ranks send to the rank d after them. The parts must have the
/// same length.
///
/// *Source*: Thakur, Rabenseifner, Gropp 2005, on alltoall, for long messages.
///
/// # Errors
/// As [`Comm::wait`] and [`Comm::copy`].
#[inline]
pub fn all_to_all<C: Comm>(comm: &mut C, from: Part, into: Part) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let [from, into] = [from, into].map(|part| Blocks::of(part, DOUBLE, size));
    comm.copy(from.one(0), into.one(0))?;
    (1..size).try_for_each(|d| {
        let (to, source) = (after(rank, d, size), before(rank, d, size));
        shift(comm, BLOCKS, (to, from.one(d)), (source, into.one(d)))
    })
}
