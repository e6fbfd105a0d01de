//! What `osu_latency` and `osu_bw` print: a title, a line of headings, sizes and one number each.

use super::rows::{Printed, Rows, nanoseconds, rate, size, time};
use super::text::Text;
use super::{HockneyTable, Timing, Tool};
use crate::TableError;

/// Titles and headings.
pub(super) fn tells(line: &str) -> bool {
    title(line).is_some() || heading(line).is_some()
}

/// The name of the test: `OSU MPI Latency Test v7.4` gives `Latency`, one-sided tests keep the
/// name of the call: `MPI_Put Latency`.
fn title(line: &str) -> Option<String> {
    let words: Vec<&str> = line.trim_start_matches(['#', ' ']).split_whitespace().collect();
    let end = words.iter().position(|word| *word == "Test")?;
    match words.as_slice() {
        ["OSU", call, ..] if end > 2 && call.starts_with("MPI_") => Some(words[1..end].join(" ")),
        // The word after the name is the library that was called: MPI, MPI-CUDA, OpenSHMEM.
        ["OSU", _, ..] if end > 2 => Some(words[2..end].join(" ")),
        _ => None,
    }
}

/// What the second column holds.
#[derive(Clone, Copy, PartialEq)]
enum Column {
    /// In units of so many nanoseconds.
    Time(f64),
    /// In units of so many bytes per second.
    Rate(f64),
}

/// The second column of a line of headings: `# Size  Avg Latency(us)`.
fn heading(line: &str) -> Option<Column> {
    let rest = line.trim_start_matches(['#', ' ']).strip_prefix("Size")?;
    let (name, unit) = rest.split_once('(')?;
    let (unit, _) = unit.split_once(')')?;
    let name = name.trim();
    if name.ends_with("Latency") {
        nanoseconds(unit).map(Column::Time)
    } else if name == "Bandwidth" {
        // The tool divides by 10⁶.
        (unit == "MB/s").then_some(Column::Rate(1e6))
    } else {
        None
    }
}

pub(super) fn read(text: &Text) -> Result<HockneyTable, TableError> {
    let mut rows = Rows::default();
    let mut column: Option<(u64, Column)> = None;
    for line in &text.lines {
        if let Some(name) = title(&line.text) {
            if !["Latency", "Bandwidth", "Multi-threaded Latency"].contains(&name.as_str()) {
                let name = crate::table_error::shortened(&name);
                return Err(line.wrong(format!(
                    "the OSU test '{name}' has no time of a single message (use osu_latency or \
                     osu_bw)"
                )));
            }
        } else if let Some(found) = heading(&line.text) {
            let timing = match found {
                Column::Time(_) => Timing::HalfRoundTrip,
                Column::Rate(_) => Timing::Stream,
            };
            rows.timed(line.number, timing)?;
            if let Some((first, before)) = column
                && before != found
            {
                return Err(TableError::Mixed {
                    line: line.number,
                    found: "another unit of time".into(),
                    before: "the first".into(),
                    first,
                    advice: "give the times in one unit",
                });
            }
            column = Some((line.number, found));
        } else if line.is_row() {
            let Some((_, column)) = column else { continue };
            let words = line.words();
            let [bytes, number, more @ ..] = words.as_slice() else {
                return Err(line.wrong("it is cut: a size without its result"));
            };
            if more.contains(&"Fail") {
                return Err(line.wrong("the tool found wrong data: its time counts for nothing"));
            }
            let bytes = size(line.number, "size", bytes)?;
            let time = match column {
                Column::Time(factor) => time(line.number, "latency", number, factor)?,
                Column::Rate(factor) => {
                    let rate = rate(line.number, "bandwidth", number, factor)?;
                    if bytes == 0 {
                        return Err(line.wrong("0 bytes have a bandwidth but no time"));
                    }
                    Printed::of_rate(bytes, rate)
                }
            };
            rows.once(line.number, bytes, time)?;
        }
    }
    match column {
        Some((_, Column::Rate(_))) => {
            rows.note(
                "osu_bw prints bandwidth: each time is the size divided by it, the time between \
                 messages of a stream with a window of them under way. So r∞ and n½ are those of \
                 that stream, and t0 is the least time between messages: neither a startup time nor \
                 half a round trip, which osu_latency measures.",
            );
            rows.finish(Tool::OsuBandwidth)
        }
        _ => {
            rows.note("osu_latency prints half of a round trip.");
            rows.finish(Tool::OsuLatency)
        }
    }
}
