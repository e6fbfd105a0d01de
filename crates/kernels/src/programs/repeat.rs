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
    samples_of::<TIMES, _>(rank, samples, |rank, _| {
        (0..u64::from(messages)).try_for_each(|message| once(rank, message))
    })
}

/// The same, for message 0 to `samples` · `messages` − 1: the numbers go on from sample to sample.
#[inline(always)]
pub(super) fn repeat_on<const TIMES: bool, P: Processor>(
    rank: &mut P,
    samples: u32,
    messages: u32,
    mut once: impl FnMut(&mut P, u64) -> Result<(), CommError>,
) -> Result<(), CommError> {
    samples_of::<TIMES, _>(rank, samples, |rank, sample| {
        let first = u64::from(sample) * u64::from(messages);
        (first..first + u64::from(messages)).try_for_each(|message| once(rank, message))
    })
}

#[inline(always)]
fn samples_of<const TIMES: bool, P: Processor>(
    rank: &mut P,
    samples: u32,
    mut one: impl FnMut(&mut P, u32) -> Result<(), CommError>,
) -> Result<(), CommError> {
    for sample in 0..samples {
        if TIMES {
            rank.mark();
        }
        one(rank, sample)?;
        if TIMES {
            rank.mark();
            rank.mark();
        }
    }
    Ok(())
}

/// The samples of a program in which all ranks do alike: in each, `once` runs for message 0 to
/// `messages` − 1. The rank `timer` marks begin, end, end around each.
///
/// # Errors
/// That of `once`.
#[inline(always)]
pub fn by_rank<P: Processor>(
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

/// As [`repeat_on`], where all ranks do alike, of which the rank `timer` times.
#[inline(always)]
pub(super) fn by_rank_on<P: Processor>(
    rank: &mut P,
    timer: Rank,
    samples: u32,
    messages: u32,
    once: impl FnMut(&mut P, u64) -> Result<(), CommError>,
) -> Result<(), CommError> {
    match rank.rank() == timer {
        true => repeat_on::<true, _>(rank, samples, messages, once),
        false => repeat_on::<false, _>(rank, samples, messages, once),
    }
}
