//! Who sends requests to whom.

use bandgap_comm::Rank;
use serde::{Deserialize, Serialize};

use super::Pair;
use super::pair::Side;
use crate::kernel::ranks_at_least;
use crate::{Refused, Sequence};

/// Who sends requests to whom in a [`super::Burst`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asking {
    /// One requester, one replier.
    OneToOne(Pair),
    /// Half of the ranks ask the other half: rank i asks rank i + P/2; rank 0 times.
    Pairs,
    /// Rank 0 asks all others in turn, and times.
    FanOut,
}

/// What a rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Asks this many consecutive peers in turn, from the first on.
    Requester { first: Rank, peers: usize },
    /// Handles this many requests of `from` in each sample: those number `index`, `index + step`, ….
    Replier { from: Rank, index: u64, step: u64, count: u64 },
    /// Takes no part.
    Idle,
}

impl Asking {
    pub(super) fn examples(size: usize) -> Vec<Self> {
        let pairs = Pair::examples(size).map(Self::OneToOne);
        pairs.into_iter().chain([Self::Pairs, Self::FanOut]).collect()
    }

    pub(super) fn check(self, size: usize) -> Result<(), Refused> {
        match self {
            Self::OneToOne(pair) => pair.check(size),
            Self::Pairs if !size.is_multiple_of(2) => {
                Err(Refused::because(format!("pairs take an even number of ranks, not {size}")))
            }
            Self::Pairs | Self::FanOut => ranks_at_least(2, size),
        }
    }

    pub(super) fn timed(self, size: usize) -> [Rank; 2] {
        match self {
            Self::OneToOne(pair) => pair.both(),
            Self::Pairs => [0, size / 2],
            Self::FanOut => [0, 1],
        }
    }

    /// The role of `rank`, where a sample has so many messages.
    pub(super) fn role(self, rank: Rank, size: usize, messages: u64) -> Role {
        let all_of = |from| Role::Replier { from, index: 0, step: 1, count: messages };
        match self {
            Self::OneToOne(pair) => match pair.side(rank) {
                Side::Requester { peer } => Role::Requester { first: peer, peers: 1 },
                Side::Replier { peer } => all_of(peer),
                Side::Idle => Role::Idle,
            },
            Self::Pairs => {
                let half = size / 2;
                if rank < half {
                    Role::Requester { first: rank + half, peers: 1 }
                } else {
                    all_of(rank - half)
                }
            }
            Self::FanOut => {
                let peers = size - 1;
                if rank == 0 {
                    Role::Requester { first: 1, peers }
                } else {
                    let (index, step) = ((rank - 1) as u64, peers as u64);
                    let count = dealt(messages, index, step);
                    Role::Replier { from: 0, index, step, count }
                }
            }
        }
    }

    /// The words of the requests that `rank` gets, and those whose replies it gets, in `samples`
    /// samples.
    pub(super) fn sequences(
        self,
        rank: Rank,
        size: usize,
        messages: u64,
        samples: u32,
    ) -> [Vec<Sequence>; 2] {
        let times = u64::from(samples);
        match self.role(rank, size, messages) {
            Role::Replier { from, index, step, count } => {
                [vec![Sequence { peer: from, first: index, step, count, times }], Vec::new()]
            }
            Role::Requester { first, peers } => {
                let step = peers as u64;
                let replies = (0..step).map(|index| {
                    let count = dealt(messages, index, step);
                    Sequence { peer: first + index as usize, first: index, step, count, times }
                });
                [Vec::new(), replies.collect()]
            }
            Role::Idle => [Vec::new(), Vec::new()],
        }
    }
}

/// How many of the numbers below `messages` are `index`, `index + step`, ….
fn dealt(messages: u64, index: u64, step: u64) -> u64 {
    (messages + step - 1).saturating_sub(index) / step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_has_one_receiver() {
        for size in 2..=9 {
            for messages in [1, 2, 7, 64] {
                for asking in Asking::examples(size) {
                    if asking.check(size).is_err() {
                        continue;
                    }
                    let all = |which: usize| -> u64 {
                        (0..size)
                            .flat_map(|rank| {
                                asking.sequences(rank, size, messages, 3)[which].clone()
                            })
                            .map(|sequence| sequence.words())
                            .sum()
                    };
                    let requesters = if asking == Asking::Pairs { size as u64 / 2 } else { 1 };
                    assert_eq!(all(0), 3 * messages * requesters, "{asking:?} {size}");
                    assert_eq!(all(1), all(0), "{asking:?} {size}");
                }
            }
        }
    }
}
