//! State of a rank's handlers.

use bandgap_comm::passing::{HoldsMail, Mail};
use bandgap_comm::{Rank, Word};

use crate::mailbox::Mailbox;

/// Counts kept by the handlers of programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests handled.
    pub served: u64,
    /// Sum of the words of handled requests, modulo 2⁶⁴.
    pub served_sum: u64,
    /// Replies handled.
    pub replies: u64,
    /// Sum of the words of handled replies, modulo 2⁶⁴.
    pub reply_sum: u64,
    /// Whether every word is also noted in the [`Log`].
    pub logging: bool,
}

/// Words that arrived while [`Tally::logging`] was set, each with its sender.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// Words of requests, in the order in which they were handled.
    pub requests: Vec<(Rank, Word)>,
    /// Words of replies, likewise.
    pub replies: Vec<(Rank, Word)>,
    /// Largest number of words of each kind that are noted. If a peer sends more, the counts show
    /// it.
    pub most: usize,
}

impl Log {
    /// Forgets all words, and makes room for `most` of each kind.
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

/// State of one rank's handlers: those of programs, of the mailbox and of message passing.
#[derive(Debug)]
pub struct RankState {
    /// Counts of the programs' handlers.
    pub tally: Tally,
    /// Words noted while a batch is checked.
    pub log: Log,
    /// Letters that other ranks have sent.
    pub(crate) mailbox: Mailbox,
    /// The last meeting that each rank has reached.
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
