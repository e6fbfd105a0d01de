//! From a write to its acknowledgement, and back: twice PCIe.

use std::collections::VecDeque;

use bandgap_stats::Stream;

use super::{ROUND, ahead};

/// Packets that may wait for their acknowledgement, at most: numbers tell no more apart.
const WAITING: usize = (ROUND / 2) as usize - 1;

/// Without numbers: after so many picoseconds without packets and acknowledgements nothing waits any more.
const QUIET: u64 = 1_000_000;

/// Packets up, and their acknowledgements down.
#[derive(Clone, Debug, Default)]
pub(super) struct Acks {
    waiting: VecDeque<Sent>,
    /// Without numbers: packets that may still be acknowledged, whether they wait or not.
    open: u64,
    last: u64,
    /// From completion to acknowledgement, in picoseconds.
    pub round_trips: Stream,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    number: Option<u64>,
    time: u64,
    /// Whether its acknowledgement counts: it is a completion.
    counts: bool,
}

impl Acks {
    /// Takes a packet that goes up; `number` where packets have one.
    pub fn sent(&mut self, time: u64, number: Option<u64>, counts: bool) {
        if number.is_none() {
            // Only one that nothing else waits beside is sure of its acknowledgement.
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

    /// Takes an acknowledgement that goes down, of the packet of this number and all before it.
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

    /// Takes away all packets up to this number; the one that has it.
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

    /// Forgets what waits: packets are missing, or were sent again, and an acknowledgement would be taken for another's.
    pub fn forget(&mut self) {
        self.waiting.clear();
    }

    /// Without numbers: forgets what was lost, once nothing can be under way.
    fn calm(&mut self, time: u64) {
        if time - self.last > QUIET {
            self.open = 0;
            self.waiting.clear();
        }
        self.last = time;
    }
}
