//! Exit codes, one for each class of outcome.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};

/// The outcome of the program; `docs/exit-codes.md` is the reference. Graver outcomes are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Exit {
    /// The requested results are there.
    Fine,
    /// A requested verdict is negative.
    Doubtful,
    /// A requested result is missing because too little was measured.
    Missing,
    /// Two runs have set-ups that do not compare.
    Setups,
    /// The command line is wrong.
    Usage,
    /// An input file is wrong.
    Input,
    /// A simulated schedule cannot end.
    Endless,
    /// Writing a result failed.
    Output,
    /// A rank's process ended early.
    Rank,
    /// Communication between ranks failed: deadline, connection, garbage.
    Communication,
    /// The machine refused processes, memory, processors or a clock.
    Host,
    /// Another host, or the launcher of its ranks, refused or was lost.
    Remote,
    /// A bug in bandgap.
    Defect,
    /// A signal stopped the run; what was measured is kept.
    Interrupted,
}

impl Exit {
    /// All outcomes by gravity, each with its exit code and a word for it.
    pub const ALL: [(Self, u8, &'static str); 14] = [
        (Self::Fine, 0, "fine"),
        (Self::Doubtful, 1, "doubtful"),
        (Self::Missing, 8, "missing"),
        (Self::Setups, 9, "set-ups"),
        (Self::Usage, 2, "usage"),
        (Self::Input, 3, "input"),
        (Self::Endless, 11, "endless"),
        (Self::Output, 4, "output"),
        (Self::Rank, 5, "rank died"),
        (Self::Communication, 6, "communication"),
        (Self::Host, 7, "host"),
        (Self::Remote, 10, "another host"),
        (Self::Defect, 70, "defect"),
        (Self::Interrupted, 130, "interrupted"),
    ];

    /// The exit code.
    pub fn code(self) -> u8 {
        Self::ALL[self as usize].1
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_less_grave_than_what_failed() {
        assert!(Exit::Doubtful < Exit::Missing && Exit::Missing < Exit::Rank);
        assert_eq!(Exit::Missing.max(Exit::Interrupted), Exit::Interrupted);
        let in_order = Exit::ALL.iter().enumerate().all(|(at, (exit, ..))| *exit as usize == at);
        assert!(in_order && Exit::Interrupted.code() == 130);
    }
}
