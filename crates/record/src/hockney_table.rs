//! Reads tables of message sizes and times that others measured, for a fit of t(n) = t0 + n/r∞.
//!
//! Either CSV with the columns `bytes` and one of `time_ns`, `time_us`, `time_ms`, `time_s` (in any
//! order; columns that name a series, such as `transport`, must not change; further columns, blank
//! lines and lines that begin with `#` are ignored; rows of one size are repetitions), or the text that one of these tools printed. The tool is recognised by what it
//! printed, never by the file's name.
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
//! Sizes are payload bytes, at most 2⁴⁸, and may be 0; times are finite and more than 0. A tool's
//! output has each size once. What else the tool's numbers need to be understood is in the notes.

mod columns;
mod fabric;
mod imb;
mod netpipe;
mod npout;
mod osu;
mod rows;
mod sockperf;
mod text;
mod ucx;
mod ucx_csv;

use std::io::Read;

use bandgap_units::Ns;

use crate::TableError;
use text::{Line, Text};

/// A table of sizes and times.
#[derive(Clone, Debug, PartialEq)]
pub struct HockneyTable {
    /// Who printed it.
    pub source: Tool,
    /// What the times are.
    pub timing: Timing,
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

/// Who printed a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tool {
    /// CSV with named columns.
    Csv,
    /// OSU micro-benchmarks, `osu_latency`.
    OsuLatency,
    /// OSU micro-benchmarks, `osu_bw`.
    OsuBandwidth,
    /// Intel MPI Benchmarks, PingPong or PingPing.
    Imb,
    /// NetPIPE, the lines it prints or its `np.out`.
    NetPipe,
    /// UCX, `ucx_perftest`.
    UcxPerftest,
    /// libfabric, `fi_pingpong` or another program with its columns.
    FiPingpong,
    /// sockperf.
    Sockperf,
}

impl Tool {
    /// The name as its users write it.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Csv => "CSV",
            Tool::OsuLatency => "osu_latency",
            Tool::OsuBandwidth => "osu_bw",
            Tool::Imb => "IMB",
            Tool::NetPipe => "NetPIPE",
            Tool::UcxPerftest => "ucx_perftest",
            Tool::FiPingpong => "fi_pingpong",
            Tool::Sockperf => "sockperf",
        }
    }
}

/// What a time in a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
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

/// A text format: how to tell it, and how to read it.
struct Format {
    name: &'static str,
    /// Whether a line is one that no other tool prints.
    tells: fn(&str) -> bool,
    read: fn(&Text) -> Result<HockneyTable, TableError>,
}

const FORMATS: [Format; 7] = [
    Format { name: "OSU micro-benchmarks", tells: osu::tells, read: osu::read },
    Format { name: "IMB", tells: imb::tells, read: imb::read },
    Format { name: "NetPIPE", tells: netpipe::tells, read: netpipe::read },
    Format { name: "ucx_perftest", tells: ucx::tells, read: ucx::read },
    Format { name: "ucx_perftest's CSV", tells: ucx_csv::tells, read: ucx_csv::read },
    Format { name: "fi_pingpong", tells: fabric::tells, read: fabric::read },
    Format { name: "sockperf", tells: sockperf::tells, read: sockperf::read },
];

const KNOWN: &str = "CSV with the columns bytes,time_ns; the output of osu_latency, osu_bw, IMB \
                     PingPong, NetPIPE, ucx_perftest, fi_pingpong, sockperf";

/// Reads a table of sizes and times, whatever of the known formats it is in.
///
/// # Errors
/// Every defect is one, with its line: the file is taken whole or not at all.
pub fn read_hockney_table(source: impl Read) -> Result<HockneyTable, TableError> {
    let text = Text::read(source)?;
    if let Some(header) = text.lines.iter().find(|line| !crate::table_lines::is_comment(&line.text))
        && columns::tells(&header.text)
    {
        return columns::read(&text);
    }
    let first = |format: &'static Format| {
        let line = text.lines.iter().find(|line| (format.tells)(&line.text))?;
        Some((line.number, format))
    };
    let mut found: Vec<(u64, &Format)> = FORMATS.iter().filter_map(first).collect();
    found.sort_by_key(|(line, _)| *line);
    match found.as_slice() {
        [(_, format)] => (format.read)(&text),
        [] if npout::tells(&text) => npout::read(&text),
        [] => Err(unknown(&text)),
        [(first, before), (line, after), ..] => Err(TableError::Mixed {
            line: *line,
            found: format!("the output of {}", after.name),
            before: format!("that of {}", before.name),
            first: *first,
            advice: "give one tool's output at a time",
        }),
    }
}

/// What is there instead of a table.
fn unknown(text: &Text) -> TableError {
    const SHOWN: usize = 2;
    let mut written = text.lines.iter().filter(|line| !line.text.trim().is_empty()).peekable();
    if written.peek().is_none() {
        return TableError::Empty { expected: KNOWN };
    }
    let quote = |line: &Line| format!("'{}'", crate::table_error::shortened(line.text.trim()));
    let begin = written.take(SHOWN).map(quote).collect::<Vec<_>>().join(", ");
    TableError::Unrecognised { begin, known: KNOWN }
}

#[cfg(test)]
mod tests;
