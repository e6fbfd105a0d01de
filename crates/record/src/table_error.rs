//! What can be wrong with a table that another program wrote.

use std::io;

/// A table that cannot be used, with the first reason why. Texts are fragments that follow
/// "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Nothing but blank lines and comments.
    #[error("read the table: it is empty ({expected})")]
    Empty {
        /// What was looked for.
        expected: &'static str,
    },
    /// A header and nothing under it.
    #[error("read the table: it has a header but no rows")]
    NoRows,
    /// Neither a table nor the output of a tool that is known.
    #[error(
        "read the table: its format is not recognised; it begins with {begin} (known: {known})"
    )]
    Unrecognised {
        /// The first lines.
        begin: String,
        /// The formats that are known.
        known: &'static str,
    },
    /// Two formats, units or kinds of time in one table.
    #[error("read the table: line {line}: {found} after {before} (line {first}): {advice}")]
    Mixed {
        /// The line.
        line: u64,
        /// What is in it.
        found: String,
        /// What came before.
        before: String,
        /// Where that began.
        first: u64,
        /// What to do.
        advice: &'static str,
    },
    /// A size that a tool printed twice.
    #[error(
        "read the table: line {line}: {bytes} bytes again, as in line {first} (give one run of the \
         tool; in CSV, rows of one size are repetitions)"
    )]
    Repeated {
        /// The line.
        line: u64,
        /// The size.
        bytes: u64,
        /// The line that has it first.
        first: u64,
    },
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
    /// A line that is not text, too long, cut, or of a kind that cannot be used.
    #[error("read the table: line {line}: {why}")]
    Line {
        /// The line.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The source could not be read.
    #[error("read the table: after line {line}")]
    Io {
        /// The last line that was read.
        line: u64,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// A text from a file in an error message: short, and without control characters.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut short: String = text.chars().take(LONGEST).flat_map(char::escape_default).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}
