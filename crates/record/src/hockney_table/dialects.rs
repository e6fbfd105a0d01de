//! The tools whose output is read, one row each, and the headings of those that print columns.

use super::headed::{self, Columns};
use super::table::{MICROSECONDS, Meaning, Table, Unit};
use super::{Timing, imb, netpipe, sockperf, ucx};
use crate::table_error::shortened;
use crate::table_lines::{Line, Result};

/// How one tool prints its results.
pub(super) struct Dialect {
    /// What messages call it.
    pub name: &'static str,
    /// Whether a line is one that no other tool prints.
    pub tells: fn(&Line) -> bool,
    /// Reads all lines. [`headed::read`] does it where results are in columns under headings.
    pub read: fn(&[Line], &mut Table) -> Result,
}

pub(super) const DIALECTS: [Dialect; 7] = [
    Dialect {
        name: "OSU micro-benchmarks",
        tells: |line| osu_title(line).is_some() || osu_columns(line).is_some(),
        read: |lines, table| headed::read(osu, lines, table),
    },
    Dialect {
        name: "fi_pingpong",
        tells: |line| fabric(line).is_some(),
        read: |lines, table| headed::read(|line| Ok(fabric(line)), lines, table),
    },
    Dialect { name: "IMB", tells: imb::tells, read: imb::read },
    Dialect { name: "NetPIPE", tells: netpipe::tells, read: netpipe::read },
    Dialect { name: "ucx_perftest", tells: ucx::tells, read: ucx::read },
    Dialect { name: "ucx_perftest's CSV", tells: ucx::tells_csv, read: ucx::read_csv },
    Dialect { name: "sockperf", tells: sockperf::tells, read: sockperf::read },
];

const OSU_LATENCY: Meaning =
    Meaning::new("osu_latency", Timing::HalfRoundTrip, "osu_latency prints half of a round trip.");

const OSU_BANDWIDTH: Meaning = Meaning::new(
    "osu_bw",
    Timing::Stream,
    "osu_bw prints bandwidth: each time is the size divided by it, the time between messages of a \
     stream with a window of them under way. So r∞ and n½ are those of that stream, and t0 is the \
     least time between messages: neither a startup time nor half a round trip, which osu_latency \
     measures.",
);

/// The columns that a line of the OSU micro-benchmarks names.
///
/// # Errors
/// The line is the title of a test that times no single message.
fn osu(line: &Line) -> Result<Option<Columns>> {
    match osu_title(line).as_deref() {
        None => Ok(osu_columns(line)),
        Some("Latency" | "Bandwidth" | "Multi-threaded Latency") => Ok(None),
        Some(name) => Err(line.wrong(format!(
            "the OSU test '{}' has no time of a single message (use osu_latency or osu_bw)",
            shortened(name)
        ))),
    }
}

/// The name of the test: `# OSU MPI Latency Test v7.4` gives `Latency`; one-sided tests keep the
/// name of the call, as in `MPI_Put Latency`.
fn osu_title(line: &Line) -> Option<String> {
    let words: Vec<&str> = line.text.trim_start_matches(['#', ' ']).split_whitespace().collect();
    let end = words.iter().position(|word| *word == "Test").filter(|end| *end > 2)?;
    // The word after the name is the library that was called: MPI, MPI-CUDA, OpenSHMEM.
    let begin = if words[1].starts_with("MPI_") { 1 } else { 2 };
    (words[0] == "OSU").then(|| words[begin..end].join(" "))
}

/// `# Size  Avg Latency(us)` and the like: a size and one number.
fn osu_columns(line: &Line) -> Option<Columns> {
    let rest = line.text.trim_start_matches(['#', ' ']).strip_prefix("Size")?;
    let (name, unit) = rest.split_once('(')?;
    let (unit, _) = unit.split_once(')')?;
    let (time, unit, meaning) = match name.trim() {
        name if name.ends_with("Latency") => ("latency", Unit::of_time(unit)?, &OSU_LATENCY),
        // The tool divides by 10⁶.
        "Bandwidth" if unit == "MB/s" => ("bandwidth", Unit::Rate(1e6), &OSU_BANDWIDTH),
        _ => return None,
    };
    let (bytes, time, count) = (("size", 0), (time, 1), 2..=usize::MAX);
    Some(Columns { bytes, time, unit, count, prefixed: None, meaning })
}

const FI_PINGPONG: Meaning = Meaning::half(
    "fi_pingpong",
    "fi_pingpong counts two transfers a round trip: its times are half of one.",
);

const FABTESTS: Meaning = Meaning::half(
    "fi_pingpong",
    "The columns are those of libfabric's fabtests: half round trips if it was one of their \
     ping-pongs, times between messages if it was a bandwidth test.",
);

/// libfabric's `bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec`.
fn fabric(line: &Line) -> Option<Columns> {
    let words = line.words();
    let place = |name| words.iter().position(|word| *word == name);
    Some(Columns {
        bytes: ("bytes", place("bytes")?),
        time: ("usec/xfer", place("usec/xfer")?),
        unit: MICROSECONDS,
        count: words.len()..=words.len(),
        prefixed: Some(
            "fi_pingpong cuts its sizes to one decimal: those that are no whole number of bytes are \
             up to a tenth of their prefix too small.",
        ),
        meaning: if place("#sent").is_some() { &FI_PINGPONG } else { &FABTESTS },
    })
}
