//! What sockperf prints for ping-pong and under-load. A run is one size, and only the command line
//! names it. So the file must have the command line, or a line `msg-size=N`, before each run.

use crate::columns::Remark;
use crate::lines::{Line, Result, option};
use crate::table::{Dialect, Family, Table};

/// The size sent where `--msg-size` is not given: the header alone.
const LEAST: u64 = 14;

/// Any line that sockperf signs, or one with its result.
pub(crate) fn tells<'a>(family: &Family, lines: &'a [Line]) -> Option<&'a Line> {
    let is_result = |line: &Line| family.dialects.iter().any(|of| line.text.contains(of.time));
    lines.iter().find(|line| line.text.contains("sockperf: ") || is_result(line))
}

pub(crate) fn read(family: &'static Family, lines: &[Line], table: &mut Table) -> Result {
    let mut bytes = None;
    for line in lines {
        let after = |dialect: &'static Dialect| {
            line.text.split_once(dialect.time).map(|(_, rest)| (dialect, rest))
        };
        if let Some((dialect, rest)) = family.dialects.iter().find_map(after) {
            let mut words = rest.split_whitespace();
            let (Some(time), Some("usec")) = (words.next(), words.next()) else {
                return Err(line.wrong("it is cut: the average in usec is missing"));
            };
            let bytes = bytes.take().ok_or_else(|| {
                line.wrong(
                    "a latency without its message size, which sockperf does not print (put the command line, or a \
                     line msg-size=N, before the output of each run)",
                )
            })?;
            table.means(line, dialect)?;
            let row = line.cell("latency", time).row(bytes, dialect.unit)?;
            table.once(line, row.times(dialect.share))?;
        } else if line.text.contains("Summary: ") {
            return Err(line.wrong(
                "it is not an average latency of single messages (use sockperf's ping-pong mode, without --burst)",
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
        table.remark(Remark::DefaultSize(LEAST));
    }
    Ok(command.then_some(LEAST))
}
