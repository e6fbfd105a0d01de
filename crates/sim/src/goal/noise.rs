//! Noise of processors: detours that repeat, as in LogGOPSim.
//!
//! A trace describes one processor. At the beginning of its last detour it starts over. For each
//! rank, time 0 is at some place in the trace. A computation is lengthened by the rest of a detour
//! in which it begins, and by all detours that begin before its undisturbed end; detours that begin
//! in the lengthened part do not count again.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::clock::Clock;
use super::error::{GoalError, Result, Wrong};
use super::loggops::{Loggops, Step};
use super::schedule::Goal;

/// Longest time in a trace: an hour, in nanoseconds.
const LONGEST: f64 = 3.6e12;
/// What a line of a trace must be.
const LINE: &str = "the start and the duration of a detour in ns, after 0 and after the previous detour, the last no longer than the first start";

/// Detours of a processor, which repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detours {
    /// Time after which they repeat, in picoseconds.
    pub length: i64,
    /// Begin and duration of each detour, the first at 0.
    all: Vec<(i64, i64)>,
    /// Sum of the durations before each detour; the last entry is the sum of all.
    before: Vec<i64>,
}

impl Detours {
    /// Reads a trace: each line holds a start and a duration in nanoseconds; lines that begin with
    /// `#` are comments.
    ///
    /// # Errors
    /// A line is malformed, or detours overlap (the last one may be as long as the first start).
    pub fn read(text: &str) -> Result<Self> {
        let mut all: Vec<(i64, i64)> = Vec::new();
        let lines = (1..).zip(text.lines());
        let lines = lines.filter(|(_, of)| !of.starts_with('#') && !of.trim().is_empty());
        for (line, of) in lines {
            let mut words = of.split_whitespace().map(|word| picoseconds(word.parse().ok()?));
            let both = words.next().flatten().zip(words.next().flatten());
            let behind = all.last().map_or(1, |of| of.0.saturating_add(of.1));
            let both = both.filter(|(start, _)| *start >= behind && words.next().is_none());
            all.push(both.ok_or_else(|| wrong(line, LINE, of))?);
        }
        let first = all.first().map_or(0, |of| of.0);
        let last = all.pop().filter(|(_, duration)| *duration <= first);
        let end = text.lines().last().unwrap_or_default();
        let (length, duration) =
            last.ok_or_else(|| wrong(text.lines().count().max(1) as u64, LINE, end))?;
        all.retain(|(start, _)| *start < length);
        all.insert(0, (0, duration));
        let mut before = vec![0_i64];
        for (at, (_, duration)) in all.iter().enumerate() {
            before.push(before[at].saturating_add(*duration));
        }
        Ok(Self { length, all, before })
    }

    /// By how much longer something takes that begins at `at` and would take `long`.
    fn longer(&self, at: i64, long: i64) -> i64 {
        let at = at % self.length;
        let begun = self.all.partition_point(|(start, _)| *start <= at);
        let (start, duration) = self.all[begun - 1];
        let left = start.saturating_add(duration).saturating_sub(at).max(0);
        let end = at.saturating_add(long);
        let last = self.all.partition_point(|(start, _)| *start < end % self.length);
        let whole = (end / self.length).saturating_mul(self.before[self.all.len()]);
        let until = whole.saturating_add(self.before[last]);
        left.saturating_add(until.saturating_sub(self.before[begun]).max(0))
    }
}

fn picoseconds(nanoseconds: f64) -> Option<i64> {
    (0.0..=LONGEST).contains(&nanoseconds).then(|| (nanoseconds * 1e3).round() as i64)
}

fn wrong(line: u64, what: &'static str, is: &str) -> GoalError {
    GoalError::Syntax(line, 1, Wrong::Expected(what, is.to_owned()))
}

/// Noise of all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noise {
    /// Traces, which are assigned to ranks in turn.
    pub detours: Vec<Detours>,
    /// Place of time 0 in the trace of each of [`Goal::active`], in picoseconds.
    pub offsets: Vec<i64>,
}

/// A clock with noise, which also counts the replay's progress.
pub(super) struct Watched<'a> {
    pub loggops: &'a Loggops,
    pub goal: &'a Goal,
    pub noise: Option<&'a Noise>,
    /// As [`Goal::owners`], if there is noise.
    pub owners: Vec<(u32, u32)>,
    /// Number of computations, sends and arrivals that have begun.
    pub done: &'a AtomicU64,
    /// Total delay by noise.
    pub lost: i64,
}

impl Watched<'_> {
    /// Delay of a rank by noise: of the operation's owner, or of the receiver of its message.
    fn longer(&mut self, at: i64, long: i64, operation: u32, is_owner: bool) -> i64 {
        self.done.store(self.done.load(Relaxed) + 1, Relaxed);
        let Some(noise) = self.noise else { return 0 };
        let owner = self.owners.partition_point(|of| of.0 <= operation) - 1;
        let peer = self.goal.operations[operation as usize].peer;
        let rank = if is_owner { self.owners[owner].1 } else { peer } as usize;
        let detours = &noise.detours[rank % noise.detours.len()];
        let offset = noise.offsets[self.goal.place_of(rank)];
        let longer = detours.longer(at.saturating_add(offset), long);
        self.lost = self.lost.saturating_add(longer);
        longer
    }
}

impl Clock for Watched<'_> {
    type At = i64;

    fn compute(&mut self, at: i64, operation: u32, picoseconds: i64) -> i64 {
        let longer = self.longer(at, picoseconds, operation, true);
        at.saturating_add(picoseconds).saturating_add(longer)
    }

    /// Of a message only o occupies a processor all the time.
    fn step(&mut self, at: i64, (operation, size): (u32, u64), step: Step) -> i64 {
        let cost = self.loggops.cost(self.loggops.counts(step, size, (0, 0)));
        let longer = match step {
            Step::Passing | Step::Flight => 0,
            Step::Sending | Step::Taking => {
                let overhead = self.loggops.parameters[1];
                self.longer(at, overhead, operation, step == Step::Sending)
            }
        };
        at.saturating_add(cost).saturating_add(longer)
    }
}
