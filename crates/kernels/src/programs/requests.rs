//! Requests between two ranks, with or without replies.

use bandgap_comm::{Am, Rank, Result};
use serde::{Deserialize, Serialize};

use super::pair::Pair;
use super::pair::PairRole::{Idle, Replier, Requester};
use crate::{
    AtSize, ECHO, Expects, Kernel, Needs, OverAm, Refused, Round, SINK, Seat, Sequence, Words,
    messages_in_range,
};

/// M requests with a small message.
///
/// Marks of the requester, in each sample: begin, end, end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requests<const AWAITED: bool> {
    /// The requester and the replier.
    pub pair: Pair,
    /// Requests in a sample (M).
    pub messages: u32,
}

/// M round trips of a small message, one after the other.
pub type PingPong = Requests<true>;

/// M requests without replies, as fast as flow control allows, until all are handled.
pub type RequestStream = Requests<false>;

impl<const AWAITED: bool> Kernel for Requests<AWAITED> {
    const NAME: &'static str = if AWAITED { "ping_pong" } else { "request_stream" };

    fn at(point: AtSize) -> Option<Self> {
        Some(Self { pair: point.pair, messages: point.messages })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, 0)?;
        self.pair.check(size)
    }

    fn timed(&self, _size: usize) -> [Rank; 2] {
        self.pair.both()
    }

    fn needs(&self, _size: usize) -> Needs {
        Needs { words: self.messages.into(), ..Needs::default() }
    }

    fn expects(&self, seat: &Seat) -> Expects {
        let words = |peer| vec![Sequence::of(peer, self.messages.into(), seat.samples.into())];
        match self.pair.side(seat.rank) {
            Requester { peer } if AWAITED => Expects::words(vec![], words(peer)),
            Replier { peer } => Expects::words(words(peer), vec![]),
            _ => Expects::default(),
        }
    }
}

impl<const AWAITED: bool> OverAm for Requests<AWAITED> {
    #[inline(never)]
    fn run<A: Am>(&self, am: &mut A, round: Round) -> Result<()> {
        let (messages, samples) = (u64::from(self.messages), round.samples);
        match self.pair.side(am.rank()) {
            Requester { peer } => {
                let words = Words::new(am.rank(), round.turn);
                for _ in 0..samples {
                    am.mark();
                    for index in 0..messages {
                        am.request(
                            peer,
                            if AWAITED { ECHO } else { SINK },
                            words.word(peer, index),
                        )?;
                        if AWAITED {
                            am.await_replies()?;
                        }
                    }
                    if !AWAITED {
                        am.await_replies()?;
                    }
                    am.mark();
                    am.mark();
                }
                Ok(())
            }
            Replier { .. } => am.serve(u64::from(samples) * messages),
            Idle => Ok(()),
        }
    }
}
