//! Pairs of ranks.

use bandgap_comm::Rank;
use serde::{Deserialize, Serialize};

use crate::Refused;

/// Two ranks: the requester begins and times, the replier answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The rank that begins and times.
    pub requester: Rank,
    /// The rank that answers.
    pub replier: Rank,
}

/// A rank's role in a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairRole {
    /// Begins; `peer` answers.
    Requester { peer: Rank },
    /// Answers `peer`.
    Replier { peer: Rank },
    /// Takes no part.
    Idle,
}

impl Pair {
    /// Ranks 0 and 1.
    pub const FIRST: Self = Self { requester: 0, replier: 1 };

    /// Smallest number of ranks that includes both.
    pub fn among(self) -> usize {
        self.requester.max(self.replier).saturating_add(1)
    }

    pub(super) fn check(self, size: usize) -> Result<(), Refused> {
        let Self { requester, replier } = self;
        let are_two = requester < size && replier < size && requester != replier;
        Refused::unless(are_two, || {
            format!("ranks {requester} and {replier} are not two different ones of {size} ranks")
        })
    }

    pub(super) fn both(self) -> [Rank; 2] {
        [self.requester, self.replier]
    }

    pub(super) fn side(self, rank: Rank) -> PairRole {
        let Self { requester, replier } = self;
        if rank == requester {
            PairRole::Requester { peer: replier }
        } else if rank == replier {
            PairRole::Replier { peer: requester }
        } else {
            PairRole::Idle
        }
    }

    /// The other rank, if `rank` is one of the two.
    pub(super) fn peer(self, rank: Rank) -> Option<Rank> {
        match self.side(rank) {
            PairRole::Requester { peer } | PairRole::Replier { peer } => Some(peer),
            PairRole::Idle => None,
        }
    }
}

/// The rank that meets `rank` in a round of a tournament. The last of an even number of ranks keeps
/// its place, and the others rotate. With an odd number, one rank rests: `None`.
pub(super) fn partner(rank: Rank, round: usize, size: usize) -> Option<Rank> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_needs_as_many_ranks_as_it_is_among_and_no_fewer() {
        for (requester, replier) in [(0, 1), (1, 0), (2, 7), (7, 2), (4, 5)] {
            let pair = Pair { requester, replier };
            assert_eq!(pair.check(pair.among()), Ok(()), "{pair:?}");
            assert!(pair.check(pair.among() - 1).is_err(), "{pair:?}");
        }
    }
}
