//! Signals between two ranks: how often each has reached a point at which the other waits for it. A
//! barrier needs no more, and a signal costs the transfer of one line, without a handler.

use std::sync::Arc;

use bandgap_comm::Rank;

use crate::mapping::Mapping;
use crate::segment::Segment;
use crate::sync::Ordering;

/// The signals of this rank to one peer, and of the peer to this rank.
pub(crate) struct Signals {
    mapping: Arc<Mapping>,
    /// Offsets of this rank's number and of the peer's.
    own_at: usize,
    peers_at: usize,
    given: u64,
    taken: u64,
}

impl Signals {
    /// Signals between `rank` and `peer`, of which none was given yet.
    pub(crate) fn new(segment: &Segment, rank: Rank, peer: Rank) -> Self {
        Self {
            mapping: segment.mapping(),
            own_at: segment.signals_at(rank, peer),
            peers_at: segment.signals_at(peer, rank),
            given: 0,
            taken: 0,
        }
    }

    /// Gives a signal to the peer.
    #[inline(always)]
    pub(crate) fn give(&mut self) {
        self.given += 1;
        // Release: pairs with the acquire in `untaken`. The peer sees what this rank did before.
        self.mapping.word(self.own_at).store(self.given, Ordering::Release);
    }

    /// Number of the peer's signals that were not taken.
    #[inline(always)]
    pub(crate) fn untaken(&self) -> u64 {
        // Acquire: pairs with the release in `give`. A peer may store any number.
        self.mapping.word(self.peers_at).load(Ordering::Acquire).wrapping_sub(self.taken)
    }

    /// Takes a signal of the peer if there is one. Returns whether there was.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> bool {
        let is_there = self.untaken() > 0;
        self.taken = self.taken.wrapping_add(u64::from(is_there));
        is_there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_taken_once_and_by_the_rank_that_it_was_given_to() {
        let segment = Segment::create(3, 4).unwrap();
        let between = |rank, peer| Signals::new(&segment, rank, peer);
        let (mut here, mut there, mut other) = (between(0, 1), between(1, 0), between(2, 0));
        assert!(!there.take());
        here.give();
        here.give();
        assert_eq!((there.untaken(), other.untaken(), here.untaken()), (2, 0, 0));
        assert!(there.take() && there.take() && !there.take() && !other.take());
        there.give();
        assert!(here.take() && !here.take());
    }
}
