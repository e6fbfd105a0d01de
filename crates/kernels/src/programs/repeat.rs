//! Loops over the samples of a program.

use bandgap_comm::{Comm, Processor, Rank, Result};

use crate::{Round, Shape};

/// A rank's samples, in each of which `once` runs for `messages` messages. Message numbers continue
/// from sample to sample. If `TIMES`, the rank marks begin, end, end around each sample.
#[inline(always)]
pub(super) fn repeat_on<const TIMES: bool, P: Processor>(
    rank: &mut P,
    samples: u32,
    messages: u32,
    mut once: impl FnMut(&mut P, u64) -> Result<()>,
) -> Result<()> {
    samples_of::<TIMES, _>(rank, samples, |rank, sample| {
        each(rank, first(sample, messages), messages, &mut once)
    })
}

/// A program's samples, if all ranks do the same: in each, `once` runs for messages 0 to `messages`
/// − 1. The rank `timer` marks begin, end, end around each sample.
///
/// # Errors
/// Errors of `once`.
#[inline(always)]
pub fn by_rank<P: Processor>(
    rank: &mut P,
    timer: Rank,
    samples: u32,
    messages: u32,
    mut once: impl FnMut(&mut P, u64) -> Result<()>,
) -> Result<()> {
    timed_by(rank, timer, samples, |rank, _| each(rank, 0, messages, &mut once))
}

/// As [`by_rank`] with rank 0 as timer, or in OSU's shape: all ranks mark begin and end of each
/// message, and meet in a barrier before the next one if `meet`. In that shape message numbers
/// continue from sample to sample.
#[inline(always)]
pub(crate) fn by_shape<C: Comm>(
    comm: &mut C,
    round: Round,
    messages: u32,
    meet: bool,
    mut once: impl FnMut(&mut C, u64) -> Result<()>,
) -> Result<()> {
    if round.shape == Shape::Batch {
        return by_rank(comm, 0, round.samples, messages, once);
    }
    (0..first(round.samples, messages)).try_for_each(|message| {
        comm.mark();
        once(comm, message)?;
        comm.mark();
        if meet { comm.barrier() } else { Ok(()) }
    })
}

/// As [`repeat_on`], if all ranks do the same and the rank `timer` times.
#[inline(always)]
pub(super) fn by_rank_on<P: Processor>(
    rank: &mut P,
    timer: Rank,
    samples: u32,
    messages: u32,
    mut once: impl FnMut(&mut P, u64) -> Result<()>,
) -> Result<()> {
    timed_by(rank, timer, samples, |rank, sample| {
        each(rank, first(sample, messages), messages, &mut once)
    })
}

/// Number of a sample's first message if numbers continue from sample to sample.
#[inline(always)]
fn first(sample: u32, messages: u32) -> u64 {
    u64::from(sample) * u64::from(messages)
}

/// Runs `once` for `messages` messages, beginning with `first`.
#[inline(always)]
fn each<P>(
    rank: &mut P,
    first: u64,
    messages: u32,
    mut once: impl FnMut(&mut P, u64) -> Result<()>,
) -> Result<()> {
    (first..first + u64::from(messages)).try_for_each(|message| once(rank, message))
}

#[inline(always)]
fn timed_by<P: Processor>(
    rank: &mut P,
    timer: Rank,
    samples: u32,
    one: impl FnMut(&mut P, u32) -> Result<()>,
) -> Result<()> {
    match rank.rank() == timer {
        true => samples_of::<true, _>(rank, samples, one),
        false => samples_of::<false, _>(rank, samples, one),
    }
}

#[inline(always)]
fn samples_of<const TIMES: bool, P: Processor>(
    rank: &mut P,
    samples: u32,
    mut one: impl FnMut(&mut P, u32) -> Result<()>,
) -> Result<()> {
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
