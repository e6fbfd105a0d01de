//! Exit codes, one for each class of outcome.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// How the program ends; `docs/exit-codes.md` is the reference. Graver outcomes are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Exit {
    /// The results asked for are there.
    Fine = 0,
    /// A verdict that was asked for is negative.
    Doubtful = 1,
    /// A result asked for is not there, since too little was measured.
    Missing = 8,
    /// The command line is wrong.
    Usage = 2,
    /// A file that was to be read is wrong.
    Input = 3,
    /// A schedule that was to be simulated cannot end.
    Endless = 11,
    /// A result could not be written.
    Output = 4,
    /// A rank's process ended early.
    Rank = 5,
    /// Communication between ranks failed: deadline, connection, garbage.
    Communication = 6,
    /// The machine refused: processes, memory, processors, clock.
    Host = 7,
    /// Another host, or whoever starts ranks there, refused or was lost.
    Remote = 10,
    /// A defect of bandgap itself.
    Defect = 70,
    /// Stopped by a signal; what was measured is kept.
    Interrupted = 130,
}

impl Exit {
    /// All of them with a word for each, the gravest last.
    pub const ALL: [(Self, &'static str); 13] = [
        (Self::Fine, "fine"),
        (Self::Doubtful, "doubtful"),
        (Self::Missing, "missing"),
        (Self::Usage, "usage"),
        (Self::Input, "input"),
        (Self::Endless, "endless"),
        (Self::Output, "output"),
        (Self::Rank, "rank died"),
        (Self::Communication, "communication"),
        (Self::Host, "host"),
        (Self::Remote, "another host"),
        (Self::Defect, "defect"),
        (Self::Interrupted, "interrupted"),
    ];

    fn gravity(self) -> Option<usize> {
        Self::ALL.iter().position(|(exit, _)| *exit == self)
    }
}

impl PartialOrd for Exit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Exit {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gravity().cmp(&other.gravity())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_less_grave_than_what_failed() {
        assert!(Exit::Doubtful < Exit::Missing && Exit::Missing < Exit::Rank);
        assert_eq!(Exit::Missing.max(Exit::Interrupted), Exit::Interrupted);
    }
}
