//! Broadcast from the root to each rank.

use super::super::tags::BROADCAST;
use crate::ring::after;
use crate::{Comm, CommError, Part, Rank};

/// The root sends to the ranks after it, one after the other.
#[inline]
pub(super) fn linear<C: Comm>(comm: &mut C, root: Rank, part: Part) -> Result<(), CommError> {
    let size = comm.size();
    if comm.rank() != root {
        return comm.recv(root, BROADCAST, part);
    }
    (1..size).try_for_each(|distance| comm.send(after(root, distance, size), BROADCAST, part))
}
