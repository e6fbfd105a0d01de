//! Messages back and forth in all pairs of ranks at once.

use bandgap_comm::{Comm, Rank, Result};
use serde::{Deserialize, Serialize};

use super::pair::partner;
use super::{Comms1, Pair};
use crate::{
    Buffers, Expects, Kernel, Needs, OverComm, Places, Refused, Round, Samples, Seat, Stamps,
    ranks_at_least,
};

/// M round trips of a message of n bytes in each pair that meets in one round of a tournament, in
/// all pairs of the round, or of one of its parts, at once. With an odd number of ranks one rests.
///
/// Marks of the lower rank of each pair, in each sample: begin, end, end. A barrier precedes the
/// first sample. A batch holds the samples of one pair after those of another, in the order of
/// [`RoundRobin::pairs`].
/// *Source*: the round-robin schedules of mpiGraph and HP2P, which measure the bandwidth of a link
/// while all links are busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundRobin {
    /// Index of the round.
    pub round: usize,
    /// Round trips in a sample (M).
    pub messages: u32,
    /// Bytes of a message (n).
    pub bytes: usize,
    /// The part of the round that works, of this number of equal parts; the other pairs rest.
    pub part: [usize; 2],
}

impl RoundRobin {
    /// All pairs of the round.
    pub const ALL: [usize; 2] = [0, 1];

    /// Number of rounds in which each of `size` ranks meets every other.
    pub fn rounds(size: usize) -> usize {
        size.next_multiple_of(2).saturating_sub(1)
    }

    /// Pairs of the part among `size` ranks, ordered by their lower ranks, which time.
    pub fn pairs(self, size: usize) -> impl Iterator<Item = Pair> {
        let ([part, parts], all) = (self.part, Self { part: Self::ALL, ..self });
        let [from, to] = [part, part + 1].map(|part| part * (size / 2) / parts);
        let lower = move |rank| all.pair(rank, size).filter(|of| of.requester == rank);
        (0..size).filter_map(lower).skip(from).take(to - from)
    }

    fn pair(self, rank: Rank, size: usize) -> Option<Pair> {
        let peer = partner(rank, self.round, size)?;
        let pair = Pair { requester: rank.min(peer), replier: rank.max(peer) };
        (self.part == Self::ALL || self.pairs(size).any(|of| of == pair)).then_some(pair)
    }

    fn between(self, pair: Pair) -> Comms1 {
        Comms1 { pair, messages: self.messages, bytes: self.bytes, buffers: Buffers::Same }
    }
}

impl Kernel for RoundRobin {
    const NAME: &'static str = "round_robin";

    fn check(&self, size: usize) -> Result<(), Refused> {
        ranks_at_least(2, size)?;
        let (round, rounds) = (self.round, Self::rounds(size));
        Refused::unless(round < rounds, || {
            format!("there is no round {round}: {size} ranks meet in {rounds} rounds")
        })?;
        let [part, parts] = self.part;
        Refused::unless(part < parts && parts <= size / 2, || {
            format!("there is no part {part} of {parts}: {} pairs meet in a round", size / 2)
        })?;
        self.between(Pair::FIRST).check(size)
    }

    fn timed(&self, size: usize) -> [Rank; 2] {
        self.pairs(size).next().unwrap_or(Pair::FIRST).both()
    }

    fn needs(&self, size: usize) -> Needs {
        self.between(Pair::FIRST).needs(size)
    }

    fn expects(&self, seat: &Seat) -> Expects {
        let pair = self.pair(seat.rank, seat.size);
        pair.map_or_else(Expects::default, |pair| self.between(pair).expects(seat))
    }

    fn samples(&self, size: usize, stamps: &Stamps) -> Samples {
        Samples::of_each(stamps, self.pairs(size).map(|pair| pair.requester))
    }
}

impl OverComm for RoundRobin {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<()> {
        comm.barrier()?;
        match self.pair(comm.rank(), comm.size()) {
            Some(pair) => self.between(pair).run(comm, places, round),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WHOLE;

    #[test]
    fn every_pair_meets_once_and_has_its_own_samples() {
        for size in 2..=9 {
            let all = (0..RoundRobin::rounds(size)).flat_map(|round| {
                let of = RoundRobin { round, messages: 1, bytes: 8, part: RoundRobin::ALL };
                // Rank r takes r + 1 ticks for each of its two samples.
                let stamps = |rank| {
                    let end = rank as u64 + 1;
                    vec![0, end, end, 10, 10 + end, 10 + end]
                };
                let stamps: Vec<Vec<u64>> = (0..size).map(stamps).collect();
                let pairs: Vec<Pair> = of.pairs(size).collect();
                let samples = of.samples(size, &stamps);
                let timed: Vec<u64> =
                    pairs.iter().flat_map(|pair| [pair.requester as u64 + 1; 2]).collect();
                assert_eq!((samples.column(WHOLE), pairs.len()), (&timed[..], size / 2));
                // Each pair is in one of the parts.
                let of = |part| RoundRobin { part: [part, size / 2], ..of };
                assert!(
                    (0..size / 2).flat_map(|part| of(part).pairs(size)).eq(pairs.iter().copied())
                );
                pairs.into_iter().map(Pair::both)
            });
            let mut all: Vec<[Rank; 2]> = all.collect();
            all.sort_unstable();
            let expected: Vec<[Rank; 2]> =
                (0..size).flat_map(|a| (a + 1..size).map(move |b| [a, b])).collect();
            assert_eq!(all, expected);
        }
    }
}
