//! Bytes got from another rank's memory.

use bandgap_comm::{CommError, Delay, Rank, Transfer, Work};
use serde::{Deserialize, Serialize};

use super::Pair;
use super::pair::Side;
use crate::kernel::messages_in_range;
use crate::{
    AtSize, Expects, Kernel, Needs, OverTransfer, Refused, Round, SINK, Seat, Sequence, Series,
    Words,
};

/// M × {get of n bytes; compute for Δ}, then what is not there yet.
///
/// The replier's core writes the bytes anew before each sample, as in [`super::Store`].
///
/// Marks, in each sample: begin, last get issued, all bytes there.
/// *Source*: "Assessing Fast Network Interfaces", section Bulk transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Get {
    /// Who gets from whose memory.
    pub pair: Pair,
    /// Gets of a sample (M).
    pub messages: u32,
    /// Bytes of each (n).
    pub bytes: usize,
    /// Computation after each get (Δ).
    pub delay: Delay,
}

impl Kernel for Get {
    const NAME: &'static str = "get";
    const SERIES: &'static [Series] = &[Series::between_two("bulk_get")];
    const EXAMPLES: &'static [(u32, usize)] = &[(1, 0), (5, 7), (3, 4096), (2, 70_001)];

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
        let words = u64::from(self.messages) + 2;
        Needs { words, exposed: 2 * self.bytes, ..Needs::default() }
    }

    fn expects(&self, seat: &Seat) -> Expects {
        let (messages, samples) = (u64::from(self.messages), u64::from(seat.samples));
        let words = |peer, count, times| vec![Sequence::of(peer, count, times)];
        match self.pair.side(seat.rank) {
            Side::Requester { peer } => {
                Expects::words(words(peer, 1, samples), words(peer, messages, samples))
            }
            // The last one says that there are no more gets.
            Side::Replier { peer } => Expects::words(words(peer, 1, samples + 1), vec![]),
            Side::Idle => Expects::default(),
        }
    }
}

impl OverTransfer for Get {
    #[inline(never)]
    fn run<A: Transfer>(&self, am: &mut A, round: Round) -> Result<(), CommError> {
        let (blocks, bytes) = (u64::from(self.messages), self.bytes);
        let words = Words::new(am.rank(), round.turn);
        let hand_over = |am: &mut A, peer| {
            am.request(peer, SINK, words.word(peer, 0))?;
            am.await_replies()
        };
        match self.pair.side(am.rank()) {
            Side::Requester { peer } => {
                let work = Work::Chain(self.delay);
                for _ in 0..round.samples {
                    hand_over(am, peer)?;
                    am.serve(1)?;
                    am.mark();
                    for index in 0..blocks {
                        am.get(peer, index, bytes)?;
                        am.compute(work);
                    }
                    am.mark();
                    am.await_replies()?;
                    am.mark();
                    am.check(blocks, bytes)?;
                }
                // The peer serves gets until it hears that there are no more.
                hand_over(am, peer)
            }
            Side::Replier { peer } => {
                for _ in 0..round.samples {
                    am.serve(1)?;
                    am.refresh(blocks, bytes)?;
                    hand_over(am, peer)?;
                }
                am.serve(1)
            }
            Side::Idle => Ok(()),
        }
    }
}
