//! A send and a receive at the same time, of two peers.

use crate::{Comm, CommError, Part, Rank};

/// Sends `from` to rank `to`, and receives a message of rank `source` into `into`. The parts are
/// apart from each other.
#[inline]
pub(super) fn shift<C: Comm>(
    comm: &mut C,
    tag: u32,
    (to, from): (Rank, Part),
    (source, into): (Rank, Part),
) -> Result<(), CommError> {
    let receive = comm.irecv(source, tag, into)?;
    comm.send(to, tag, from)?;
    comm.wait(receive)
}
