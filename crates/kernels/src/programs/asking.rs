//! Who sends requests to whom.

use bandgap_comm::Rank;
use serde::{Deserialize, Serialize};

use super::Pair;
use super::pair::Side;
use crate::kernel::ranks_at_least;
use crate::{Expects, Refused, Seat, Sequence};

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
    /// Handles these requests in each sample.
    Replier(Sequence),
    /// Takes no part.
    Idle,
}

impl Asking {
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
        let pair = match self {
            Self::OneToOne(pair) => pair,
            Self::Pairs => {
                let (half, first) = (size / 2, rank % (size / 2));
                Pair { requester: first, replier: first + half }
            }
            Self::FanOut if rank == 0 => return Role::Requester { first: 1, peers: size - 1 },
            Self::FanOut => return Role::Replier(dealt(0, messages, rank - 1, size - 1)),
        };
        match pair.side(rank) {
            Side::Requester { peer } => Role::Requester { first: peer, peers: 1 },
            Side::Replier { peer } => Role::Replier(Sequence::of(peer, messages, 1)),
            Side::Idle => Role::Idle,
        }
    }

    /// What a rank expects, where a sample has so many messages.
    pub(super) fn expects(self, seat: &Seat, messages: u64) -> Expects {
        let Seat { rank, size, samples, .. } = *seat;
        let times = samples.into();
        match self.role(rank, size, messages) {
            Role::Replier(words) => Expects::words(vec![Sequence { times, ..words }], vec![]),
            Role::Requester { first, peers } => {
                let words = (0..peers).map(|index| dealt(first + index, messages, index, peers));
                Expects::words(vec![], words.map(|words| Sequence { times, ..words }).collect())
            }
            Role::Idle => Expects::default(),
        }
    }
}

/// Those of the numbers below `messages` that are `index`, `index + peers`, …: the words that come
/// from `peer` where `peers` of them share the messages.
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
