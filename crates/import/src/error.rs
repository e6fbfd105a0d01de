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
pub fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    let escaped = |c: char| match c {
        '\'' | '"' => c.to_string(),
        _ => c.escape_debug().to_string(),
    };
    let mut short: String = text.chars().take(LONGEST).map(escaped).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}
