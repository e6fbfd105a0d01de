//! Compares the words of requests and replies with what peers must have sent.

use std::collections::BTreeSet;

use bandgap_comm::{Rank, Word};

use crate::outcome::Counted;
use crate::{Flaw, Sequence, Words};

/// Words of one kind that a rank must receive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected<'a> {
    /// The rank that received them.
    pub(super) rank: Rank,
    pub(super) turn: u64,
    /// Whether they come in replies, which carry the complement of this rank's word.
    pub(super) reply: bool,
    pub(super) sequences: &'a [Sequence],
}

impl Expected<'_> {
    fn of(&self) -> Counted {
        if self.reply { Counted::Replies } else { Counted::Requests }
    }

    /// Expected number of words.
    pub(super) fn count(&self) -> u64 {
        self.sequences.iter().map(Sequence::words).sum()
    }

    fn words(&self, peer: Rank) -> (Words, Rank) {
        match self.reply {
            false => (Words::new(peer, self.turn), self.rank),
            true => (Words::new(self.rank, self.turn), peer),
        }
    }

    fn sum(&self) -> u64 {
        let sums = self.sequences.iter().map(|sequence| {
            let Sequence { peer, first, step, count, times } = *sequence;
            let (words, to) = self.words(peer);
            let sum = words.sum(to, first, step, count).wrapping_mul(times);
            // A complement is −1 − w.
            if self.reply { sequence.words().wrapping_add(sum).wrapping_neg() } else { sum }
        });
        sums.fold(0, u64::wrapping_add)
    }

    fn expected(&self, peer: Rank) -> impl Iterator<Item = Word> {
        let (words, to) = self.words(peer);
        let reply = self.reply;
        let of_peer = self.sequences.iter().filter(move |sequence| sequence.peer == peer);
        of_peer.flat_map(move |sequence| {
            let Sequence { first, step, count, times, .. } = *sequence;
            (0..times).flat_map(move |_| {
                (0..count).map(move |k| {
                    let word = words.word(to, first.wrapping_add(k.wrapping_mul(step)));
                    if reply { !word } else { word }
                })
            })
        })
    }

    /// The error in their number or their sum, if any.
    pub(super) fn compare_sum(&self, got: u64, got_sum: u64) -> Option<Flaw> {
        let (count, sum) = (self.count(), self.sum());
        if got != count {
            return Some(Flaw::Count { of: self.of(), from: None, expected: count, got });
        }
        let flaw = Flaw::Sum { reply: self.reply, expected: sum, got: got_sum };
        (sum != got_sum).then_some(flaw)
    }

    /// The first error in the words in `log`, if any. Words from each sender must be in order.
    pub(super) fn compare_each(&self, log: &[(Rank, Word)]) -> Option<Flaw> {
        let peers = self.sequences.iter().map(|sequence| sequence.peer);
        let all: BTreeSet<Rank> = peers.chain(log.iter().map(|(from, _)| *from)).collect();
        all.into_iter().find_map(|peer| self.compare_peer(peer, log))
    }

    fn compare_peer(&self, source: Rank, log: &[(Rank, Word)]) -> Option<Flaw> {
        let of_peer = || log.iter().filter(|(from, _)| *from == source).map(|(_, word)| *word);
        let pairs = self.expected(source).zip(of_peer()).zip(0..);
        let wrong = pairs.filter(|((expected, got), _)| expected != got).map(|(pair, message)| {
            let (expected, got) = pair;
            Flaw::Word { from: source, reply: self.reply, message, expected, got }
        });
        wrong.into_iter().next().or_else(|| {
            let (expected, got) = (self.expected(source).count() as u64, of_peer().count() as u64);
            let flaw = Flaw::Count { of: self.of(), from: Some(source), expected, got };
            (expected != got).then_some(flaw)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequences() -> Vec<Sequence> {
        vec![
            Sequence { peer: 1, first: 2, step: 3, count: 4, times: 2 },
            Sequence::of(2, 3, 1),
            Sequence::of(1, 2, 1),
        ]
    }

    /// What arrives at rank 0, the sources interleaved.
    fn log(reply: bool) -> Vec<(Rank, Word)> {
        let word = |from: Rank, index| match reply {
            false => (from, Words::new(from, 9).word(0, index)),
            true => (from, !Words::new(0, 9).word(from, index)),
        };
        let first = [2, 5, 8, 11, 2, 5, 8, 11, 0, 1].map(|index| word(1, index));
        let second = [0, 1, 2].map(|index| word(2, index));
        [&first[..4], &second[..2], &first[4..], &second[2..]].concat()
    }

    fn words(reply: bool, sequences: &[Sequence]) -> Expected<'_> {
        Expected { rank: 0, turn: 9, reply, sequences }
    }

    fn sum(log: &[(Rank, Word)]) -> u64 {
        log.iter().fold(0, |sum, (_, word)| sum.wrapping_add(*word))
    }

    #[test]
    fn words_that_must_come_are_right_in_any_order_of_their_sources() {
        for reply in [false, true] {
            let (sequences, log) = (sequences(), log(reply));
            let words = words(reply, &sequences);
            assert_eq!(words.compare_each(&log), None);
            assert_eq!(words.compare_sum(13, sum(&log)), None);
        }
    }

    #[test]
    fn every_change_of_the_log_is_seen_and_names_source_and_message() {
        let sequences = sequences();
        let words = words(false, &sequences);
        let right = log(false);
        for at in 0..right.len() {
            let mut missing = right.clone();
            missing.remove(at);
            assert!(words.compare_each(&missing).is_some(), "{at}");
            assert!(words.compare_sum(12, sum(&missing)).is_some());
            let mut twice = right.clone();
            twice.insert(at, right[at]);
            assert!(words.compare_each(&twice).is_some(), "{at}");
            let mut stranger = right.clone();
            stranger[at].0 = 3;
            assert!(words.compare_each(&stranger).is_some(), "{at}");
            let mut flipped = right.clone();
            flipped[at].1 ^= 1 << 40;
            assert!(words.compare_sum(13, sum(&flipped)).is_some());
            let source = flipped[at].0;
            let before = right[..at].iter().filter(|(from, _)| *from == source).count() as u64;
            let Some(Flaw::Word { from: named, message, expected, got, .. }) =
                words.compare_each(&flipped)
            else {
                panic!("{at}");
            };
            assert_eq!((named, message), (source, before));
            assert_eq!(expected ^ got, 1 << 40);
        }
        // Words 1 and 2 swapped: the sum is the same.
        let mut swapped = right.clone();
        swapped.swap(1, 2);
        assert!(words.compare_each(&swapped).is_some());
        assert_eq!(words.compare_sum(13, sum(&swapped)), None);
    }
}
