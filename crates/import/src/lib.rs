//! Reads tables that other tools wrote into plain columns: numbers with their lines and rounding.
//!
//! - [`read_size_table`]: sizes and times, from CSV or from a benchmark's output. The supported
//!   formats are a table of dialects (`dialects.rs`): a new tool is a new row there, and needs a
//!   function only if its output has no columns under a heading.
//! - [`lines`]: the helpers that other table readers use.
//!
//! A reader accepts or rejects a file as a whole, and names the line that it rejects. This crate
//! does not interpret the numbers.

#![forbid(unsafe_code)]

mod columns;
mod csv;
mod dialects;
mod headed;
mod json;
pub mod lines;
mod netpipe;
mod records;
mod sizes;
mod sockperf;
mod table;
mod ucx;

pub use columns::{Choice, Remark, Run, SizeRow, SizeTable, Timing};
pub use sizes::read_size_table;

use std::io;

/// A table that cannot be read, with the first reason. Texts are fragments that follow "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Only blank lines and comments; the field says what was expected.
    #[error("read the table: the file is empty (expected {0})")]
    Empty(&'static str),
    /// A header and nothing under it.
    #[error("read the table: it has a header but no rows")]
    NoRows,
    /// A line that cannot be read, and why.
    #[error("read the table: line {0}: {1}")]
    Line(u64, String),
    /// An error that belongs to no single line.
    #[error("read the table: {0}")]
    Whole(String),
    /// The source could not be read; the field is the last line that was.
    #[error("read the table after line {0}")]
    Io(u64, #[source] io::Error),
}

/// A text from a file, for an error message: shortened, with control characters escaped.
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
