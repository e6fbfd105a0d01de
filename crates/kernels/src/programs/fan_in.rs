//! Several requesters that send to one replier.

use bandgap_comm::{Am, Delay, Result, Work};
use serde::{Deserialize, Serialize};

use crate::{
    ECHO, Expects, Kernel, Needs, OverAm, Refused, Round, SINK, Samples, Seat, Sequence, Stamps,
    Words, messages_in_range,
};

/// Ranks 1 to K send requests to rank 0 without pause: a contended stream. They begin when rank 0
/// tells them to. Rank 0 times; a sample is the time in which it handles K·M requests.
///
/// Marks of rank 0: one at each border between samples, and at both ends.
/// *Source*: "Assessing Fast Network Interfaces", table 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FanIn {
    /// Number of requesters (K).
    pub requesters: usize,
    /// Requests from each requester in a sample (M).
    pub messages: u32,
    /// Computation after each request (Δ).
    pub delay: Delay,
}

/// Untimed samples before the first timed one and after the last. The stream must be steady when
/// timing begins, and every requester must still be sending when it ends.
const MARGIN: u64 = 1;

impl FanIn {
    /// Requests from each requester in a batch.
    fn requests(&self, samples: u32) -> u64 {
        (u64::from(samples) + 2 * MARGIN) * u64::from(self.messages)
    }
}

impl Kernel for FanIn {
    const NAME: &'static str = "fan_in";

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, 0)?;
        let Self { requesters, .. } = self;
        Refused::unless((1..size).contains(requesters), || {
            format!("{requesters} requesters and a replier do not fit into {size} ranks")
        })
    }

    fn needs(&self, _size: usize) -> Needs {
        let words = self.requests(1).saturating_mul(self.requesters as u64);
        Needs { words, ..Needs::default() }
    }

    fn expects(&self, seat: &Seat) -> Expects {
        let words = |peer| Sequence::of(peer, self.requests(seat.samples), 1);
        match seat.rank {
            0 => Expects::words((1..=self.requesters).map(words).collect(), vec![]),
            rank if rank <= self.requesters => {
                Expects::words(vec![Sequence::of(0, 1, 1)], vec![words(0)])
            }
            _ => Expects::default(),
        }
    }

    fn samples(&self, _size: usize, stamps: &Stamps) -> Samples {
        Samples::of_borders(stamps, 0)
    }
}

impl OverAm for FanIn {
    #[inline(never)]
    fn run<A: Am>(&self, am: &mut A, round: Round) -> Result<()> {
        match am.rank() {
            0 => {
                // Requests that arrived before rank 0 looks would be handled before it times, so it
                // starts the requesters.
                let words = Words::new(0, round.turn);
                for rank in 1..=self.requesters {
                    am.request(rank, SINK, words.word(rank, 0))?;
                }
                let share = self.requesters as u64 * u64::from(self.messages);
                am.serve(MARGIN * share)?;
                am.mark();
                for _ in 0..round.samples {
                    am.serve(share)?;
                    am.mark();
                }
                am.serve(MARGIN * share)?;
                am.await_replies()
            }
            rank if rank <= self.requesters => {
                let (words, work) = (Words::new(rank, round.turn), Work::Chain(self.delay));
                am.serve(1)?;
                for index in 0..self.requests(round.samples) {
                    am.request(0, ECHO, words.word(0, index))?;
                    am.compute(work);
                }
                am.await_replies()
            }
            _ => Ok(()),
        }
    }
}
