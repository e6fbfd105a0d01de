//! COMMS3: messages from all ranks to all others.

use bandgap_comm::{Comm, Rank, Result};
use serde::{Deserialize, Serialize};

use super::RoundRobin;
use super::pair::partner;
use super::repeat::by_rank;
use crate::{
    AtSize, Expects, Kernel, Look, Needs, OverComm, Places, Refused, Round, Seat, Series,
    messages_in_range, ranks_at_least,
};

const TAG: u32 = 1;

/// M times all ranks exchange messages of n bytes with all others: PARKBENCH's COMMS3, which
/// measures the total saturation bandwidth. The exchanges go in rounds, in each of which the ranks
/// are paired.
///
/// Marks of rank 0, in each sample: begin, end, end. A barrier precedes the first sample.
/// *Source*: as [`super::Comms1`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comms3 {
    /// Repetitions in a sample (M).
    pub messages: u32,
    /// Bytes of a message (n).
    pub bytes: usize,
}

impl Kernel for Comms3 {
    const NAME: &'static str = "comms3";
    const SERIES: &'static [Series] = &[Series {
        look: Look::Many,
        ..Series::of_all("comms3", |ranks| ranks as u64 * (ranks as u64).saturating_sub(1))
    }];

    fn at(AtSize { size: bytes, messages, .. }: AtSize) -> Option<Self> {
        Some(Self { messages, bytes })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, self.bytes)?;
        ranks_at_least(1, size)
    }

    fn needs(&self, size: usize) -> Needs {
        Needs::both_ways(u64::from(self.messages).saturating_mul(size as u64 - 1), self.bytes)
    }

    fn expects(&self, seat: &Seat) -> Expects {
        Expects::exchanges(seat, self.messages, partners(seat.rank, seat.size))
    }
}

impl OverComm for Comms3 {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<()> {
        let (rank, size, places) = (comm.rank(), comm.size(), *places);
        let peers = size as u64 - 1;
        comm.barrier()?;
        by_rank(comm, 0, round.samples, self.messages, |comm, message| {
            for (peer, place) in partners(rank, size).zip(message * peers..) {
                comm.exchange(peer, TAG, places.outgoing(place), places.incoming(place))?;
            }
            Ok(())
        })
    }
}

/// The ranks that `rank` exchanges with, round by round.
#[inline(always)]
fn partners(rank: Rank, size: usize) -> impl Iterator<Item = Rank> + Clone {
    (0..RoundRobin::rounds(size)).filter_map(move |round| partner(rank, round, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_meets_every_other_once_and_both_at_the_same_time() {
        for size in 1..=9_usize {
            for rank in 0..size {
                for round in 0..RoundRobin::rounds(size) {
                    if let Some(peer) = partner(rank, round, size) {
                        assert_eq!(partner(peer, round, size), Some(rank), "{size} {round}");
                    }
                }
                let mut met: Vec<Rank> = partners(rank, size).collect();
                met.sort_unstable();
                let others: Vec<Rank> = (0..size).filter(|other| *other != rank).collect();
                assert_eq!(met, others, "rank {rank} of {size}");
            }
        }
    }
}
