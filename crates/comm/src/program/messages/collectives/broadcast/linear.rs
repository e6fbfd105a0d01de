//! Broadcast from the root to each rank.

use super::super::tags::BROADCAST;
use super::from_root::FromRoot;
use crate::{Comm, CommError, Part};

/// The root sends to the other ranks by their numbers.
#[inline]
pub(super) fn linear<C: Comm>(comm: &mut C, from: FromRoot, part: Part) -> Result<(), CommError> {
    if comm.rank() != from.root {
        return comm.recv(from.root, BROADCAST, part);
    }
    (1..from.size).try_for_each(|number| comm.send(from.rank(number), BROADCAST, part))
}
