//! Schedules in files: text or binary, as they are or compressed by gzip.

use std::io::{BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use super::error::GoalError;
use super::schedule::Goal;
use super::{binary, text};

/// Bytes that are read at a time.
const AT_A_TIME: usize = 1 << 18;

/// Reads a schedule to its end. What it is, its first byte tells.
///
/// # Errors
/// It cannot be read, or is neither GOAL text nor binary GOAL.
pub fn read_goal(source: impl Read) -> Result<Goal, GoalError> {
    let mut source = BufReader::with_capacity(AT_A_TIME, source);
    match source.fill_buf()?.first() {
        Some(0x1f) => plain(BufReader::with_capacity(AT_A_TIME, MultiGzDecoder::new(source))),
        _ => plain(source),
    }
}

fn plain(mut source: impl BufRead) -> Result<Goal, GoalError> {
    let first = binary::COOKIE.to_le_bytes()[0];
    match source.fill_buf()?.first() == Some(&first) {
        true => binary::read(source),
        false => text::read(source),
    }
}
