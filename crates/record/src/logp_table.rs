//! Reads a table of LogP measurements taken by other means.
//!
//! A CSV file with a header that has at least the columns `kind`, `messages`, `delay_ns` and
//! `elapsed_ns`, in any order; further columns are ignored, and so are blank lines and lines that
//! begin with `#`. `kind` is `issue` (the time of M requests with Δ after each) or `rtt` (the time
//! of M round trips, one at a time). One row per repetition.

use std::io::{self, BufRead, BufReader, Read};

use bandgap_units::Ns;
use csv::StringRecord;

use crate::Measure;

/// A line may not be longer; a file without line ends is then refused instead of swallowed whole.
const LONGEST_LINE: u64 = 64 * 1024;

const COLUMNS: [&str; 4] = ["kind", "messages", "delay_ns", "elapsed_ns"];

/// One repetition of one experiment (M, Δ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// What was timed.
    pub kind: Measure,
    /// M.
    pub messages: u64,
    /// Δ.
    pub delay: Ns,
    /// The time of the whole repetition.
    pub elapsed: Ns,
}

/// A table that cannot be used, with the first reason why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Nothing but blank lines and comments.
    #[error(
        "read the table: it is empty (the first line must name the columns kind,messages,delay_ns,elapsed_ns)"
    )]
    Empty,
    /// A header and nothing under it.
    #[error("read the table: it has a header but no rows")]
    NoRows,
    /// A column that is needed is not in the header.
    #[error("read the table: line {line}: column {column} is missing (found: {found})")]
    MissingColumn {
        /// Line of the header.
        line: u64,
        /// The column.
        column: &'static str,
        /// The columns there are.
        found: String,
    },
    /// A column that is needed is in the header twice.
    #[error("read the table: line {line}: column {column} appears twice")]
    TwiceColumn {
        /// Line of the header.
        line: u64,
        /// The column.
        column: &'static str,
    },
    /// A row with fewer or more fields than the header.
    #[error("read the table: line {line}: {found} fields where the header has {expected}")]
    FieldCount {
        /// The line.
        line: u64,
        /// Its number of fields.
        found: usize,
        /// The header's.
        expected: usize,
    },
    /// A field that cannot be what its column says.
    #[error("read the table: line {line}: {column} is '{text}': {why}")]
    Field {
        /// The line.
        line: u64,
        /// The column.
        column: &'static str,
        /// The field.
        text: String,
        /// What it should be.
        why: &'static str,
    },
    /// A line that is no text, too long, or not CSV.
    #[error("read the table: line {line}: {why}")]
    Line {
        /// The line.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The operating system refused.
    #[error("read the table: after line {line}")]
    Io {
        /// The last line that was read.
        line: u64,
        /// Its answer.
        source: io::Error,
    },
}

/// Reads all rows of a table.
///
/// # Errors
/// Every defect is one, with its line: the file is taken whole or not at all.
pub fn read_logp_table(source: impl Read) -> Result<Vec<Row>, TableError> {
    let mut lines = Lines { source: BufReader::new(source), number: 0 };
    let (line, header) = lines.next_record()?.ok_or(TableError::Empty)?;
    let columns = columns(line, &header)?;
    let mut rows = Vec::new();
    while let Some((line, record)) = lines.next_record()? {
        if record.len() != header.len() {
            let (found, expected) = (record.len(), header.len());
            return Err(TableError::FieldCount { line, found, expected });
        }
        rows.push(row(line, &record, columns)?);
    }
    if rows.is_empty() { Err(TableError::NoRows) } else { Ok(rows) }
}

/// Positions of the four columns, in the order of [`COLUMNS`].
fn columns(line: u64, header: &StringRecord) -> Result<[usize; 4], TableError> {
    let mut positions = [0; 4];
    for (position, column) in positions.iter_mut().zip(COLUMNS) {
        let mut found = header.iter().enumerate().filter(|(_, name)| *name == column);
        let Some((index, _)) = found.next() else {
            let found = header.iter().map(shortened).collect::<Vec<_>>().join(", ");
            return Err(TableError::MissingColumn { line, column, found: shortened(&found) });
        };
        if found.next().is_some() {
            return Err(TableError::TwiceColumn { line, column });
        }
        *position = index;
    }
    Ok(positions)
}

fn row(line: u64, record: &StringRecord, columns: [usize; 4]) -> Result<Row, TableError> {
    let [kind, messages, delay, elapsed] = columns.map(|column| &record[column]);
    let wrong =
        |column, text: &str, why| TableError::Field { line, column, text: shortened(text), why };
    let kind = match kind {
        "issue" => Measure::Issue,
        "rtt" => Measure::Rtt,
        _ => return Err(wrong("kind", kind, "it must be issue or rtt")),
    };
    let messages = match messages.parse() {
        Ok(0) => return Err(wrong("messages", messages, "there must be at least one")),
        Ok(count) => count,
        Err(_) => return Err(wrong("messages", messages, "it must be a whole number")),
    };
    let time = |column, text: &str| match text.parse::<f64>() {
        Err(_) => Err(wrong(column, text, "it must be a number of nanoseconds")),
        Ok(time) if !time.is_finite() => Err(wrong(column, text, "it must be finite")),
        Ok(time) if time < 0.0 => Err(wrong(column, text, "it must not be negative")),
        Ok(time) => Ok(Ns(time)),
    };
    Ok(Row {
        kind,
        messages,
        delay: time("delay_ns", delay)?,
        elapsed: time("elapsed_ns", elapsed)?,
    })
}

/// A text from a file in an error message: short, and without control characters.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut short: String = text.chars().take(LONGEST).flat_map(char::escape_default).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}

struct Lines<R> {
    source: BufReader<R>,
    number: u64,
}

impl<R: Read> Lines<R> {
    /// The next line that is neither blank nor a comment, split into trimmed fields.
    fn next_record(&mut self) -> Result<Option<(u64, StringRecord)>, TableError> {
        loop {
            let Some(text) = self.next_line()? else { return Ok(None) };
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let line = self.number;
            let broken = |why: String| TableError::Line { line, why };
            let mut fields = csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .trim(csv::Trim::All)
                .buffer_capacity(text.len())
                .from_reader(text.as_bytes());
            let mut record = StringRecord::new();
            return match fields.read_record(&mut record) {
                Ok(true) => Ok(Some((line, record))),
                Ok(false) => Err(broken("it has no fields".into())),
                Err(error) => Err(broken(error.to_string())),
            };
        }
    }

    fn next_line(&mut self) -> Result<Option<String>, TableError> {
        let mut bytes = Vec::new();
        let read = self.source.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut bytes);
        let read = read.map_err(|source| TableError::Io { line: self.number, source })?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        let line = self.number;
        if bytes.len() as u64 > LONGEST_LINE {
            return Err(TableError::Line { line, why: "it is longer than 64 KiB".into() });
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| TableError::Line { line, why: "it is not text in UTF-8".into() })?;
        // Spreadsheets begin the file with a byte order mark.
        Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
    }
}

#[cfg(test)]
mod tests;
