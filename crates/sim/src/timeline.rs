//! What happened in a replay, for drawing: what ranks did when, messages between them, and what the end came from.

use std::collections::{BTreeSet, HashSet};

use crate::goal::CriticalPath;

/// What is to be seen of a replay.
#[derive(Clone, Debug)]
pub struct Window {
    /// These ranks.
    pub ranks: BTreeSet<u32>,
    /// What ends at this time or later, in picoseconds.
    pub from: u64,
    /// What begins at this time or before.
    pub until: u64,
}

impl Window {
    /// Whether something of a rank is seen.
    pub fn shows(&self, rank: u32, begin: u64, end: u64) -> bool {
        end >= self.from && begin <= self.until && self.ranks.contains(&rank)
    }
}

/// A replay, as far as its window shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Number of ranks of the replay.
    pub ranks: usize,
    /// When the last one ended, in picoseconds.
    pub end: u64,
    /// What ranks did.
    pub spans: Vec<Span>,
    /// What the end came from, all of it.
    pub path: CriticalPath,
}

/// What a processor did without a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The rank.
    pub rank: u32,
    /// Which of its processors.
    pub cpu: u8,
    /// What it did: compute, send or receive.
    pub part: &'static str,
    /// When it began, in picoseconds.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// With whom.
    pub peer: Option<u32>,
    /// Bytes of the message; none of words.
    pub bytes: Option<u64>,
    /// The number of the message: its send and its receive have the same.
    pub message: Option<u64>,
    /// Whether the end came from it.
    pub is_critical: bool,
}

/// Marks what the end came from: of the same rank and part, with the same beginning.
pub(crate) fn mark(spans: &mut [Span], path: &CriticalPath, in_goal: bool) {
    let steps = path.steps.iter().map(|step| (step.rank, step.part, step.begin as u64));
    let on_path: HashSet<(u32, &str, u64)> = steps.collect();
    for span in spans {
        let is = |part| on_path.contains(&(span.rank, part, span.begin));
        // In GOAL a flight begins with its send, whose o it has in it.
        span.is_critical = is(span.part) || in_goal && span.part == "send" && is("flight");
    }
}
