//! What became of the ranks of a run after something was done to it.

use std::time::{Duration, Instant};

use crate::processes::Process;

/// Later than it takes to end ranks that are stopped or in the way, on a busy machine.
const LATER: Duration = Duration::from_secs(1);
/// Ranks that have finished end at about the same time: this much apart at most, on a busy machine.
const TOGETHER: Duration = Duration::from_millis(500);

/// The moment at which something was done.
#[derive(Clone, Copy, Debug)]
pub struct Struck {
    /// When.
    pub at: Instant,
    /// Ranks that there were.
    pub ranks: usize,
    /// Whether ranks were at work, or came, later than it takes to end them.
    pub went_on: bool,
    /// Whether one of the ranks that there were was there for so long; those of the next launch do not count.
    pub lasted: bool,
    /// Whether others of the ranks that there were went on for long after the struck one was gone.
    pub outlived: bool,
}

/// Follows the ranks of a run since something was done to it.
#[derive(Debug)]
pub struct After {
    struck: Struck,
    /// The rank that it was done to, if it was one.
    hit: Option<Process>,
    ranks: Vec<Process>,
    gone: Option<Instant>,
}

impl After {
    /// Something was done at `at`, to `hit` or to none of them in particular, while there were these ranks.
    pub fn new(at: Instant, ranks: Vec<Process>, hit: Option<Process>) -> Self {
        let struck =
            Struck { at, ranks: ranks.len(), went_on: false, lasted: false, outlived: false };
        Self { struck, hit, ranks, gone: None }
    }

    /// Takes which ranks there are at `now`.
    pub fn look(&mut self, now: Instant, ranks: &[Process]) {
        // A number may be given to another process; its start tells.
        let is = |one: &Process| {
            ranks.iter().any(|rank| (rank.pid, rank.started) == (one.pid, one.started))
        };
        let later = now.duration_since(self.struck.at) >= LATER;
        self.struck.went_on |= later && !ranks.is_empty();
        self.struck.lasted |= later && self.ranks.iter().any(is);
        let Some(hit) = &self.hit else { return };
        if is(hit) {
            return;
        }
        let gone = *self.gone.get_or_insert(now);
        self.struck.outlived |= now.duration_since(gone) >= TOGETHER && self.ranks.iter().any(is);
    }

    /// What was seen.
    pub fn struck(&self) -> Struck {
        self.struck
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(pid: u32) -> Process {
        Process { pid, parent: 1, used: 0, started: u64::from(pid), stopped: false }
    }

    /// What is seen when these ranks are there so many milliseconds after rank 1 of 1 and 2 was struck.
    fn seen(looks: &[(u64, &[u32])]) -> Struck {
        let at = Instant::now();
        let mut after = After::new(at, vec![rank(1), rank(2)], Some(rank(1)));
        for (millis, there) in looks {
            let there: Vec<Process> = there.iter().map(|pid| rank(*pid)).collect();
            after.look(at + Duration::from_millis(*millis), &there);
        }
        after.struck()
    }

    #[test]
    fn ranks_that_go_on_without_the_struck_one_are_told_from_those_that_end_with_it() {
        let ended = seen(&[(3, &[1, 2]), (6, &[2]), (400, &[2]), (700, &[])]);
        assert!(!ended.outlived && !ended.lasted && !ended.went_on);
        let swallowed = seen(&[(3, &[2]), (600, &[2]), (700, &[])]);
        assert!(swallowed.outlived && !swallowed.lasted);
        // The struck rank takes no notice of the signal.
        let unharmed = seen(&[(3, &[1, 2]), (2000, &[1, 2]), (2003, &[2]), (2300, &[2])]);
        assert!(!unharmed.outlived && unharmed.lasted);
        // The ranks of the next launch are others.
        let replaced = seen(&[(3, &[2]), (200, &[]), (400, &[7, 8]), (3000, &[7, 8])]);
        assert!(!replaced.outlived && !replaced.lasted && replaced.went_on);
    }
}
