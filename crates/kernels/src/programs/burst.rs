//! Bursts: several requests in a row, then their replies.

use bandgap_comm::{Am, Delay, Rank, Result, Work};
use serde::{Deserialize, Serialize};

use super::pair::{Pair, PairRole};
use crate::{
    AtSize, ECHO, Expects, Kernel, Needs, OverAm, Refused, Round, Seat, Sequence, Words,
    messages_in_range, ranks_at_least,
};

/// M × {request; compute for Δ}, then wait for the replies: one point of the LogP signature. With
/// one message it measures the round trip.
///
/// Marks of a requester, in each sample: begin, last request issued, last reply handled.
/// *Source*: "Assessing Fast Network Interfaces", section Microbenchmark signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// Which ranks send requests to which.
    pub asking: Asking,
    /// Messages in a sample (M).
    pub messages: u32,
    /// Computation after each request (Δ).
    pub delay: Delay,
}

impl Kernel for Burst {
    const NAME: &'static str = "burst";

    fn at(AtSize { pair, messages, .. }: AtSize) -> Option<Self> {
        Some(Self { asking: Asking::OneToOne(pair), messages, delay: Delay::NONE })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, 0)?;
        self.asking.check(size)
    }

    fn timed(&self, size: usize) -> [Rank; 2] {
        self.asking.timed(size)
    }

    fn needs(&self, _size: usize) -> Needs {
        Needs { words: self.messages.into(), ..Needs::default() }
    }

    fn expects(&self, seat: &Seat) -> Expects {
        self.asking.expects(seat, self.messages.into())
    }
}

impl OverAm for Burst {
    #[inline(never)]
    fn run<A: Am>(&self, am: &mut A, round: Round) -> Result<()> {
        let (rank, size) = (am.rank(), am.size());
        match self.asking.role(rank, size, self.messages.into()) {
            BurstRole::Requester { first, peers: 1 } => issue(am, *self, round, |_| first),
            BurstRole::Requester { first, peers } => {
                let mut peer = peers - 1;
                issue(am, *self, round, |index| {
                    peer = if index == 0 || peer + 1 == peers { 0 } else { peer + 1 };
                    first + peer
                })
            }
            BurstRole::Replier(words) => am.serve(u64::from(round.samples) * words.count),
            BurstRole::Idle => Ok(()),
        }
    }
}

#[inline(always)]
fn issue<A: Am>(
    am: &mut A,
    burst: Burst,
    round: Round,
    mut peer: impl FnMut(u64) -> Rank,
) -> Result<()> {
    let words = Words::new(am.rank(), round.turn);
    let work = Work::Chain(burst.delay);
    for _ in 0..round.samples {
        am.mark();
        for index in 0..u64::from(burst.messages) {
            let to = peer(index);
            am.request(to, ECHO, words.word(to, index))?;
            am.compute(work);
        }
        am.mark();
        am.await_replies()?;
        am.mark();
    }
    Ok(())
}

/// Which ranks send requests to which in a [`Burst`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asking {
    /// One requester, one replier.
    OneToOne(Pair),
    /// Each rank i of the first half asks rank i + P/2. Rank 0 times.
    Pairs,
    /// Rank 0 asks all others in turn, and times.
    FanOut,
}

/// A rank's role in a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BurstRole {
    /// Asks `peers` consecutive ranks in turn, beginning with `first`.
    Requester { first: Rank, peers: usize },
    /// Handles these requests in each sample.
    Replier(Sequence),
    /// Takes no part.
    Idle,
}

impl Asking {
    fn check(self, size: usize) -> Result<(), Refused> {
        match self {
            Self::OneToOne(pair) => pair.check(size),
            Self::Pairs if !size.is_multiple_of(2) => Err(Refused::because(format!(
                "pairs need an even number of ranks; there are {size}"
            ))),
            Self::Pairs | Self::FanOut => ranks_at_least(2, size),
        }
    }

    /// The rank that times, and the rank that it asks first.
    pub fn timed(self, size: usize) -> [Rank; 2] {
        match self {
            Self::OneToOne(pair) => pair.both(),
            Self::Pairs => [0, size / 2],
            Self::FanOut => [0, 1],
        }
    }

    /// The role of `rank` if a sample has `messages` messages.
    fn role(self, rank: Rank, size: usize, messages: u64) -> BurstRole {
        let pair = match self {
            Self::OneToOne(pair) => pair,
            Self::Pairs => {
                let (half, first) = (size / 2, rank % (size / 2));
                Pair { requester: first, replier: first + half }
            }
            Self::FanOut if rank == 0 => return BurstRole::Requester { first: 1, peers: size - 1 },
            Self::FanOut => return BurstRole::Replier(dealt(0, messages, rank - 1, size - 1)),
        };
        match pair.side(rank) {
            PairRole::Requester { peer } => BurstRole::Requester { first: peer, peers: 1 },
            PairRole::Replier { peer } => BurstRole::Replier(Sequence::of(peer, messages, 1)),
            PairRole::Idle => BurstRole::Idle,
        }
    }

    /// What a rank expects if a sample has `messages` messages.
    fn expects(self, seat: &Seat, messages: u64) -> Expects {
        let Seat { rank, size, samples, .. } = *seat;
        let times = samples.into();
        match self.role(rank, size, messages) {
            BurstRole::Replier(words) => Expects::words(vec![Sequence { times, ..words }], vec![]),
            BurstRole::Requester { first, peers } => {
                let words = (0..peers).map(|index| dealt(first + index, messages, index, peers));
                Expects::words(vec![], words.map(|words| Sequence { times, ..words }).collect())
            }
            BurstRole::Idle => Expects::default(),
        }
    }
}

/// The message numbers `index`, `index + peers`, … below `messages`: those of the words that come
/// from `peer` if `peers` ranks share the messages.
fn dealt(peer: Rank, messages: u64, index: usize, peers: usize) -> Sequence {
    let (first, step) = (index as u64, peers as u64);
    let count = (messages + step - 1).saturating_sub(first) / step;
    Sequence { peer, first, step, count, times: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Places;

    #[test]
    fn every_message_has_one_receiver() {
        for size in 2..=9 {
            for messages in [1, 2, 7, 64] {
                let pairs = [Pair::FIRST, Pair { requester: size - 1, replier: 0 }];
                let all = pairs.map(Asking::OneToOne).into_iter();
                for asking in all.chain([Asking::Pairs, Asking::FanOut]) {
                    if asking.check(size).is_err() {
                        continue;
                    }
                    let seat = |rank| Seat { rank, size, samples: 3, places: Places::default() };
                    let words = |of: fn(Expects) -> Vec<Sequence>| -> u64 {
                        let expects = (0..size).map(|rank| asking.expects(&seat(rank), messages));
                        expects.flat_map(of).map(|sequence| sequence.words()).sum()
                    };
                    let requesters = if asking == Asking::Pairs { size as u64 / 2 } else { 1 };
                    let expected = 3 * messages * requesters;
                    assert_eq!(words(|e| e.requests), expected, "{asking:?} {size}");
                    assert_eq!(words(|e| e.replies), expected, "{asking:?} {size}");
                }
            }
        }
    }
}
