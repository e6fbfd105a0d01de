//! Numbered lines of a table, the values in them, and CSV headers.

use std::io::{self, BufRead, BufReader, Read};
use std::iter;

use csv::StringRecord;

use crate::{TableError, shortened};

/// Result of reading a part of a table.
pub type Result<T = ()> = std::result::Result<T, TableError>;

/// Longest line in bytes, so that a file without line ends is rejected before it fills the memory.
const LONGEST_LINE: u64 = 64 * 1024;

/// One line.
#[derive(Clone, Debug)]
pub struct Line {
    /// Line number, from 1.
    pub number: u64,
    /// Its text.
    pub text: String,
}

impl Line {
    /// Whether CSV readers skip the line: blank, or beginning with `#`.
    pub fn is_comment(&self) -> bool {
        let text = self.text.trim();
        text.is_empty() || text.starts_with('#')
    }

    /// The words between white space.
    pub fn words(&self) -> Vec<&str> {
        self.text.split_whitespace().collect()
    }

    /// An error at this line.
    pub fn wrong(&self, why: impl Into<String>) -> TableError {
        TableError::Line(self.number, why.into())
    }

    /// The error that `found` does not go with `before`, which holds since line `first`.
    pub fn mixed(&self, found: &str, before: &str, first: u64, advice: &str) -> TableError {
        self.wrong(format!("{found} after {before} (line {first}): {advice}"))
    }

    /// The error that the number of fields differs from the header's.
    pub fn miscounted(&self, found: usize, expected: usize) -> TableError {
        self.wrong(format!("{found} fields where the header has {expected}"))
    }

    /// The error that this header lacks `column`.
    pub fn lacks<'a>(
        &self,
        column: &'static str,
        header: impl IntoIterator<Item = &'a str>,
    ) -> TableError {
        let found = header.into_iter().map(shortened).collect::<Vec<_>>().join(", ");
        self.wrong(format!("column {column} is missing (found: {})", shortened(&found)))
    }

    /// `text` of this line, as the value of `column`.
    pub fn cell<'a>(&'a self, column: &'static str, text: &'a str) -> Cell<'a> {
        Cell { line: self, column, text }
    }

    /// The fields between this ASCII separator, trimmed.
    fn record(&self, separator: char) -> Result<StringRecord> {
        let text = self.text.trim_matches(|c: char| c.is_whitespace() && c != separator);
        // Making a CSV reader takes far longer than splitting a line.
        if !text.is_empty() && !text.contains(['"', '\r', '\n']) {
            return Ok(text.split(separator).map(str::trim).collect());
        }
        let fields = csv::ReaderBuilder::new()
            .delimiter(separator as u8)
            .has_headers(false)
            .trim(csv::Trim::All)
            .buffer_capacity(text.len())
            .from_reader(text.as_bytes());
        let record = fields.into_records().next().transpose();
        Ok(record.map_err(|error| self.wrong(error.to_string()))?.unwrap_or_default())
    }
}

/// A value in a line.
#[derive(Clone, Copy)]
pub struct Cell<'a> {
    /// The line that has it.
    pub line: &'a Line,
    /// The name of its column.
    pub column: &'static str,
    /// The value's text.
    pub text: &'a str,
}

impl Cell<'_> {
    /// The error that this text is not a valid value of its column.
    pub fn wrong(&self, why: &'static str) -> TableError {
        self.line.wrong(format!("{} is '{}': {why}", self.column, shortened(self.text)))
    }

    /// The value as a finite, non-negative number.
    ///
    /// # Errors
    /// If it is not one; `otherwise` is the message for a text that is not a number.
    pub fn amount(&self, otherwise: &'static str) -> Result<f64> {
        match self.text.parse::<f64>() {
            Err(_) => Err(self.wrong(otherwise)),
            Ok(number) if !number.is_finite() => Err(self.wrong("it must be finite")),
            Ok(number) if number < 0.0 => Err(self.wrong("it must not be negative")),
            Ok(number) => Ok(number),
        }
    }

    /// The value as a whole number, at least 1.
    ///
    /// # Errors
    /// If it is not one.
    pub fn count(&self) -> Result<u64> {
        match self.text.parse() {
            Ok(0) | Err(_) => Err(self.wrong("it must be a whole number of at least 1")),
            Ok(count) => Ok(count),
        }
    }
}

