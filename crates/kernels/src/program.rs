//! The programs, one function for each role a rank can have.

use bandgap_comm::{Am, CommError, Rank};

use crate::handlers::{ECHO, SINK, pattern};
use crate::{Job, Kernel, Pattern, transfer};

/// What one rank does in a [`Job`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends to this many consecutive peers in turn, from the first on.
    Requester {
        /// The first peer.
        first: Rank,
        /// Number of peers.
        peers: usize,
    },
    /// Handles this many requests for each sample.
    Replier {
        /// Requests handled per sample.
        per_sample: u64,
    },
    /// Handles a contended stream, and times it.
    Contended {
        /// The number K of requesters.
        requesters: usize,
    },
    /// Sends into a contended stream.
    Contender,
    /// Takes no part.
    Idle,
}

/// The role of `rank` in `job`.
pub fn roles(job: &Job, rank: Rank, size: usize) -> Role {
    let messages = u64::from(job.messages);
    match job.pattern {
        Pattern::OneToOne { requester, replier } => {
            if rank == requester {
                Role::Requester { first: replier, peers: 1 }
            } else if rank == replier {
                Role::Replier { per_sample: messages }
            } else {
                Role::Idle
            }
        }
        Pattern::Pairs => {
            let half = size / 2;
            if rank < half {
                Role::Requester { first: rank + half, peers: 1 }
            } else {
                Role::Replier { per_sample: messages }
            }
        }
        Pattern::FanOut => {
            let peers = size - 1;
            if rank == 0 {
                Role::Requester { first: 1, peers }
            } else {
                // Message i goes to rank 1 + i mod peers.
                let before = (rank - 1) as u64;
                let per_sample =
                    (messages + peers as u64 - 1).saturating_sub(before) / peers as u64;
                Role::Replier { per_sample }
            }
        }
        Pattern::FanIn { requesters } => match rank {
            0 => Role::Contended { requesters },
            r if r <= requesters => Role::Contender,
            _ => Role::Idle,
        },
        Pattern::All => Role::Idle,
    }
}

/// Parts of a contended stream before and after those that are timed, in samples: the stream
/// must be steady when timing begins, and every requester still sending when it ends.
const CONTENDED_MARGIN: u64 = 1;

/// Runs this rank's part of `job`, which moves words only ([`crate::transfer`] and [`crate::pass`] run
/// those that move bytes). The timed rank's marks are, for each sample, begin, end of the
/// issue phase, end of the replies; in a contended stream one mark at each border of a sample.
///
/// # Errors
/// A peer is gone or a deadline passed.
#[inline(never)]
pub fn run<A: Am>(am: &mut A, job: &Job) -> Result<(), CommError> {
    let (messages, samples) = (u64::from(job.messages), u64::from(job.samples));
    match roles(job, am.rank(), am.size()) {
        Role::Requester { first, peers } => match (job.kernel, peers) {
            (Kernel::Burst, 1) => burst(am, job, |_| first),
            (Kernel::Burst, _) => {
                let mut peer = peers - 1;
                burst(am, job, |index| {
                    peer = if index == 0 || peer + 1 == peers { 0 } else { peer + 1 };
                    first + peer
                })
            }
            (Kernel::PingPong, _) => ping_pong(am, job, first),
            (Kernel::Stream, _) => stream(am, job, first),
            // Those that move bytes are programs of their own.
            _ => Ok(()),
        },
        Role::Replier { per_sample } => am.serve(samples * per_sample),
        Role::Contended { requesters } => {
            let share = requesters as u64 * messages;
            am.serve(CONTENDED_MARGIN * share)?;
            am.mark();
            for _ in 0..samples {
                am.serve(share)?;
                am.mark();
            }
            am.serve(CONTENDED_MARGIN * share)
        }
        Role::Contender => {
            for index in 0..(samples + 2 * CONTENDED_MARGIN) * messages {
                am.request(0, ECHO, pattern(index))?;
                am.compute(job.delay);
            }
            am.await_replies()
        }
        Role::Idle => Ok(()),
    }
}

/// M × {request; compute for Δ}, then the replies ("Assessing Fast Network Interfaces",
/// Microbenchmark signature).
#[inline(always)]
fn burst<A: Am>(am: &mut A, job: &Job, mut peer: impl FnMut(u64) -> Rank) -> Result<(), CommError> {
    for _ in 0..job.samples {
        am.mark();
        for index in 0..u64::from(job.messages) {
            am.request(peer(index), ECHO, pattern(index))?;
            am.compute(job.delay);
        }
        am.mark();
        am.await_replies()?;
        am.mark();
    }
    Ok(())
}

/// Round trips one after the other.
#[inline(always)]
fn ping_pong<A: Am>(am: &mut A, job: &Job, peer: Rank) -> Result<(), CommError> {
    for _ in 0..job.samples {
        am.mark();
        for index in 0..u64::from(job.messages) {
            am.request(peer, ECHO, pattern(index))?;
            am.await_replies()?;
        }
        am.mark();
        am.mark();
    }
    Ok(())
}

/// Requests without replies, as fast as flow control lets them go.
#[inline(always)]
fn stream<A: Am>(am: &mut A, job: &Job, peer: Rank) -> Result<(), CommError> {
    for _ in 0..job.samples {
        am.mark();
        for index in 0..u64::from(job.messages) {
            am.request(peer, SINK, pattern(index))?;
        }
        am.await_replies()?;
        am.mark();
        am.mark();
    }
    Ok(())
}

/// Number and sum (modulo 2⁶⁴) of the words that `job` makes `rank` receive in requests.
pub(crate) fn served_words(job: &Job, rank: Rank, size: usize) -> (u64, u64) {
    if job.moves_bytes() {
        return transfer::served_words(job, rank);
    }
    if job.passes_messages() {
        return (0, 0);
    }
    let (messages, samples) = (u64::from(job.messages), u64::from(job.samples));
    let sum = |indices: &mut dyn Iterator<Item = u64>| {
        indices.fold(0_u64, |sum, index| sum.wrapping_add(pattern(index)))
    };
    match roles(job, rank, size) {
        Role::Replier { per_sample } => {
            let (first, step) = match job.pattern {
                Pattern::FanOut => (rank as u64 - 1, size - 1),
                _ => (0, 1),
            };
            let words = sum(&mut (first..messages).step_by(step));
            (samples * per_sample, words.wrapping_mul(samples))
        }
        Role::Contended { requesters } => {
            let each = (samples + 2 * CONTENDED_MARGIN) * messages;
            let words = sum(&mut (0..each));
            (each * requesters as u64, words.wrapping_mul(requesters as u64))
        }
        Role::Requester { .. } | Role::Contender | Role::Idle => (0, 0),
    }
}

/// Number and sum (modulo 2⁶⁴) of the words that `job` makes `rank` receive in replies, which
/// carry the complement of their request's word: !w = −1 − w.
pub(crate) fn replied_words(job: &Job, rank: Rank, size: usize) -> (u64, u64) {
    let (messages, samples) = (u64::from(job.messages), u64::from(job.samples));
    let complements =
        |count: u64| (0..count).fold(0_u64, |sum, index| sum.wrapping_add(!pattern(index)));
    match (roles(job, rank, size), job.kernel) {
        _ if job.passes_messages() => (0, 0),
        (Role::Requester { .. }, kernel) if kernel != Kernel::Stream => {
            (messages * samples, complements(messages).wrapping_mul(samples))
        }
        (Role::Contender, _) => {
            let each = (samples + 2 * CONTENDED_MARGIN) * messages;
            (each, complements(each))
        }
        _ => (0, 0),
    }
}
