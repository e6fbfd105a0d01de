//! Binary GOAL, as LogGOPSim's `txt2bin` writes it.
//!
//! Little endian: u64 4223; u32 number of ranks, u8 and u8 the highest processor and interface; for
//! each rank u64 begin and u64 end, counted from byte 8. Then for each rank: u32 number of
//! operations, u32 number of roots, the roots; 39 bytes for each operation; the u32s of the
//! dependencies.

use std::io::{ErrorKind, Read, copy, sink};

use super::error::{GoalError, Result, Wrong};
use super::schedule::{ANY_PEER, ANY_TAG, Dependency, Goal, MOST_SIZE, Operation, Verb};

/// First eight bytes.
pub(super) const COOKIE: u64 = 4223;

/// A source that counts the bytes read.
struct Source<R> {
    from: R,
    at: u64,
}

impl<R: Read> Source<R> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes)?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }
}

fn wrong<T>(what: &'static str, is: u64) -> Result<T, Wrong> {
    Err(Wrong::Expected(what, is.to_string()))
}

/// Reads a schedule to its end.
///
/// # Errors
/// It cannot be read, or is not a binary schedule.
pub(super) fn read(from: impl Read) -> Result<Goal> {
    let mut rank = 0;
    all(&mut Source { from, at: 0 }, &mut rank).map_err(|error| match error {
        GoalError::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
            GoalError::Binary(rank, Wrong::Ends)
        }
        GoalError::Binary(_, wrong) => GoalError::Binary(rank, wrong),
        other => other,
    })
}

impl From<Wrong> for GoalError {
    fn from(wrong: Wrong) -> Self {
        Self::Binary(0, wrong)
    }
}

fn all(source: &mut Source<impl Read>, rank: &mut u32) -> Result<Goal> {
    let cookie = source.u64()?;
    if cookie != COOKIE {
        wrong("the number 4223", cookie)?;
    }
    let size = source.u32()?;
    let _greatest: [u8; 2] = source.bytes()?;
    let mut begins = Vec::new();
    for _ in 0..size {
        begins.push(source.u64()?.saturating_add(8));
        source.u64()?;
    }
    let mut goal = Goal::new(size);
    let (mut spans, mut dependencies) = (Vec::new(), Vec::new());
    for begin in begins {
        let Some(gap) = begin.checked_sub(source.at) else {
            return Ok(wrong("a later position", begin)?);
        };
        source.at += copy(&mut source.from.by_ref().take(gap), &mut sink())?;
        let first = goal.operations.len() as u32;
        let (nodes, roots) = (source.u32()?, source.u32()?);
        for _ in 0..roots {
            source.u32()?;
        }
        for before in 0..nodes {
            source.u32()?;
            goal.push(operation(source, &goal)?, None);
            for start in [false, true] {
                let (count, from) = (source.u32()?, source.u32()?);
                if count > 0 {
                    spans.push((from, count, before, start));
                }
            }
        }
        // Dependencies are stored in the order of the operations.
        for (from, count, before, start) in spans.drain(..) {
            if from as usize != dependencies.len() {
                wrong("the next dependency", from.into())?;
            }
            for _ in 0..count {
                let after = source.u32()?;
                if after >= nodes {
                    wrong("an operation", after.into())?;
                }
                dependencies.push(Dependency { before, after, start });
            }
        }
        goal.end(*rank, first, &dependencies)?;
        dependencies.clear();
        *rank += 1;
    }
    Ok(goal.whole())
}

/// The part of an operation between the number of its predecessors and its dependents.
fn operation(source: &mut Source<impl Read>, goal: &Goal) -> Result<Operation> {
    let [verb] = source.bytes()?;
    let (peer, size, tag) = (source.u32()?, source.u64()?, source.u32()?);
    let [cpu, nic] = source.bytes()?;
    let verb = match verb {
        1 => Verb::Send,
        2 => Verb::Receive,
        3 => Verb::Compute,
        other => wrong("1, 2 or 3", other.into())?,
    };
    let peer = match verb {
        Verb::Compute => 0,
        Verb::Receive if peer == ANY_PEER => peer,
        _ => goal.rank(peer.into())?,
    };
    if size > MOST_SIZE {
        Err(Wrong::TooLarge(MOST_SIZE))?;
    }
    let tag = if tag == u32::MAX { ANY_TAG } else { u64::from(tag) };
    Ok(Operation { size, tag, peer, verb, cpu, nic })
}
