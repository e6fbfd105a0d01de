//! A table's lines, one by one, with their numbers.

use std::io::{BufRead, BufReader, Read};

use csv::StringRecord;

use crate::TableError;
use crate::table_error::shortened;

/// A line may not be longer; a file without line ends is then refused instead of swallowed whole.
const LONGEST_LINE: u64 = 64 * 1024;

/// The lines of a source.
pub(crate) struct Lines<R> {
    source: BufReader<R>,
    number: u64,
}

impl<R: Read> Lines<R> {
    /// The lines of `source`, numbered from 1.
    pub fn new(source: R) -> Lines<R> {
        Lines { source: BufReader::new(source), number: 0 }
    }

    /// The next line that is neither blank nor a comment, split into trimmed fields.
    pub fn next_record(&mut self) -> Result<Option<(u64, StringRecord)>, TableError> {
        loop {
            let Some(text) = self.next_line()? else { return Ok(None) };
            if !is_comment(&text) {
                return record(self.number, &text).map(|record| Some((self.number, record)));
            }
        }
    }

    /// The next line, blank and comments included; `None` at the end.
    pub fn next_line(&mut self) -> Result<Option<String>, TableError> {
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

    /// The number of the last line that was read.
    pub fn number(&self) -> u64 {
        self.number
    }
}

/// Whether a line of a CSV table says nothing: it is blank or begins with `#`.
pub(crate) fn is_comment(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.starts_with('#')
}

/// Line number `line` as CSV, its fields trimmed.
pub(crate) fn record(line: u64, text: &str) -> Result<StringRecord, TableError> {
    let text = text.trim();
    let broken = |why: String| TableError::Line { line, why };
    let mut fields = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .buffer_capacity(text.len())
        .from_reader(text.as_bytes());
    let mut record = StringRecord::new();
    match fields.read_record(&mut record) {
        Ok(true) => Ok(record),
        Ok(false) => Err(broken("it has no fields".into())),
        Err(error) => Err(broken(error.to_string())),
    }
}

/// Where `column` is in the header, if it is there once.
pub(crate) fn position(
    line: u64,
    header: &StringRecord,
    column: &'static str,
) -> Result<Option<usize>, TableError> {
    let mut found = header.iter().enumerate().filter(|(_, name)| *name == column);
    let first = found.next().map(|(index, _)| index);
    match found.next() {
        Some(_) => Err(TableError::TwiceColumn { line, column }),
        None => Ok(first),
    }
}

/// The error that `column` is not in the header.
pub(crate) fn missing(line: u64, header: &StringRecord, column: &'static str) -> TableError {
    let found = header.iter().map(shortened).collect::<Vec<_>>().join(", ");
    TableError::MissingColumn { line, column, found: shortened(&found) }
}
