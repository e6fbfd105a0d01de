//! What sockperf prints for ping-pong and under-load: one run is one size, and only the command line
//! names it. So the file holds runs one after another, each with its command line before it, or a
//! line `msg-size=N`.

use super::rows::{Rows, size, time};
use super::text::{Line, Text};
use super::{HockneyTable, Timing, Tool};
use crate::TableError;

/// The size sent where `--msg-size` is not given: the header alone.
const LEAST: u64 = 14;

/// Any line that sockperf signs, or one with its result.
pub(super) fn tells(line: &str) -> bool {
    line.contains("sockperf: ") || result(line).is_some()
}

/// The average in a line of results, and what divides it to make half a round trip.
fn result(line: &str) -> Option<(&str, f64)> {
    let latency = line.split_once("Summary: Latency is").map(|(_, rest)| (rest, 1.0));
    let whole = || line.split_once("Summary: Round trip is").map(|(_, rest)| (rest, 2.0));
    latency.or_else(whole)
}

pub(super) fn read(text: &Text) -> Result<HockneyTable, TableError> {
    let mut rows = Rows::default();
    let mut bytes = None;
    for line in &text.lines {
        if let Some((rest, divisor)) = result(&line.text) {
            let mut words = rest.split_whitespace();
            let (number, unit) = (words.next().unwrap_or(""), words.next());
            if unit != Some("usec") {
                return Err(line.wrong("it is cut: the average in usec is missing"));
            }
            let Some(bytes) = bytes.take() else {
                return Err(line.wrong(
                    "a latency without its message size, which sockperf does not print (put the \
                     command line, or a line msg-size=N, before the output of each run)",
                ));
            };
            rows.note(match divisor == 1.0 {
                true => "sockperf's latency is half of a round trip.",
                false => "sockperf printed whole round trips (--full-rtt): they are halved.",
            });
            rows.timed(line.number, Timing::HalfRoundTrip)?;
            rows.once(line.number, bytes, time(line.number, "latency", number, 1e3 / divisor)?)?;
        } else if line.text.contains("Summary: ") {
            return Err(line.wrong(
                "it is no average latency of single messages (use sockperf's ping-pong mode, \
                 without --burst)",
            ));
        } else if let Some(found) = message_size(line)? {
            bytes = Some(found);
        } else if is_command(&line.text) {
            rows.note(format!("A command line without --msg-size sends {LEAST} bytes."));
            bytes = Some(LEAST);
        }
    }
    rows.finish(Tool::Sockperf)
}

/// Whether a line is the command line of a client.
fn is_command(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mode = |word: &str| ["ping-pong", "pp", "under-load", "ul"].contains(&word);
    words.windows(2).any(|pair| pair[0].ends_with("sockperf") && mode(pair[1]))
}

/// The size that a line names: `--msg-size=64`, `--msg-size 64`, `msg-size=64`, and `-m 64` of a
/// command line.
fn message_size(line: &Line) -> Result<Option<u64>, TableError> {
    let words = line.words();
    for (index, word) in words.iter().enumerate() {
        let word = word.trim_start_matches('-');
        let named = word.strip_prefix("msg-size=");
        let next = || words.get(index + 1).copied();
        let found = match (named, word) {
            (Some(size), _) => Some(size),
            (None, "msg-size") => next(),
            (None, "m") if is_command(&line.text) => next(),
            _ => None,
        };
        if let Some(found) = found {
            return size(line.number, "msg-size", found.trim_end_matches([';', ','])).map(Some);
        }
    }
    Ok(None)
}
