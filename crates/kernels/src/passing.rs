//! The programs of message passing: PARKBENCH's COMMS1, COMMS2, COMMS3 and SYNCH1.
//!
//! Source: Hockney and Berry (editors), "PARKBENCH Report: Public International Benchmarks for
//! Parallel Computers" (1994), low-level benchmarks.

use bandgap_comm::{Comm, CommError, Rank};

use crate::{Job, Kernel, Pattern};

/// The tag of all messages of a program.
const TAG: u32 = 1;

/// Runs this rank's part of a job of message passing. The timed rank's marks are, for each sample,
/// begin, end, end.
///
/// # Errors
/// A peer is gone or a deadline passed.
#[inline(never)]
pub fn pass<C: Comm>(comm: &mut C, job: &Job) -> Result<(), CommError> {
    let bytes = job.bytes as usize;
    let ends = match job.pattern {
        Pattern::OneToOne { requester, replier } => Some([requester, replier]),
        _ => None,
    };
    match (job.kernel, ends) {
        (Kernel::Comms1, Some([first, second])) => {
            if comm.rank() == first {
                timed(comm, job, |comm| {
                    comm.send(second, TAG, bytes)?;
                    comm.recv(second, TAG, bytes)
                })
            } else if comm.rank() == second {
                repeated(comm, job, |comm| {
                    comm.recv(first, TAG, bytes)?;
                    comm.send(first, TAG, bytes)
                })
            } else {
                Ok(())
            }
        }
        (Kernel::Comms2, Some([first, second])) => {
            if comm.rank() == first {
                timed(comm, job, |comm| comm.exchange(second, TAG, bytes))
            } else if comm.rank() == second {
                repeated(comm, job, |comm| comm.exchange(first, TAG, bytes))
            } else {
                Ok(())
            }
        }
        (Kernel::Comms3, None) => {
            comm.barrier()?;
            by_rank(comm, job, |comm| with_all(comm, bytes))
        }
        (Kernel::Synch1, None) => {
            comm.barrier()?;
            by_rank(comm, job, C::barrier)
        }
        _ => Ok(()),
    }
}

/// What all ranks do and rank 0 times.
#[inline(always)]
fn by_rank<C: Comm>(
    comm: &mut C,
    job: &Job,
    once: impl FnMut(&mut C) -> Result<(), CommError>,
) -> Result<(), CommError> {
    if comm.rank() == 0 { timed(comm, job, once) } else { repeated(comm, job, once) }
}

#[inline(always)]
fn timed<C: Comm>(
    comm: &mut C,
    job: &Job,
    mut once: impl FnMut(&mut C) -> Result<(), CommError>,
) -> Result<(), CommError> {
    for _ in 0..job.samples {
        comm.mark();
        for _ in 0..job.messages {
            once(comm)?;
        }
        comm.mark();
        comm.mark();
    }
    Ok(())
}

#[inline(always)]
fn repeated<C: Comm>(
    comm: &mut C,
    job: &Job,
    mut once: impl FnMut(&mut C) -> Result<(), CommError>,
) -> Result<(), CommError> {
    for _ in 0..u64::from(job.samples) * u64::from(job.messages) {
        once(comm)?;
    }
    Ok(())
}

/// An exchange with every other rank, in rounds in which the ranks are paired.
#[inline(always)]
fn with_all<C: Comm>(comm: &mut C, bytes: usize) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    for round in 0..size.next_multiple_of(2).saturating_sub(1) {
        if let Some(peer) = partner(rank, round, size) {
            comm.exchange(peer, TAG, bytes)?;
        }
    }
    Ok(())
}

/// With whom `rank` is paired in a round: a tournament in which the last of an even number of ranks
/// stays, and the others move round. With an odd number one rank rests.
fn partner(rank: Rank, round: usize, size: usize) -> Option<Rank> {
    let even = size.next_multiple_of(2);
    let (others, last) = (even - 1, even - 1);
    let peer = if rank == last {
        round
    } else if rank == round {
        last
    } else {
        (2 * round + others - rank) % others
    };
    (peer < size).then_some(peer)
}

/// Number of messages that `job` makes `rank` receive.
pub(crate) fn received(job: &Job, rank: Rank, size: usize) -> u64 {
    let repetitions = u64::from(job.samples) * u64::from(job.messages);
    let takes_part = match job.pattern {
        Pattern::OneToOne { requester, replier } => rank == requester || rank == replier,
        _ => true,
    };
    match job.kernel {
        Kernel::Comms1 | Kernel::Comms2 if takes_part => repetitions,
        Kernel::Comms3 => repetitions * (size as u64 - 1),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_meets_every_other_once_and_both_at_the_same_time() {
        for size in 1..=9_usize {
            for rank in 0..size {
                let rounds = size.next_multiple_of(2) - 1;
                let mut met: Vec<Rank> = Vec::new();
                for round in 0..rounds {
                    if let Some(peer) = partner(rank, round, size) {
                        assert_eq!(partner(peer, round, size), Some(rank), "{size} {round}");
                        met.push(peer);
                    }
                }
                met.sort_unstable();
                let others: Vec<Rank> = (0..size).filter(|other| *other != rank).collect();
                assert_eq!(met, others, "rank {rank} of {size}");
            }
        }
    }
}
