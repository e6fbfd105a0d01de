//! A GOAL schedule in memory: the operations of all ranks, and what waits for what.

use std::ops::Range;

use super::error::Place;

/// A receive from any rank.
pub const ANY_PEER: u32 = u32::MAX;
/// Any tag.
pub const ANY_TAG: u64 = u64::MAX;
/// Most operations of a schedule.
pub(super) const MOST: usize = (u32::MAX >> 1) as usize;

/// What an operation does. Of those that become ready together sends start first, then receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Sends a message.
    Send,
    /// Receives one.
    Receive,
    /// Computes.
    Compute,
}

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Bytes, of a computation nanoseconds; below 2^63.
    pub size: u64,
    /// Tag of a message, or [`ANY_TAG`].
    pub tag: u64,
    /// To or from whom, or [`ANY_PEER`].
    pub peer: u32,
    /// What it does.
    pub verb: Verb,
    /// The processor that it needs.
    pub cpu: u8,
    /// The interface that it needs.
    pub nic: u8,
}

/// A schedule: a graph of operations for each rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    pub(super) operations: Vec<Operation>,
    /// For each operation how many others it waits for.
    pub(super) needs: Vec<u32>,
    /// For each operation where those that wait for it begin; one more for the end.
    first: Vec<u32>,
    /// Who waits: twice the operation, and one more where it waits for the start only.
    dependents: Vec<u32>,
    /// Lines of the operations; none of a binary schedule.
    lines: Vec<u32>,
    /// The operations of each rank; ranks behind the last one that has some are left out.
    ranks: Vec<Range<u32>>,
    size: u32,
    /// Processors and interfaces of each rank.
    pub(super) cpus: usize,
    pub(super) nics: usize,
}

impl Goal {
    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// Number of operations.
    pub fn operations(&self) -> usize {
        self.operations.len()
    }

    /// The operations of a rank.
    pub fn of_rank(&self, rank: usize) -> &[Operation] {
        let range = self.range(rank);
        &self.operations[range.start as usize..range.end as usize]
    }

    /// Bytes that a replay of it needs at most, beside what waits in queues, the schedule included.
    pub fn replay_bytes(&self) -> u64 {
        let resources = 16 * (self.cpus + 2 * self.nics) as u64;
        self.operations.len() as u64 * 80 + u64::from(self.size) * (resources + 96)
    }

    /// The numbers of a rank's operations among all.
    pub(super) fn range(&self, rank: usize) -> Range<u32> {
        self.ranks.get(rank).cloned().unwrap_or_default()
    }

    /// The first operation of each rank that has some, with the rank, in the order of the operations.
    pub(super) fn owners(&self) -> Vec<(u32, u32)> {
        let some = (0..).zip(&self.ranks).filter(|(_, range)| !range.is_empty());
        let mut owners: Vec<(u32, u32)> = some.map(|(rank, range)| (range.start, rank)).collect();
        owners.sort_unstable();
        owners
    }

    /// Who waits for an operation, with whether for its start only.
    pub(super) fn dependents(&self, operation: u32) -> impl Iterator<Item = (u32, bool)> + use<'_> {
        let at = operation as usize;
        let waiting = &self.dependents[self.first[at] as usize..self.first[at + 1] as usize];
        waiting.iter().map(|packed| (packed >> 1, packed & 1 == 1))
    }

    /// Where an operation of a rank stands.
    pub(super) fn place(&self, rank: u32, operation: u32) -> Place {
        let number = operation - self.range(rank as usize).start + 1;
        Place { rank, number, line: self.lines.get(operation as usize).copied() }
    }
}

/// A dependency within a rank, by the numbers of its operations there.
#[derive(Clone, Copy)]
pub(super) struct Dependency {
    /// What has to be done, or started.
    pub before: u32,
    /// What waits.
    pub after: u32,
    /// Whether only for the start.
    pub start: bool,
}

/// Makes a schedule, rank by rank.
pub(super) struct Builder {
    goal: Goal,
    rank: u32,
    begin: u32,
    ends: Vec<u32>,
}

impl Builder {
    /// Of a schedule of so many ranks.
    pub fn new(size: u32) -> Self {
        let goal = Goal { first: vec![0], size, cpus: 1, nics: 1, ..Goal::default() };
        Self { goal, rank: 0, begin: 0, ends: Vec::new() }
    }

    /// Number of ranks.
    pub fn size(&self) -> u32 {
        self.goal.size
    }

    /// Begins a rank.
    pub fn begin(&mut self, rank: u32) {
        self.rank = rank;
        self.begin = self.goal.operations.len() as u32;
    }

    /// The number that the rank's next operation has.
    pub fn next(&self) -> u32 {
        self.goal.operations.len() as u32 - self.begin
    }

    /// Another operation of the rank; none where there are too many.
    pub fn push(&mut self, operation: Operation, line: Option<u32>) -> Option<()> {
        let goal = &mut self.goal;
        goal.cpus = goal.cpus.max(usize::from(operation.cpu) + 1);
        goal.nics = goal.nics.max(usize::from(operation.nic) + 1);
        goal.operations.push(operation);
        goal.lines.extend(line);
        (goal.operations.len() <= MOST).then_some(())
    }

    /// Ends the rank. Who waits for an operation keeps the order in which that was said; those that wait for its
    /// start are first.
    pub fn end(&mut self, dependencies: &[Dependency]) -> Option<()> {
        let (goal, begin) = (&mut self.goal, self.begin);
        let count = goal.operations.len() - begin as usize;
        goal.needs.resize(goal.operations.len(), 0);
        // A counting sort by the operation, and by what of it is waited for.
        let group = |of: &Dependency| 2 * of.before as usize + usize::from(!of.start);
        self.ends.clear();
        self.ends.resize(2 * count, 0);
        for dependency in dependencies {
            self.ends[group(dependency)] += 1;
        }
        let base = goal.dependents.len();
        let all = base + dependencies.len();
        let mut sum = base as u32;
        u32::try_from(all).ok()?;
        for two in self.ends.chunks_exact_mut(2) {
            for end in two {
                sum += std::mem::replace(end, sum);
            }
            goal.first.push(sum);
        }
        goal.dependents.resize(all, 0);
        for dependency in dependencies {
            let at = &mut self.ends[group(dependency)];
            goal.dependents[*at as usize] =
                2 * (begin + dependency.after) + u32::from(dependency.start);
            *at += 1;
            goal.needs[(begin + dependency.after) as usize] += 1;
        }
        let rank = self.rank as usize;
        if count > 0 {
            if goal.ranks.len() <= rank {
                goal.ranks.resize(rank + 1, 0..0);
            }
            goal.ranks[rank] = begin..goal.operations.len() as u32;
        }
        Some(())
    }

    /// All of it.
    pub fn finish(self) -> Goal {
        self.goal
    }
}
