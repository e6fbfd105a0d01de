//! From a write to its acknowledgement, and back: twice PCIe.

use std::collections::VecDeque;

use bandgap_stats::Stream;

use super::packet::{Numbers, behind};

/// Packets that may wait for their acknowledgement, at most: sequence numbers tell no more apart. Older ones
/// are given up.
const WAITING: usize = 2047;

/// Without numbers: after so many picoseconds without packets and acknowledgements nothing waits any more.
const QUIET: u64 = 1_000_000;

/// Packets up, and their acknowledgements down.
#[derive(Clone, Debug)]
pub struct Acks {
    numbers: Numbers,
    waiting: VecDeque<Sent>,
    /// Without numbers: packets that may still be acknowledged, whether they wait or not.
    open: u64,
    last: u64,
    /// From write to acknowledgement, in picoseconds.
    pub round_trips: Stream,
    /// Writes that a later one's acknowledgement held for as well, or that nothing tells apart from others.
    pub shared: u64,
    /// Writes that were sent again, or that were given up.
    pub given_up: u64,
    /// Acknowledgements of packets that are not there.
    pub alone: u64,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    number: Option<u64>,
    time: u64,
    /// Whether its acknowledgement counts: it is a completion.
    counts: bool,
}

impl Acks {
    pub(super) fn new(numbers: Numbers) -> Acks {
        Acks {
            numbers,
            waiting: VecDeque::new(),
            open: 0,
            last: 0,
            round_trips: Stream::new(),
            shared: 0,
            given_up: 0,
            alone: 0,
        }
    }

    /// Takes a packet that goes up.
    pub(super) fn sent(&mut self, time: u64, number: Option<u64>, counts: bool) {
        if self.numbers == Numbers::None {
            self.calm(time);
            self.open += 1;
            // Only one that nothing else waits beside is sure of its acknowledgement.
            let before = self.waiting.drain(..).filter(|sent| sent.counts).count() as u64;
            let alone = self.open == 1;
            self.shared += before + u64::from(counts && !alone);
            if alone {
                self.waiting.push_back(Sent { number, time, counts });
            }
            return;
        }
        if let Some(sent) = self.waiting.iter_mut().rev().find(|sent| sent.number == number) {
            // Sent again: which of the two is acknowledged is not known.
            self.given_up += u64::from(sent.counts);
            sent.counts = false;
            return;
        }
        if self.waiting.len() == WAITING {
            let given_up = self.waiting.pop_front().is_some_and(|sent| sent.counts);
            self.given_up += u64::from(given_up);
        }
        self.waiting.push_back(Sent { number, time, counts });
    }

    /// Takes an acknowledgement that goes down.
    pub(super) fn acknowledged(&mut self, time: u64, number: Option<u64>) {
        let found = match (self.numbers, number) {
            (Numbers::None, _) => {
                self.calm(time);
                self.open = self.open.saturating_sub(1);
                self.waiting.pop_front()
            }
            (Numbers::Sequence, Some(number)) => self.up_to(number),
            (Numbers::Tag, Some(_)) => {
                let at = self.waiting.iter().position(|sent| sent.number == number);
                at.and_then(|at| self.waiting.remove(at))
            }
            (_, None) => None,
        };
        match found {
            Some(sent) if sent.counts => self.round_trips.add(time - sent.time),
            Some(_) => {}
            None => self.alone += 1,
        }
    }

    /// Packets that wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Gives up what waits: numbers jumped, and its acknowledgement would be taken for another's.
    pub(super) fn forget(&mut self) {
        self.given_up += self.waiting.drain(..).filter(|sent| sent.counts).count() as u64;
    }

    /// Takes away all packets up to this number; the one that has it.
    fn up_to(&mut self, number: u64) -> Option<Sent> {
        let mut found = None;
        while let Some(sent) = self.waiting.front().copied() {
            let own = match sent.number.map(|own| behind(own, number)) {
                Some(None) => break,
                Some(Some(distance)) => distance == 0,
                None => false,
            };
            self.waiting.pop_front();
            if own {
                found = Some(sent);
            } else {
                self.shared += u64::from(sent.counts);
            }
        }
        found
    }

    /// Without numbers: forgets what was lost, once nothing can be under way.
    fn calm(&mut self, time: u64) {
        if time - self.last > QUIET {
            (self.open, self.waiting) = (0, VecDeque::new());
        }
        self.last = time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trips(acks: &Acks) -> (u64, Option<f64>) {
        (acks.round_trips.count(), acks.round_trips.mean())
    }

    #[test]
    fn an_acknowledgement_holds_for_all_before_it_and_times_the_last() {
        let mut acks = Acks::new(Numbers::Sequence);
        for (time, number) in [(0, 4094), (10, 4095), (20, 0), (30, 1)] {
            acks.sent(time, Some(number), true);
        }
        acks.acknowledged(120, Some(0));
        assert_eq!((trips(&acks), acks.shared), ((1, Some(100.0)), 2));
        acks.acknowledged(130, Some(1));
        assert_eq!(trips(&acks), (2, Some(100.0)));
        // Its packet is not in the trace.
        acks.acknowledged(140, Some(2));
        assert_eq!((trips(&acks).0, acks.alone), (2, 1));
    }

    #[test]
    fn what_is_sent_again_is_not_timed() {
        let mut acks = Acks::new(Numbers::Sequence);
        acks.sent(0, Some(1), true);
        acks.sent(50, Some(1), true);
        acks.acknowledged(100, Some(1));
        assert_eq!((trips(&acks).0, acks.given_up), (0, 1));
    }

    #[test]
    fn tags_are_matched_one_by_one() {
        let mut acks = Acks::new(Numbers::Tag);
        acks.sent(0, Some(70), true);
        acks.sent(10, Some(20), true);
        acks.acknowledged(100, Some(20));
        acks.acknowledged(100, Some(70));
        assert_eq!(trips(&acks), (2, Some(95.0)));
    }

    #[test]
    fn without_numbers_only_what_is_alone_is_timed() {
        let mut acks = Acks::new(Numbers::None);
        let mut at = |time, up: bool| match up {
            true => acks.sent(time, None, true),
            false => acks.acknowledged(time, None),
        };
        at(0, true);
        at(100, false);
        // Two at once, and then one whose acknowledgement is lost: what comes next may be anybody's.
        at(1_000, true);
        at(1_010, true);
        at(1_100, false);
        at(1_110, false);
        at(2_000, true);
        at(3_000, true);
        at(3_100, false);
        // After a while it can be nobody's.
        at(2_000_000, true);
        at(2_000_100, false);
        assert_eq!((trips(&acks), acks.shared), ((2, Some(100.0)), 4));
    }

    #[test]
    fn what_is_never_acknowledged_does_not_fill_the_memory() {
        let mut acks = Acks::new(Numbers::Tag);
        for tag in 0..10_000 {
            acks.sent(tag, Some(tag), true);
        }
        assert_eq!((acks.waiting.len(), acks.given_up), (WAITING, 10_000 - WAITING as u64));
    }
}
