//! Exit codes, one for each class of outcome.

use serde::{Deserialize, Serialize};

/// How the program ends; `docs/exit-codes.md` is the reference. Graver outcomes are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Exit {
    /// All fine.
    Fine = 0,
    /// Measured, with findings: an estimate that did not converge, a grade that warns.
    Findings = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A file that was to be read is wrong.
    Input = 3,
    /// A result could not be written.
    Output = 4,
    /// A rank's process ended early.
    Rank = 5,
    /// Communication between ranks failed: deadline, connection, garbage.
    Communication = 6,
    /// The machine refused: processes, memory, processors, clock.
    Host = 7,
    /// A defect of bandgap itself.
    Defect = 70,
    /// Stopped by a signal; what was measured is kept.
    Interrupted = 130,
}

impl Exit {
    /// All of them with a word for each, for the documentation and its test.
    pub const ALL: [(Self, &'static str); 10] = [
        (Self::Fine, "fine"),
        (Self::Findings, "findings"),
        (Self::Usage, "usage"),
        (Self::Input, "input"),
        (Self::Output, "output"),
        (Self::Rank, "rank died"),
        (Self::Communication, "communication"),
        (Self::Host, "host"),
        (Self::Defect, "defect"),
        (Self::Interrupted, "interrupted"),
    ];
}
