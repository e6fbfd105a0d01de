//! The samples of a program.

use bandgap_comm::{CommError, Processor, Rank};

/// The samples of a rank, in each of which `once` runs for message 0 to `messages` − 1. A rank that
/// times marks begin, end, end around each.
#[inline(always)]
pub(super) fn repeat<const TIMES: bool, P: Processor>(
    rank: &mut P,
    samples: u32,
    messages: u32,
    mut once: impl FnMut(&mut P, u64) -> Result<(), CommError>,
) -> Result<(), CommError> {
    for _ in 0..samples {
        if TIMES {
            rank.mark();
        }
        for message in 0..u64::from(messages) {
            once(rank, message)?;
        }
        if TIMES {
            rank.mark();
            rank.mark();
        }
    }
    Ok(())
}

/// The same where all ranks do alike, of which the rank `timer` times.
#[inline(always)]
pub(super) fn by_rank<P: Processor>(
    rank: &mut P,
    timer: Rank,
    samples: u32,
    messages: u32,
    once: impl FnMut(&mut P, u64) -> Result<(), CommError>,
) -> Result<(), CommError> {
    match rank.rank() == timer {
        true => repeat::<true, _>(rank, samples, messages, once),
        false => repeat::<false, _>(rank, samples, messages, once),
    }
}
