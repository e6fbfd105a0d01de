//! Bytes stored in another rank's memory.

use bandgap_comm::{CommError, Delay, Rank, Transfer, Work};
use serde::{Deserialize, Serialize};

use super::Pair;
use super::pair::Side;
use crate::kernel::messages_in_range;
use crate::{
    AtSize, ECHO, Expects, Kernel, Needs, OverTransfer, Refused, Round, SINK, Seat, Sequence,
    Series, Words,
};

/// M × {store of n bytes with its request; compute for Δ}, then the replies.
///
/// Between two samples the bytes change hands: the requester's core writes what is stored, and the
/// replier's core reads what arrived. Otherwise a second copy of the same bytes would find them in
/// its own cache.
///
/// Marks, in each sample: begin, last store issued, last reply handled.
/// *Source*: "Assessing Fast Network Interfaces", section Bulk transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// Who stores in whose memory.
    pub pair: Pair,
    /// Stores of a sample (M).
    pub messages: u32,
    /// Bytes of each (n).
    pub bytes: usize,
    /// Computation after each store (Δ).
    pub delay: Delay,
}

impl Kernel for Store {
    const NAME: &'static str = "store";
    const SERIES: &'static [Series] = &[Series::between_two("bulk_store")];
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
        let words = u64::from(self.messages) + 1;
        Needs { words, exposed: 2 * self.bytes, ..Needs::default() }
    }

    fn expects(&self, seat: &Seat) -> Expects {
        let (messages, samples) = (u64::from(self.messages), u64::from(seat.samples));
        let stored = |peer| vec![Sequence::of(peer, messages, samples)];
        match self.pair.side(seat.rank) {
            Side::Requester { peer } => {
                Expects::words(vec![Sequence::of(peer, 1, samples)], stored(peer))
            }
            Side::Replier { peer } => Expects::words(stored(peer), vec![]),
            Side::Idle => Expects::default(),
        }
    }
}

impl OverTransfer for Store {
    #[inline(never)]
    fn run<A: Transfer>(&self, am: &mut A, round: Round) -> Result<(), CommError> {
        let (blocks, bytes) = (u64::from(self.messages), self.bytes);
        let words = Words::new(am.rank(), round.turn);
        match self.pair.side(am.rank()) {
            Side::Requester { peer } => {
                let work = Work::Chain(self.delay);
                for _ in 0..round.samples {
                    am.refresh(blocks, bytes)?;
                    am.mark();
                    for index in 0..blocks {
                        am.store(peer, ECHO, index, bytes)?;
                        am.compute(work);
                    }
                    am.mark();
                    am.await_replies()?;
                    am.mark();
                    am.serve(1)?;
                }
                Ok(())
            }
            Side::Replier { peer } => {
                for _ in 0..round.samples {
                    am.serve(blocks)?;
                    am.check(blocks, bytes)?;
                    am.request(peer, SINK, words.word(peer, 0))?;
                    am.await_replies()?;
                }
                Ok(())
            }
            Side::Idle => Ok(()),
        }
    }
}
