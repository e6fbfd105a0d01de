//! Reads tables of message sizes and times that others measured, for a fit of t(n) = t0 + n/r∞.
//!
//! A table is CSV, or the text that a tool printed. CSV has the columns `bytes` and one of `time_ns`,
//! `time_us`, `time_ms`, `time_s`, in any order. Columns that name a series, such as `transport`, must
//! not change. `operation_messages`, if it is there, is how many messages an operation moves in its time.
//! Other columns, blank lines and lines that begin with `#` are ignored. Rows of one size
//! are repetitions.
//!
//! These tools are known, each by what it prints, never by the file's name. `DIALECTS` in `dialects`
//! has a row for each; a further tool is a further row.
//!
//! | tool | number taken | what it is |
//! |---|---|---|
//! | osu_latency | (average) latency, µs | half the round trip of a ping-pong |
//! | osu_bw | bandwidth, MB/s of 10⁶ bytes; time = bytes / bandwidth | a stream: windows of sends, one answer for each window |
//! | IMB PingPong | `t[usec]` | half the round trip of a ping-pong |
//! | IMB PingPing | `t[usec]` | both ranks send at the same time |
//! | NetPIPE, its lines or `np.out` | time, µs or s | half the round trip of a ping-pong (unless streaming was asked for) |
//! | ucx_perftest `…_lat` | overall latency, µs | half the round trip of a ping-pong |
//! | ucx_perftest `…_bw` | overall overhead, µs | a stream: time between sends |
//! | fi_pingpong | `usec/xfer` | half the round trip of a ping-pong |
//! | sockperf | average latency, µs; its full round trips are halved | half the round trip of a ping-pong |
//!
//! Sizes are payload bytes, at most 2⁴⁸, and may be 0. Times are finite and more than 0. A tool's
//! output has each size once. The notes say what else a reader must know of the tool's numbers.

mod csv;
mod dialects;
mod headed;
mod imb;
mod netpipe;
mod sockperf;
mod table;
mod text;
mod ucx;

use std::io::Read;

use bandgap_units::Ns;

use crate::TableError;
use crate::table_error::shortened;
use crate::table_lines::Line;
use dialects::{DIALECTS, Dialect};
use table::Table;

/// A table of sizes and times.
#[derive(Clone, Debug, PartialEq)]
pub struct HockneyTable {
    /// The tool that printed it, as its users write it.
    pub tool: &'static str,
    /// What the times are.
    pub timing: Timing,
    /// Messages that an operation moves in such a time, where the table says it; 1 otherwise.
    pub messages: u64,
    /// The rows, in the order of the file.
    pub rows: Vec<HockneyRow>,
    /// What a reader of the fit should know, as sentences.
    pub notes: Vec<String>,
}

/// One size and its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HockneyRow {
    /// Line of the file.
    pub line: u64,
    /// Payload bytes of one message.
    pub bytes: u64,
    /// Time of one message.
    pub time: Ns,
    /// The step in which it is known: one unit of its last digit, or what the last digit of its size
    /// is worth in time if that is more.
    pub step: Ns,
}

/// What a time in a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timing {
    /// Whatever the author of the CSV file meant.
    AsGiven,
    /// Half the round trip of a ping-pong.
    HalfRoundTrip,
    /// The time of a simultaneous exchange.
    Exchange,
    /// The time between messages of a stream.
    Stream,
}

impl Timing {
    /// The same in words.
    pub fn name(self) -> &'static str {
        match self {
            Timing::AsGiven => "times as given",
            Timing::HalfRoundTrip => "half round trips",
            Timing::Exchange => "times of an exchange",
            Timing::Stream => "times between messages of a stream",
        }
    }
}

const KNOWN: &str = "CSV with the columns bytes,time_ns; the output of osu_latency, osu_bw, IMB \
                     PingPong, NetPIPE, ucx_perftest, fi_pingpong, sockperf";

/// Reads a table of sizes and times, whatever of the known formats it is in.
///
/// # Errors
/// Every defect is one, with its line: the file is taken whole or not at all.
pub fn read_hockney_table(source: impl Read) -> Result<HockneyTable, TableError> {
    let lines = text::read(source)?;
    let mut table = Table::default();
    let header = lines.iter().find(|line| !line.is_comment());
    if header.is_some_and(csv::tells) {
        csv::read(&lines, &mut table)?;
    } else if let Some(dialect) = dialect(&lines)? {
        (dialect.read)(&lines, &mut table)?;
    } else if let Some(units) = netpipe::units(&lines) {
        netpipe::read_np_out(&lines, units, &mut table)?;
    } else {
        return Err(unknown(&lines));
    }
    table.finish()
}

/// The one tool whose lines are there, if one is.
fn dialect(lines: &[Line]) -> Result<Option<&'static Dialect>, TableError> {
    let first = |dialect: &'static Dialect| {
        Some((lines.iter().find(|line| (dialect.tells)(line))?, dialect))
    };
    let mut found: Vec<(&Line, &Dialect)> = DIALECTS.iter().filter_map(first).collect();
    found.sort_by_key(|(line, _)| line.number);
    match found.as_slice() {
        [(first, before), (line, after), ..] => {
            let (found, before) =
                (format!("the output of {}", after.name), format!("that of {}", before.name));
            Err(line.mixed(&found, &before, first.number, "give one tool's output at a time"))
        }
        found => Ok(found.first().map(|(_, dialect)| *dialect)),
    }
}

/// What is there instead of a table.
fn unknown(lines: &[Line]) -> TableError {
    let written = lines.iter().map(|line| line.text.trim()).filter(|text| !text.is_empty());
    let begin: Vec<String> = written.take(2).map(|text| format!("'{}'", shortened(text))).collect();
    match begin.is_empty() {
        true => TableError::Empty { expected: KNOWN },
        false => TableError::Unrecognised { begin: begin.join(", "), known: KNOWN },
    }
}

#[cfg(test)]
mod tests;
