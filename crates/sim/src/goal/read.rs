//! Schedules in files: text or binary, as they are or compressed by gzip.

use std::io::{BufRead, BufReader, Chain, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

use super::error::GoalError;
use super::schedule::Goal;
use super::{binary, text};

/// Bytes that are read at a time.
const AT_A_TIME: usize = 1 << 18;

/// Reads a schedule to its end. What it is, its first bytes tell.
///
/// # Errors
/// It cannot be read, or is neither GOAL text nor binary GOAL.
pub fn read_goal(source: impl Read) -> Result<Goal, GoalError> {
    let mut source = BufReader::with_capacity(AT_A_TIME, source);
    if begins_with(&mut source, &[0x1f, 0x8b])? {
        plain(BufReader::with_capacity(AT_A_TIME, MultiGzDecoder::new(source)))
    } else {
        plain(source)
    }
}

fn plain(mut source: impl BufRead) -> Result<Goal, GoalError> {
    let mut first = [0; binary::COOKIE.len()];
    let count = fill(&mut source, &mut first)?;
    if first == binary::COOKIE {
        return binary::read(source);
    }
    let begun: Chain<_, _> = Cursor::new(first).take(count as u64).chain(source);
    text::read(begun)
}

/// Reads until a buffer is full or the source ends.
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> Result<usize, GoalError> {
    let mut count = 0;
    while count < buffer.len() {
        match source.read(&mut buffer[count..])? {
            0 => break,
            more => count += more,
        }
    }
    Ok(count)
}

fn begins_with(source: &mut impl BufRead, bytes: &[u8]) -> Result<bool, GoalError> {
    Ok(source.fill_buf()?.starts_with(bytes))
}
