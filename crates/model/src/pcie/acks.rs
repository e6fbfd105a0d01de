//! The time from a write to its acknowledgement, which is twice PCIe.

use std::collections::VecDeque;

use bandgap_stats::Stream;

use super::{ROUND, ahead};

/// Maximum number of packets that wait for an acknowledgement: numbers cannot distinguish more.
const WAITING: usize = (ROUND / 2) as usize - 1;

/// Without numbers: after this many picoseconds without packets and acknowledgements, nothing waits
/// any more.
const QUIET: u64 = 1_000_000;

/// Upstream packets and their acknowledgements.
#[derive(Clone, Debug, Default)]
pub(super) struct Acks {
    waiting: VecDeque<Sent>,
    /// Without numbers: packets that may still be acknowledged, whether they wait or not.
    open: u64,
    last: u64,
    /// Time from completion to acknowledgement, in picoseconds.
    pub round_trips: Stream,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    number: Option<u64>,
    time: u64,
    /// Whether its acknowledgement counts, because it is a completion.
    counts: bool,
}

impl Acks {
    /// Takes an upstream packet; `number` is `Some` if packets have numbers.
    pub fn sent(&mut self, time: u64, number: Option<u64>, counts: bool) {
        if number.is_none() {
            // Only a packet that waits alone can be matched to its acknowledgement.
            self.calm(time);
            self.open += 1;
            self.waiting.clear();
            if self.open > 1 {
                return;
            }
        }
        if self.waiting.len() == WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(Sent { number, time, counts });
    }

    /// Takes a downstream acknowledgement, which covers the packet with this number and all before
    /// it.
    pub fn acknowledged(&mut self, time: u64, number: Option<u64>) {
        let found = match number {
            None => {
                self.calm(time);
                self.open = self.open.saturating_sub(1);
                self.waiting.pop_front()
            }
            Some(number) => self.up_to(number),
        };
        if let Some(sent) = found.filter(|sent| sent.counts) {
            self.round_trips.add(time - sent.time);
        }
    }

    /// Removes all packets up to this number, and returns the one with this number.
    fn up_to(&mut self, number: u64) -> Option<Sent> {
        let mut found = None;
        while let Some(sent) = self.waiting.front().copied() {
            let after = sent.number.map_or(0, |own| ahead(number, own));
            if after >= ROUND / 2 {
                break;
            }
            self.waiting.pop_front();
            found = (after == 0).then_some(sent);
        }
        found
    }

    /// Forgets all waiting packets: since packets are missing or were sent again, an
    /// acknowledgement could be matched to the wrong one.
    pub fn forget(&mut self) {
        self.waiting.clear();
    }

    /// Without numbers: forgets lost packets once nothing can be in flight.
    fn calm(&mut self, time: u64) {
        if time - self.last > QUIET {
            self.open = 0;
            self.waiting.clear();
        }
        self.last = time;
    }
}