/// Maximum number of lines of a table in memory.
const MOST_LINES: u64 = 4_000_000;

/// The numbered lines of `source`, including blank lines and comments. A table longer than
/// `longest` bytes (a multiple of 1 MiB) is an error: no tool prints as much, and an endless source
/// must not fill the memory.
pub fn bounded(source: impl Read, longest: usize) -> impl Iterator<Item = Result<Line>> {
    let mut source = Lines::new(source);
    let mut length = 0;
    iter::from_fn(move || {
        let text = source.next_line().map(|text| text.map(str::to_owned)).transpose()?;
        let line = text.map(|text| Line { number: source.number, text });
        Some(line.and_then(|line| {
            length += line.text.len();
            if length > longest {
                return Err(line.wrong(format!("the table is longer than {} MiB", longest >> 20)));
            }
            if line.number > MOST_LINES {
                return Err(line.wrong("the table has more than 4 million lines"));
            }
            Ok(line)
        }))
    })
}

/// Reads lines one at a time into the same buffer.
pub struct Lines<R> {
    source: BufReader<R>,
    /// Number of the current line, from 1.
    pub number: u64,
    /// The current line, in UTF-8.
    bytes: Vec<u8>,
    /// Decoder of UTF-16 units, if the file begins with a byte order mark.
    pairs: Option<fn([u8; 2]) -> u16>,
}

impl<R: Read> Lines<R> {
    /// Reads from `source`.
    pub fn new(source: R) -> Lines<R> {
        let source = BufReader::with_capacity(1 << 16, source);
        Lines { source, number: 0, bytes: Vec::new(), pairs: None }
    }

    /// Whether the current line ends with a line end; only a file's last line may lack it.
    pub fn is_ended(&self) -> bool {
        self.bytes.ends_with(b"\n")
    }

    /// The next line; `None` after the last. The encoding is UTF-16 if the file begins with its
    /// byte order mark; otherwise UTF-8, or Latin-1 for lines that are not valid UTF-8.
    pub fn next_line(&mut self) -> Result<Option<&str>> {
        let read = self.read_line();
        let read = read.map_err(|source| TableError::Io(self.number, source))?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if read as u64 > LONGEST_LINE {
            let why = "the line is longer than 64 KiB".to_owned();
            return Err(TableError::Line(self.number, why));
        }
        if str::from_utf8(&self.bytes).is_err() {
            let text: String = self.bytes.iter().copied().map(char::from).collect();
            self.bytes = text.into_bytes();
        }
        let text = str::from_utf8(&self.bytes).unwrap_or_default();
        // Spreadsheets begin a file with a byte order mark.
        Ok(Some(text.strip_prefix('\u{feff}').unwrap_or(text)))
    }

    /// Reads a line, or enough of it to show that it is too long; returns the number of bytes read.
    fn read_line(&mut self) -> io::Result<usize> {
        self.bytes.clear();
        if self.number == 0 {
            self.pairs = match self.source.fill_buf()? {
                [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
                [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
                _ => None,
            };
        }
        let mut source = self.source.by_ref().take(LONGEST_LINE + 2);
        let Some(unit) = self.pairs else { return source.read_until(b'\n', &mut self.bytes) };
        let mut units = Vec::new();
        let mut pair = [0; 2];
        while units.last() != Some(&u16::from(b'\n')) {
            match source.read_exact(&mut pair) {
                Ok(()) => units.push(unit(pair)),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                Err(error) => return Err(error),
            }
        }
        self.bytes = String::from_utf16_lossy(&units).into_bytes();
        Ok(2 * units.len())
    }
}

/// The value of an option with one of these names: `--size 64` or `--size=64`.
pub(crate) fn option<'a>(words: &[&'a str], names: &[&str]) -> Option<&'a str> {
    words.iter().enumerate().find_map(|(index, word)| match word.split_once('=') {
        Some((name, value)) => names.contains(&name).then_some(value),
        None => words.get(index + 1).copied().filter(|_| names.contains(word)),
    })
}

