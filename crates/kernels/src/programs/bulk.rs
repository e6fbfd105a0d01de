//! Bulk transfers: bytes stored in another rank's memory, or got from it.

use bandgap_comm::{Delay, Rank, Result, Transfer, Work};
use serde::{Deserialize, Serialize};

use super::pair::Pair;
use super::pair::PairRole::{Idle, Replier, Requester};
use crate::{
    AtSize, ECHO, Expects, Kernel, Look, Needs, OverTransfer, Refused, Round, SINK, Seat, Sequence,
    Series, Words, messages_in_range,
};

/// M × {transfer n bytes; compute for Δ}, then wait for the transfers that have not ended.
///
/// Between two samples the bytes change hands: the sending rank's core writes the source, and the
/// receiving rank's core reads what arrived. Otherwise a second copy of the same bytes would find
/// them in its own cache.
///
/// Marks of the requester, in each sample: begin, last transfer issued, all transfers ended.
/// *Source*: "Assessing Fast Network Interfaces", section Bulk transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfers<const GETS: bool> {
    /// The requester, and the rank whose memory is used.
    pub pair: Pair,
    /// Transfers in a sample (M).
    pub messages: u32,
    /// Bytes of each transfer (n).
    pub bytes: usize,
    /// Computation after each (Δ).
    pub delay: Delay,
}

/// M × {store n bytes and send a request; compute for Δ}, then wait for the replies.
pub type Store = Transfers<false>;

/// M × {get n bytes; compute for Δ}, then wait for the gets that have not ended.
pub type Get = Transfers<true>;

impl<const GETS: bool> Kernel for Transfers<GETS> {
    const NAME: &'static str = if GETS { "get" } else { "store" };
    const SERIES: &'static [Series] = &[Series {
        look: Look::Many,
        ..Series::between_two(if GETS { "bulk_get" } else { "bulk_store" })
    }];

    fn at(AtSize { size: bytes, messages, pair, .. }: AtSize) -> Option<Self> {
        Some(Self { pair, messages, bytes, delay: Delay::NONE })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, self.bytes)?;
        self.pair.check(size)
    }

    fn timed(&self, _size: usize) -> [Rank; 2] {
        self.pair.both()
    }

    fn needs(&self, _size: usize) -> Needs {
        let words = u64::from(self.messages) + if GETS { 2 } else { 1 };
        Needs { words, exposed: 2 * self.bytes, ..Needs::default() }
    }

    fn expects(&self, seat: &Seat) -> Expects {
        let (messages, samples) = (u64::from(self.messages), u64::from(seat.samples));
        let words = |peer, count, times| vec![Sequence::of(peer, count, times)];
        match self.pair.side(seat.rank) {
            Requester { peer } => {
                Expects::words(words(peer, 1, samples), words(peer, messages, samples))
            }
            // The last word says that there are no more gets.
            Replier { peer } if GETS => Expects::words(words(peer, 1, samples + 1), vec![]),
            Replier { peer } => Expects::words(words(peer, messages, samples), vec![]),
            Idle => Expects::default(),
        }
    }
}

impl<const GETS: bool> OverTransfer for Transfers<GETS> {
    #[inline(never)]
    fn run<A: Transfer>(&self, am: &mut A, round: Round) -> Result<()> {
        let (blocks, bytes) = (u64::from(self.messages), self.bytes);
        let words = Words::new(am.rank(), round.turn);
        let hand_over = |am: &mut A, peer| {
            am.request(peer, SINK, words.word(peer, 0))?;
            am.await_replies()
        };
        match self.pair.side(am.rank()) {
            Requester { peer } => {
                let work = Work::Chain(self.delay);
                for _ in 0..round.samples {
                    if GETS {
                        hand_over(am, peer)?;
                        am.serve(1)?;
                    } else {
                        am.refresh(blocks, bytes)?;
                    }
                    am.mark();
                    for index in 0..blocks {
                        if GETS {
                            am.get(peer, index, bytes)?;
                        } else {
                            am.store(peer, ECHO, index, bytes)?;
                        }
                        am.compute(work);
                    }
                    am.mark();
                    am.await_replies()?;
                    am.mark();
                    if GETS { am.check(blocks, bytes) } else { am.serve(1) }?;
                }
                // The peer serves gets until it is told that there are no more.
                if GETS { hand_over(am, peer) } else { Ok(()) }
            }
            Replier { peer } => {
                for _ in 0..round.samples {
                    if GETS {
                        am.serve(1)?;
                        am.refresh(blocks, bytes)?;
                    } else {
                        am.serve(blocks)?;
                        am.check(blocks, bytes)?;
                    }
                    hand_over(am, peer)?;
                }
                if GETS { am.serve(1) } else { Ok(()) }
            }
            Idle => Ok(()),
        }
    }
}
