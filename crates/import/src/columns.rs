//! A table of sizes and times, as columns.

use derive_more::Display;

/// A table of sizes and times.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeTable {
    /// The tool that printed it, as its users write it.
    pub tool: &'static str,
    /// Meaning of the times.
    pub timing: Timing,
    /// The rows, in the order of the file.
    pub rows: Vec<SizeRow>,
    /// Notes for the reader on how the table was read.
    pub remarks: Vec<Remark>,
}

/// One size and its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeRow {
    /// Line number in the file.
    pub line: u64,
    /// Payload bytes of one message, at most 2⁴⁸.
    pub bytes: u64,
    /// Time of one message in nanoseconds, finite and more than 0.
    pub time_ns: f64,
    /// Resolution of the time in nanoseconds: one unit of its last printed digit, or the time that
    /// corresponds to one unit of the size's last digit, whichever is larger.
    pub step_ns: f64,
    /// Whether the tool printed a rate, so that the time is its reciprocal.
    pub of_rate: bool,
}

impl SizeRow {
    /// How far the exact time may lie below and above `time_ns`, in nanoseconds: half a step each.
    /// For the reciprocal of a rate rounded by a share q of itself: q/(1 + q) and q/(1 − q) of the
    /// time.
    pub fn rounding(&self) -> [f64; 2] {
        let half = self.step_ns / 2.0;
        let share = if self.of_rate { half / self.time_ns } else { 0.0 };
        // A printed number is at least one unit of its last digit, so the share is at most a half.
        [half / (1.0 + share), half / (1.0 - share.min(0.5))]
    }
}

/// Meaning of a time in a table.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq)]
pub enum Timing {
    /// Unspecified: the author of the CSV file knows.
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
    /// A whole round trip, such as of a read or an atomic operation.
    #[display("whole round trips")]
    RoundTrip,
    /// A one-sided operation, including its completion.
    #[display("times of a one-sided operation and its completion")]
    Completed,
    /// A collective operation of all ranks.
    #[display("times of an operation of all ranks")]
    Collective,
}

/// A note on how a table was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The file does not name its test; the reader assumed this one.
    Assumed(&'static str),
    /// The file has these other tests, which cannot be read.
    LeftOut(Vec<String>),
    /// The file has these other readable tests, by the names to choose them with.
    Others(Vec<String>),
    /// A condition under which the times have this meaning, or the column that was chosen among
    /// several.
    Caveat(String),
    /// Number of the run that was read, and how many runs the file has.
    Run(u64, u64),
    /// How many runs were read as repetitions.
    Repetitions(u64),
    /// The command line names no size, so the tool's default is used, in bytes.
    DefaultSize(u64),
}

/// What to read from a file that holds several tests or runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The test, by its name in the file or the name of its program; if none, the first readable
    /// one.
    pub test: Option<String>,
    /// The run of that test.
    pub run: Run,
}

/// Which run of a test to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Run {
    /// The only one; several are an error.
    #[default]
    Only,
    /// The run with this number, from 1.
    Number(u64),
    /// All runs, as repetitions.
    All,
}