/// The program that a command line starts, if `known` knows it, and the words after it. Prompts,
/// settings and launchers may stand before it. Of the words after it only one, a host, follows no
/// option, and it looks like no word of a sentence, since sentences name programs too.
pub(crate) fn command<T>(text: &str, known: impl Fn(&str) -> Option<T>) -> Option<(T, Vec<&str>)> {
    const LAUNCHERS: &str = "mpirun mpiexec srun ssh sudo numactl taskset env time timeout exec";
    let words: Vec<&str> = text.split_whitespace().map(|word| word.trim_matches('`')).collect();
    let program = |(at, word): (usize, &&str)| Some((at, known(word.rsplit('/').next()?)?));
    let (at, program) = words.iter().enumerate().find_map(program)?;
    let before = words[..at].rsplit(|word| word.ends_with(['$', '#', '>', '%', '+'])).next()?;
    let starts = |word: &&str| word.contains('=') || LAUNCHERS.split(' ').any(|of| of == *word);
    let ends = |word: &&str| !word.contains(['|', '>', '&', ';', '<']);
    let after: Vec<&str> = words[at + 1..].iter().copied().take_while(ends).collect();
    let mut alone = after.iter().enumerate().filter(|(at, word)| {
        !word.starts_with('-') && (*at == 0 || !after[at - 1].starts_with('-'))
    });
    let is_host = |(_, word): (usize, &&str)| {
        *word == "localhost"
            || word.contains(|c: char| c.is_ascii_digit() || ".-$".contains(c))
                && !word.ends_with([',', '.', ':'])
    };
    let is_command = before.first().is_none_or(starts) && alone.next().is_none_or(is_host);
    let is_command = is_command && alone.next().is_none();
    is_command.then_some((program, after))
}

/// The header of a CSV table.
pub struct Header<'a> {
    line: &'a Line,
    columns: StringRecord,
    separator: char,
}

impl<'a> Header<'a> {
    /// Names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter()
    }

    /// Reads a line as a header with this ASCII separator.
    pub fn new(line: &'a Line, separator: char) -> Result<Header<'a>> {
        Ok(Header { line, columns: line.record(separator)?, separator })
    }

    /// Index of `column`, if the header has it. Twice is an error.
    pub fn find(&self, column: &'static str) -> Result<Option<usize>> {
        let mut found = (0..self.columns.len()).filter(|index| &self.columns[*index] == column);
        let first = found.next();
        match found.next() {
            Some(_) => Err(self.line.wrong(format!("column {column} appears twice"))),
            None => Ok(first),
        }
    }

    /// Those of `columns` that the header has, with their indices.
    pub fn those(&self, columns: &[&'static str]) -> Result<Vec<(&'static str, usize)>> {
        let place = |column| Some(self.find(column).transpose()?.map(|place| (column, place)));
        columns.iter().copied().filter_map(place).collect()
    }

    /// Indices of required columns.
    ///
    /// # Errors
    /// A column is missing or appears twice.
    pub fn needs<const N: usize>(&self, columns: [&'static str; N]) -> Result<[usize; N]> {
        let mut places = [0; N];
        for (place, column) in places.iter_mut().zip(columns) {
            *place = self.find(column)?.ok_or_else(|| self.line.lacks(column, &self.columns))?;
        }
        Ok(places)
    }

    /// Fields of a line; their number must match the header.
    pub fn row(&self, line: &Line) -> Result<StringRecord> {
        let fields = line.record(self.separator)?;
        match fields.len() == self.columns.len() {
            true => Ok(fields),
            false => Err(line.miscounted(fields.len(), self.columns.len())),
        }
    }
}
