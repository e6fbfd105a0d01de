//! Timeline of a replay: what ranks did when, the messages between them, and the critical path.

use std::collections::{BTreeSet, HashSet};

use crate::goal::CriticalPath;

/// The part of a replay that is shown.
#[derive(Clone, Debug)]
pub struct Window {
    /// Ranks shown.
    pub ranks: BTreeSet<u32>,
    /// Shows what ends at this time or later, in picoseconds.
    pub from: u64,
    /// Shows what begins at this time or before, in picoseconds.
    pub until: u64,
}

impl Window {
    /// All of a replay of so many ranks.
    pub fn whole(ranks: usize) -> Self {
        Window { ranks: (0..ranks as u32).collect(), from: 0, until: u64::MAX }
    }

    /// The part of the window in which there is something of a replay: its ranks, until the last one ends.
    pub fn within(mut self, timeline: &Timeline) -> Self {
        self.until = self.until.min(timeline.end);
        self.ranks.retain(|rank| (*rank as usize) < timeline.ranks);
        self
    }

    /// Whether a span of a rank is shown.
    pub fn shows(&self, rank: u32, begin: u64, end: u64) -> bool {
        end >= self.from && begin <= self.until && self.ranks.contains(&rank)
    }
}

/// A replay, as far as its window shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Number of ranks of the replay.
    pub ranks: usize,
    /// Time at which the last rank ended, in picoseconds.
    pub end: u64,
    /// What ranks did, within the window.
    pub spans: Vec<Span>,
    /// The whole critical path.
    pub path: CriticalPath,
}

/// A replay, seen through a window, and the machine with its parameters.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The replay.
    pub timeline: Timeline,
    /// The window, within the replay.
    pub window: Window,
    /// The machine.
    pub machine: String,
}

/// Something that a processor did without a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The rank.
    pub rank: u32,
    /// Number of the rank's processor.
    pub cpu: u8,
    /// Part: compute, send or receive.
    pub part: &'static str,
    /// Begin, in picoseconds.
    pub begin: u64,
    /// End, in picoseconds.
    pub end: u64,
    /// The other rank of a message.
    pub peer: Option<u32>,
    /// Bytes of the message; `None` for words.
    pub bytes: Option<u64>,
    /// Number of the message, the same for its send and its receive.
    pub message: Option<u64>,
    /// Whether it is on the critical path.
    pub is_critical: bool,
}

/// Marks spans on the critical path: those with the rank, part and begin of one of its steps.
pub(crate) fn mark(spans: &mut [Span], path: &CriticalPath, in_goal: bool) {
    let steps = path.steps.iter().map(|step| (step.rank, step.part, step.begin as u64));
    let on_path: HashSet<(u32, &str, u64)> = steps.collect();
    for span in spans {
        let is = |part| on_path.contains(&(span.rank, part, span.begin));
        // In GOAL a flight includes the o of its send, and begins with it.
        span.is_critical = is(span.part) || in_goal && span.part == "send" && is("flight");
    }
}
