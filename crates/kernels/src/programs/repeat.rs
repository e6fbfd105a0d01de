//! Samples of message passing.

use bandgap_comm::{Comm, CommError};

/// The samples of a rank that times: marks begin, end, end around each, in which `once` runs for
/// message 0 to `messages` − 1.
#[inline(always)]
pub(super) fn timed<C: Comm>(
    comm: &mut C,
    samples: u32,
    messages: u32,
    mut once: impl FnMut(&mut C, u64) -> Result<(), CommError>,
) -> Result<(), CommError> {
    for _ in 0..samples {
        comm.mark();
        for message in 0..u64::from(messages) {
            once(comm, message)?;
        }
        comm.mark();
        comm.mark();
    }
    Ok(())
}

/// The samples of a rank that does not time.
#[inline(always)]
pub(super) fn untimed<C: Comm>(
    comm: &mut C,
    samples: u32,
    messages: u32,
    mut once: impl FnMut(&mut C, u64) -> Result<(), CommError>,
) -> Result<(), CommError> {
    for _ in 0..samples {
        for message in 0..u64::from(messages) {
            once(comm, message)?;
        }
    }
    Ok(())
}

/// The samples of a rank among all, of which rank 0 times.
#[inline(always)]
pub(super) fn by_rank<C: Comm>(
    comm: &mut C,
    samples: u32,
    messages: u32,
    once: impl FnMut(&mut C, u64) -> Result<(), CommError>,
) -> Result<(), CommError> {
    match comm.rank() {
        0 => timed(comm, samples, messages, once),
        _ => untimed(comm, samples, messages, once),
    }
}
