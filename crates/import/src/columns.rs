//! A table of sizes and times, as columns.

use derive_more::Display;

/// A table of sizes and times.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeTable {
    /// The tool that printed it, as its users write it.
    pub tool: &'static str,
    /// What the times are.
    pub timing: Timing,
    /// The rows, in the order of the file.
    pub rows: Vec<SizeRow>,
    /// What a reader should know of how the table was read.
    pub remarks: Vec<Remark>,
}

/// One size and its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeRow {
    /// Line of the file.
    pub line: u64,
    /// Payload bytes of one message, at most 2⁴⁸.
    pub bytes: u64,
    /// Time of one message in nanoseconds, finite and more than 0.
    pub time_ns: f64,
    /// The step in which it is known, in nanoseconds: one unit of the last digit printed, or what the last digit of
    /// its size is worth in time if that is more.
    pub step_ns: f64,
    /// Whether a rate is printed, whose reciprocal it is.
    pub of_rate: bool,
}

impl SizeRow {
    /// How far below its time and how far above it, in nanoseconds, what was rounded to it may lie: half a step, and
    /// of the reciprocal of a rate that is rounded by a share q, q/(1 + q) and q/(1 − q) of the time.
    pub fn rounding(&self) -> [f64; 2] {
        let half = self.step_ns / 2.0;
        let share = if self.of_rate { half / self.time_ns } else { 0.0 };
        // What is printed is at least one unit of its last digit, so that the share is at most a half.
        [half / (1.0 + share), half / (1.0 - share.min(0.5))]
    }
}

/// What a time in a table is.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq)]
pub enum Timing {
    /// Whatever the author of the CSV file meant.
    #[display("times as given")]
    AsGiven,
    /// Half the round trip of a ping-pong.
    #[display("half round trips")]
    HalfRoundTrip,
    /// The time of a simultaneous exchange.
    #[display("times of an exchange")]
    Exchange,
    /// The time between messages of a stream.
    #[display("times between messages of a stream")]
    Stream,
    /// A whole round trip, as of a read or an atomic operation.
    #[display("whole round trips")]
    RoundTrip,
    /// A one-sided operation until it is complete.
    #[display("times of a one-sided operation and its completion")]
    Completed,
    /// An operation of all ranks together.
    #[display("times of an operation of all ranks")]
    Collective,
}

/// What a reader should know of how a table was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The file does not name its test: the times are taken for those of this one.
    Assumed(&'static str),
    /// Other tests are in the file that cannot be read, and are left out.
    LeftOut(Vec<String>),
    /// Other tests are in the file that can be chosen, by these names.
    Others(Vec<String>),
    /// What the times are is true under a condition, or they are one of several columns.
    Caveat(String),
    /// One of so many runs is read.
    Run(u64, u64),
    /// So many runs are read as repetitions.
    Repetitions(u64),
    /// A command line names no size: the tool's own default is taken, in bytes.
    DefaultSize(u64),
}

/// What to read of a file that holds several things.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The test, by the name in the file or its program's; otherwise the first that is read.
    pub test: Option<String>,
    /// The run of it.
    pub run: Run,
}

/// Which run of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Run {
    /// There must be one only.
    #[default]
    Only,
    /// The one with this number, from 1.
    Number(u64),
    /// All, as repetitions.
    All,
}
