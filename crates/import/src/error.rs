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
        "read the table: no line is the heading of a known table or a known tool's result; line {line} comes nearest: \
         '{nearest}' (known: {known})"
    )]
    Unrecognised {
        /// The line that is most like a heading.
        line: u64,
        /// Its text.
        nearest: String,
        /// The formats that are known.
        known: String,
    },
    /// A line that cannot be used.
    #[error("read the table: line {line}: {why}")]
    Line {
        /// The line.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Something is wrong that no line of it says.
    #[error("read the table: {why}")]
    Whole {
        /// What is wrong.
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
#[must_use]
pub fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut short = String::new();
    for c in text.chars().take(LONGEST) {
        match c {
            '\'' | '"' => short.push(c),
            _ => short.extend(c.escape_debug()),
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}
