//! Binary GOAL, as LogGOPSim's `txt2bin` writes it.
//!
//! Little endian: u64 4223; u32 ranks, u8 and u8 the greatest processor and interface; for each rank u64 begin and
//! u64 end, counted from byte 8; then for each rank u32 operations, u32 roots, the roots; 39 bytes an operation; the
//! u32s of who depends on whom.

use std::io::Read;

use super::error::{GoalError, Wrong};
use super::schedule::{ANY_PEER, ANY_TAG, Builder, Dependency, Goal, Operation, Verb};

/// The first eight bytes.
pub(super) const COOKIE: [u8; 8] = 4223_u64.to_le_bytes();

/// Bytes of an operation.
const NODE: usize = 39;

/// A source that knows how far it is.
struct Source<R> {
    from: R,
    /// Bytes behind the cookie.
    at: u64,
    rank: u32,
}

impl<R: Read> Source<R> {
    fn wrong<T>(&self, wrong: Wrong) -> Result<T, GoalError> {
        Err(GoalError::Binary { rank: self.rank, wrong })
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], GoalError> {
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes).or_else(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => self.wrong(Wrong::Ends),
            _ => Err(error.into()),
        })?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, GoalError> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }
}

/// Reads a schedule behind its first eight bytes.
///
/// # Errors
/// It cannot be read, or is not such a schedule.
pub(super) fn read(from: impl Read) -> Result<Goal, GoalError> {
    let mut source = Source { from, at: 0, rank: 0 };
    let size = source.u32()?;
    let _greatest: [u8; 2] = source.bytes()?;
    let mut begins = Vec::new();
    for _ in 0..size {
        begins.push(u64::from_le_bytes(source.bytes()?));
        let _end: [u8; 8] = source.bytes()?;
    }
    let mut builder = Builder::new(size);
    let (mut spans, mut dependencies) = (Vec::new(), Vec::new());
    for (rank, begin) in (0..size).zip(begins) {
        source.rank = rank;
        let Some(gap) = begin.checked_sub(source.at) else {
            return source.wrong(Wrong::Misplaced);
        };
        source.at += std::io::copy(&mut source.from.by_ref().take(gap), &mut std::io::sink())?;
        let (nodes, roots) = (source.u32()?, source.u32()?);
        for _ in 0..roots {
            source.u32()?;
        }
        builder.begin(rank);
        spans.clear();
        dependencies.clear();
        for before in 0..nodes {
            let node = source.bytes()?;
            let operation = operation(&node, size).or_else(|wrong| source.wrong(wrong))?;
            if builder.push(operation, None).is_none() {
                return source.wrong(Wrong::TooMany);
            }
            let word =
                |at| u32::from_le_bytes([node[at], node[at + 1], node[at + 2], node[at + 3]]);
            for (at, start) in [(23, false), (31, true)] {
                if word(at) > 0 {
                    spans.push((word(at + 4), word(at), before, start));
                }
            }
        }
        // They lie in the order of the operations.
        let mut at = 0;
        for &(first, count, before, start) in &spans {
            if first != at {
                return source.wrong(Wrong::Misplaced);
            }
            at += count;
            for _ in 0..count {
                let after = source.u32()?;
                if after >= nodes {
                    return source.wrong(Wrong::Unknown("operation", u64::from(after)));
                }
                dependencies.push(Dependency { before, after, start });
            }
        }
        if builder.end(&dependencies).is_none() {
            return source.wrong(Wrong::TooMany);
        }
    }
    Ok(builder.finish())
}

fn operation(node: &[u8; NODE], ranks: u32) -> Result<Operation, Wrong> {
    let (_, rest) = node.split_at(4);
    let word = |at: usize| u32::from_le_bytes([rest[at], rest[at + 1], rest[at + 2], rest[at + 3]]);
    let size = u64::from(word(5)) | u64::from(word(9)) << 32;
    let (verb, mut peer, tag) = (rest[0], word(1), word(13));
    let verb = match verb {
        1 => Verb::Send,
        2 => Verb::Receive,
        3 => Verb::Compute,
        other => return Err(Wrong::Unknown("operation of type", u64::from(other))),
    };
    match verb {
        Verb::Compute => peer = 0,
        Verb::Receive if peer == ANY_PEER => {}
        _ if peer < ranks => {}
        _ => return Err(Wrong::RankBeyond(u64::from(peer), ranks)),
    }
    if size >> 63 != 0 {
        return Err(Wrong::TooLarge((1 << 63) - 1));
    }
    let tag = if tag == u32::MAX { ANY_TAG } else { u64::from(tag) };
    Ok(Operation { size, tag, peer, verb, cpu: rest[17], nic: rest[18] })
}
