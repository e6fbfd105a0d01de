//! The state that the handlers of a rank work on.

use bandgap_comm::passing::{HoldsMail, Mail};
use bandgap_comm::{Rank, Word};

use crate::mailbox::Mailbox;

/// What the handlers of programs count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests handled.
    pub served: u64,
    /// Sum of the words of those requests, modulo 2⁶⁴.
    pub served_sum: u64,
    /// Replies handled.
    pub replies: u64,
    /// Sum of the words of those replies, modulo 2⁶⁴.
    pub reply_sum: u64,
    /// Whether every word is noted in the [`Log`] as well.
    pub logging: bool,
}

/// The words that arrived while [`Tally::logging`] was set, each with the rank that it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// Words of requests, in the order of their handling.
    pub requests: Vec<(Rank, Word)>,
    /// Words of replies, likewise.
    pub replies: Vec<(Rank, Word)>,
    /// Words of each kind that are noted at most; a peer that sends more is noticed by the counts.
    pub most: usize,
}

impl Log {
    /// Forgets all words, and makes room for so many of each kind.
    pub(crate) fn begin(&mut self, most: usize) {
        self.requests.clear();
        self.replies.clear();
        self.requests.reserve(most);
        self.replies.reserve(most);
        self.most = most;
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn note(&mut self, reply: bool, from: Rank, word: Word) {
        let words = if reply { &mut self.replies } else { &mut self.requests };
        if words.len() < self.most {
            words.push((from, word));
        }
    }
}

/// The state of one rank's handlers: those of programs, of the mailbox and of message passing.
#[derive(Debug)]
pub struct RankState {
    /// Counts of the programs' handlers.
    pub tally: Tally,
    /// What they note while a batch is checked.
    pub log: Log,
    /// Bytes that other ranks have sent, beside all measurement.
    pub(crate) mailbox: Mailbox,
    /// The last meeting that each rank has come to.
    pub(crate) met: Vec<Word>,
    pub(crate) mail: Mail,
}

impl HoldsMail for RankState {
    #[inline(always)]
    fn mail(&self) -> &Mail {
        &self.mail
    }

    #[inline(always)]
    fn mail_mut(&mut self) -> &mut Mail {
        &mut self.mail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_keeps_the_first_words_of_each_kind_up_to_its_most() {
        let mut log = Log::default();
        log.note(false, 1, 10);
        assert_eq!(log, Log::default());
        for most in [2, 0, 3] {
            log.begin(most);
            for word in 0..5 {
                log.note(false, 1, word);
                log.note(true, 2, 10 * word);
            }
            let first =
                |from, step| (0..most as Word).map(|k| (from, step * k)).collect::<Vec<_>>();
            assert_eq!((&log.requests, &log.replies), (&first(1, 1), &first(2, 10)));
        }
    }
}
