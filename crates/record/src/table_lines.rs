//! A table's lines with their numbers, values in them, and CSV headers.

use std::io::{BufRead, BufReader, Read};

use csv::StringRecord;

use crate::TableError;
use crate::table_error::shortened;

/// The result of reading something of a table.
pub(crate) type Result<T = ()> = std::result::Result<T, TableError>;

/// A line may not be longer. So a file without line ends is refused before it fills the memory.
const LONGEST_LINE: u64 = 64 * 1024;

/// One line.
#[derive(Debug)]
pub(crate) struct Line {
    /// Counted from 1.
    pub number: u64,
    /// Its text.
    pub text: String,
}

impl Line {
    /// Whether a CSV table leaves it out: it is blank or begins with `#`.
    pub fn is_comment(&self) -> bool {
        let text = self.text.trim();
        text.is_empty() || text.starts_with('#')
    }

    /// Its words.
    pub fn words(&self) -> Vec<&str> {
        self.text.split_whitespace().collect()
    }

    /// The error that says why it cannot be used.
    pub fn wrong(&self, why: impl Into<String>) -> TableError {
        TableError::Line { line: self.number, why: why.into() }
    }

    /// The error that `found` in it does not go with `before`, from line `first` on.
    pub fn mixed(
        &self,
        found: impl Into<String>,
        before: impl Into<String>,
        first: u64,
        advice: &'static str,
    ) -> TableError {
        let (line, found, before) = (self.number, found.into(), before.into());
        TableError::Mixed { line, found, before, first, advice }
    }

    /// `text` in it, as the value of `column`.
    pub fn cell<'a>(&self, column: &'static str, text: &'a str) -> Cell<'a> {
        Cell { line: self.number, column, text }
    }

    /// Its fields as CSV, trimmed.
    fn record(&self) -> Result<StringRecord> {
        let text = self.text.trim();
        let mut fields = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .buffer_capacity(text.len())
            .from_reader(text.as_bytes());
        let mut record = StringRecord::new();
        match fields.read_record(&mut record) {
            Ok(true) => Ok(record),
            Ok(false) => Err(self.wrong("it has no fields")),
            Err(error) => Err(self.wrong(error.to_string())),
        }
    }
}

/// A value in a line.
#[derive(Clone, Copy)]
pub(crate) struct Cell<'a> {
    pub line: u64,
    pub column: &'static str,
    pub text: &'a str,
}

impl Cell<'_> {
    /// The error that says why it cannot be the value of its column.
    pub fn wrong(&self, why: &'static str) -> TableError {
        let Cell { line, column, text } = *self;
        TableError::Field { line, column, text: shortened(text), why }
    }

    /// Its number, finite and not negative.
    ///
    /// # Errors
    /// `otherwise` says what a text must be that is not a number.
    pub fn amount(&self, otherwise: &'static str) -> Result<f64> {
        match self.text.parse::<f64>() {
            Err(_) => Err(self.wrong(otherwise)),
            Ok(number) if !number.is_finite() => Err(self.wrong("it must be finite")),
            Ok(number) if number < 0.0 => Err(self.wrong("it must not be negative")),
            Ok(number) => Ok(number),
        }
    }
}

/// The lines of a source, blank ones and comments included.
pub(crate) struct Lines<R> {
    source: BufReader<R>,
    number: u64,
}

impl<R: Read> Lines<R> {
    /// The lines of `source`, numbered from 1.
    pub fn new(source: R) -> Lines<R> {
        Lines { source: BufReader::new(source), number: 0 }
    }
}

impl<R: Read> Iterator for Lines<R> {
    type Item = Result<Line>;

    fn next(&mut self) -> Option<Result<Line>> {
        let mut bytes = Vec::new();
        let read = self.source.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut bytes);
        match read {
            Ok(0) => return None,
            Ok(_) => self.number += 1,
            Err(source) => return Some(Err(TableError::Io { line: self.number, source })),
        }
        let wrong = |why: &str| TableError::Line { line: self.number, why: why.to_owned() };
        if bytes.len() as u64 > LONGEST_LINE {
            return Some(Err(wrong("it is longer than 64 KiB")));
        }
        let text = String::from_utf8(bytes).map_err(|_| wrong("it is not text in UTF-8"));
        Some(text.map(|text| {
            // Spreadsheets begin the file with a byte order mark.
            let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
            Line { number: self.number, text }
        }))
    }
}

/// The header of a CSV table.
pub(crate) struct Header {
    line: u64,
    columns: StringRecord,
}

impl Header {
    /// A line as a header.
    pub fn new(line: &Line) -> Result<Header> {
        Ok(Header { line: line.number, columns: line.record()? })
    }

    /// Where `column` is, if it is there once.
    pub fn find(&self, column: &'static str) -> Result<Option<usize>> {
        let mut found = self.columns.iter().enumerate().filter(|(_, name)| *name == column);
        let first = found.next().map(|(index, _)| index);
        match found.next() {
            Some(_) => Err(TableError::TwiceColumn { line: self.line, column }),
            None => Ok(first),
        }
    }

    /// Where `column` is, which must be there.
    pub fn need(&self, column: &'static str) -> Result<usize> {
        self.find(column)?.ok_or_else(|| missing(self.line, column, &self.columns))
    }

    /// A line's fields, as many as there are columns.
    pub fn row(&self, line: &Line) -> Result<StringRecord> {
        let fields = line.record()?;
        let (found, expected) = (fields.len(), self.columns.len());
        if found != expected {
            return Err(TableError::FieldCount { line: line.number, found, expected });
        }
        Ok(fields)
    }
}

/// The error that `column` is not in the header in `line`.
pub(crate) fn missing<'a>(
    line: u64,
    column: &'static str,
    header: impl IntoIterator<Item = &'a str>,
) -> TableError {
    let found = header.into_iter().map(shortened).collect::<Vec<_>>().join(", ");
    TableError::MissingColumn { line, column, found: shortened(&found) }
}
