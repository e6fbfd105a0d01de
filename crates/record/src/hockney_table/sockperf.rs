//! What sockperf prints for ping-pong and under-load. A run is one size, and only the command line
//! names it. So the file must have the command line, or a line `msg-size=N`, before each run.

use super::table::{MICROSECONDS, Meaning, Table, Unit};
use super::text::option;
use crate::table_lines::{Line, Result};

const HALF: Meaning = Meaning::half("sockperf", "sockperf's latency is half of a round trip.");

const HALVED: Meaning =
    Meaning::half("sockperf", "sockperf printed whole round trips (--full-rtt): they are halved.");

/// The size sent where `--msg-size` is not given: the header alone.
const LEAST: u64 = 14;

/// Any line that sockperf signs, or one with its result.
pub(super) fn tells(line: &Line) -> bool {
    line.text.contains("sockperf: ") || result(line).is_some()
}

/// What follows the name of a result, what it means, and the unit that makes it half a round trip.
fn result(line: &Line) -> Option<(&str, &'static Meaning, Unit)> {
    let after = |name| line.text.split_once(name).map(|(_, rest)| rest);
    let latency = after("Summary: Latency is").map(|rest| (rest, &HALF, MICROSECONDS));
    latency.or_else(|| Some((after("Summary: Round trip is")?, &HALVED, Unit::Time(500.0))))
}

pub(super) fn read(lines: &[Line], table: &mut Table) -> Result {
    let mut bytes = None;
    for line in lines {
        if let Some((rest, meaning, unit)) = result(line) {
            let mut words = rest.split_whitespace();
            let (Some(time), Some("usec")) = (words.next(), words.next()) else {
                return Err(line.wrong("it is cut: the average in usec is missing"));
            };
            let bytes = bytes.take().ok_or_else(|| {
                line.wrong(
                    "a latency without its message size, which sockperf does not print (put the \
                 command line, or a line msg-size=N, before the output of each run)",
                )
            })?;
            table.means(line, meaning)?;
            table.once(line.cell("latency", time).row(bytes, unit)?)?;
        } else if line.text.contains("Summary: ") {
            return Err(line.wrong(
                "it is not an average latency of single messages (use sockperf's ping-pong mode, \
                 without --burst)",
            ));
        } else {
            bytes = message_size(line, table)?.or(bytes);
        }
    }
    Ok(())
}

/// The size that a line names: `--msg-size=64`, `--msg-size 64`, `msg-size=64`, and of a client's
/// command line `-m 64`, or none.
fn message_size(line: &Line, table: &mut Table) -> Result<Option<u64>> {
    let words = line.words();
    let mode = |word: &str| ["ping-pong", "pp", "under-load", "ul"].contains(&word);
    let command = words.windows(2).any(|pair| pair[0].ends_with("sockperf") && mode(pair[1]));
    let names: &[&str] = if command { &["--msg-size", "-m"] } else { &["--msg-size", "msg-size"] };
    if let Some(bytes) = option(&words, names) {
        return line.cell("msg-size", bytes.trim_end_matches([';', ','])).size().map(Some);
    }
    if command {
        table.note(format!("A command line without --msg-size sends {LEAST} bytes."));
    }
    Ok(command.then_some(LEAST))
}
