//! Reads tables of message sizes and times that others measured.

use std::io::Read;

use crate::columns::SizeTable;
use crate::dialects::FAMILIES;
use crate::lines::{Line, Result, bounded};
use crate::table::{Dialect, Family, Table};
use crate::{TableError, csv, shortened};

const KNOWN: &str = "CSV with the columns bytes,time_ns; the output of osu_latency, osu_bw, IMB PingPong, NetPIPE, \
                     ucx_perftest, fi_pingpong, sockperf";

/// A file may not be longer.
const LONGEST: usize = 64 << 20;

/// Reads a table of sizes and times, whatever of the known formats it is in: CSV, or the text that a tool printed,
/// known by its lines and never by the file's name.
///
/// CSV has the columns `bytes` and one of `time_ns`, `time_us`, `time_ms`, `time_s`, in any order. Columns that name
/// a series, such as `transport`, must not change. `operation_messages`, if it is there, is how many messages an
/// operation moves in its time. Other columns, blank lines and lines that begin with `#` are ignored. Rows of one
/// size are repetitions. A tool's output has each size once.
///
/// # Errors
/// Every defect is one, with its line: the file is taken whole or not at all.
pub fn read_size_table(source: impl Read) -> Result<SizeTable> {
    let lines: Vec<Line> = bounded(source, LONGEST)
        .map(|line| line.map(|line| Line { text: plain(&line.text), ..line }))
        .collect::<Result<_>>()?;
    let mut table = Table::default();
    if lines.iter().find(|line| !line.is_comment()).is_some_and(csv::tells) {
        csv::read(&lines, &mut table)?;
    } else {
        let family = family(&lines)?.ok_or_else(|| unknown(&lines))?;
        (family.read)(family, &lines, &mut table)?;
    }
    let Some((_, Dialect { tool, timing, .. })) = table.dialect else {
        return Err(TableError::NoRows);
    };
    match table.rows.is_empty() {
        true => Err(TableError::NoRows),
        false => Ok(SizeTable {
            tool,
            timing: *timing,
            messages: table.messages.max(1),
            rows: table.rows,
            remarks: table.remarks,
        }),
    }
}

/// The one family whose lines are there, if one is.
fn family(lines: &[Line]) -> Result<Option<&'static Family>> {
    let first = |family: &'static Family| Some(((family.tells)(family, lines)?, family));
    let mut found: Vec<(&Line, &Family)> = FAMILIES.iter().filter_map(first).collect();
    found.sort_by_key(|(line, _)| line.number);
    match found.as_slice() {
        [(first, before), (line, after), ..] => {
            let (found, before) =
                (format!("the output of {}", after.name), format!("that of {}", before.name));
            Err(line.mixed(&found, &before, first.number, "give one tool's output at a time"))
        }
        found => Ok(found.first().map(|(_, family)| *family)),
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

/// `text` without colour codes (ESC, `[`, parameters, a letter) and its line end.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.trim_end_matches(['\r', '\n']);
    while let Some((before, code)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        let parameters = code.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        rest = parameters.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(parameters);
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn colours_are_taken_away() {
        assert_eq!(plain("a\u{1b}[1;35mb\u{1b}[0m c\r\n"), "ab c");
        // Codes cut short leave nothing that could be taken for one.
        assert_eq!(plain("a\u{1b}["), "a");
        assert_eq!(plain("\u{1b}[31"), "");
    }
}
