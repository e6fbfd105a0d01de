//! The programs of bulk transfers ("Assessing Fast Network Interfaces", section Bulk transfers).
//!
//! Between two samples the bytes change hands: what is stored was written by the requester's core
//! just before, into memory that the replier's core read last, and what is got was just written by
//! the replier's. Without that, a second copy of the same bytes would find them in its own cache.

use bandgap_comm::{CommError, Rank, Transfer};

use crate::handlers::{ECHO, SINK, pattern};
use crate::{Job, Kernel, Pattern};

/// The word of the requests that tell the peer to go on.
const TURN: u64 = 0;

/// What a rank does in a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Requester { peer: Rank },
    Replier { peer: Rank },
    Idle,
}

pub(crate) fn side(job: &Job, rank: Rank) -> Side {
    match job.pattern {
        Pattern::OneToOne { requester, replier } if rank == requester => {
            Side::Requester { peer: replier }
        }
        Pattern::OneToOne { requester, replier } if rank == replier => {
            Side::Replier { peer: requester }
        }
        _ => Side::Idle,
    }
}

/// Runs this rank's part of a transfer. The requester's marks are, for each sample, begin, end of
/// the issue phase, end of the transfers.
///
/// # Errors
/// A peer is gone, a deadline passed, or bytes arrived that are not those sent.
#[inline(never)]
pub fn transfer<A: Transfer>(am: &mut A, job: &Job) -> Result<(), CommError> {
    match (side(job, am.rank()), job.kernel) {
        (Side::Requester { peer }, Kernel::Store) => store(am, job, peer),
        (Side::Replier { peer }, Kernel::Store) => be_stored_to(am, job, peer),
        (Side::Requester { peer }, Kernel::Get) => get(am, job, peer),
        (Side::Replier { peer }, Kernel::Get) => be_got_from(am, job, peer),
        _ => Ok(()),
    }
}

/// M × {store; compute for Δ}, then the replies.
#[inline(always)]
fn store<A: Transfer>(am: &mut A, job: &Job, peer: Rank) -> Result<(), CommError> {
    let (blocks, bytes) = (u64::from(job.messages), job.bytes as usize);
    for _ in 0..job.samples {
        am.refresh(blocks, bytes)?;
        am.mark();
        for index in 0..blocks {
            am.store(peer, ECHO, index, bytes)?;
            am.compute(job.delay);
        }
        am.mark();
        am.await_replies()?;
        am.mark();
        am.serve(1)?;
    }
    Ok(())
}

fn be_stored_to<A: Transfer>(am: &mut A, job: &Job, peer: Rank) -> Result<(), CommError> {
    let blocks = u64::from(job.messages);
    for _ in 0..job.samples {
        am.serve(blocks)?;
        am.check(blocks, job.bytes as usize)?;
        am.request(peer, SINK, TURN)?;
        am.await_replies()?;
    }
    Ok(())
}

/// M × {get; compute for Δ}, then what is not there yet.
#[inline(always)]
fn get<A: Transfer>(am: &mut A, job: &Job, peer: Rank) -> Result<(), CommError> {
    let (blocks, bytes) = (u64::from(job.messages), job.bytes as usize);
    for _ in 0..job.samples {
        am.request(peer, SINK, TURN)?;
        am.await_replies()?;
        am.serve(1)?;
        am.mark();
        for index in 0..blocks {
            am.get(peer, index, bytes)?;
            am.compute(job.delay);
        }
        am.mark();
        am.await_replies()?;
        am.mark();
        am.check(blocks, bytes)?;
    }
    // The peer serves gets until it hears that there are no more.
    am.request(peer, SINK, TURN)?;
    am.await_replies()
}

fn be_got_from<A: Transfer>(am: &mut A, job: &Job, peer: Rank) -> Result<(), CommError> {
    for _ in 0..job.samples {
        am.serve(1)?;
        am.refresh(u64::from(job.messages), job.bytes as usize)?;
        am.request(peer, SINK, TURN)?;
        am.await_replies()?;
    }
    am.serve(1)
}

/// Number and sum (modulo 2⁶⁴) of the words that a transfer makes `rank` receive in requests.
pub(crate) fn served_words(job: &Job, rank: Rank) -> (u64, u64) {
    let (messages, samples) = (u64::from(job.messages), u64::from(job.samples));
    match (side(job, rank), job.kernel) {
        (Side::Replier { .. }, Kernel::Store) => {
            let sum = (0..messages).fold(0_u64, |sum, index| sum.wrapping_add(pattern(index)));
            (messages * samples, sum.wrapping_mul(samples))
        }
        (Side::Replier { .. }, Kernel::Get) => (samples + 1, TURN.wrapping_mul(samples + 1)),
        (Side::Requester { .. }, _) => (samples, TURN.wrapping_mul(samples)),
        _ => (0, 0),
    }
}
