//! Tables that other tools wrote, as plain columns: numbers with their lines, and how far they were rounded.
//!
//! - [`read_size_table`]: sizes and times, as CSV or as a benchmark printed them. What is read is a table of
//!   dialects (`dialects.rs`): a further tool is a further row, and a function only where its output has no
//!   columns under a heading.
//! - [`lines`]: what readers of other tables are built on.
//!
//! Every reader takes a file whole or not at all, and says which line it cannot take. Nothing here knows what is
//! made of the numbers.

#![forbid(unsafe_code)]

mod columns;
mod csv;
mod dialects;
mod headed;
mod json;
pub mod lines;
mod netpipe;
mod sizes;
mod sockperf;
mod table;
mod ucx;

pub use columns::{Choice, Remark, Run, SizeRow, SizeTable, Timing};
pub use sizes::read_size_table;

use std::io;

/// A table that cannot be used, with the first reason why. Texts are fragments that follow
/// "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Nothing but blank lines and comments, and what was looked for.
    #[error("read the table: it is empty ({0})")]
    Empty(&'static str),
    /// A header and nothing under it.
    #[error("read the table: it has a header but no rows")]
    NoRows,
    /// A line that cannot be used, and why.
    #[error("read the table: line {0}: {1}")]
    Line(u64, String),
    /// Something is wrong that no line of it says.
    #[error("read the table: {0}")]
    Whole(String),
    /// The source could not be read; the last line that was.
    #[error("read the table: after line {0}")]
    Io(u64, #[source] io::Error),
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
