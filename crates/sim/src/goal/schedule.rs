//! A GOAL schedule in memory: the operations of all ranks, and their dependencies.

use std::collections::BTreeSet;
use std::ops::Range;

use super::error::{OperationId, Wrong};

/// Stands for any rank in a receive.
pub const ANY_PEER: u32 = u32::MAX;
/// Stands for any tag.
pub const ANY_TAG: u64 = u64::MAX;
/// Largest size: bytes of a message, or nanoseconds of a computation.
pub(super) const MOST_SIZE: u64 = (1 << 63) - 1;
/// Largest number of operations, and of dependencies.
const MOST: usize = (1 << 31) - 1;

/// Of a traced replay, the bytes of a time, and of what is kept of a step, in a list that grows.
const TRACED: (u64, u64) = (48, 112);

/// Kind of an operation. Of operations that become ready together, sends begin first, then
/// receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Sends a message.
    Send,
    /// Receives a message.
    Receive,
    /// Computes.
    Compute,
}

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Bytes of a message, or nanoseconds of a computation; below 2^63.
    pub size: u64,
    /// Tag of a message, or [`ANY_TAG`].
    pub tag: u64,
    /// The other rank, or [`ANY_PEER`].
    pub peer: u32,
    /// Kind.
    pub verb: Verb,
    /// Processor that it needs.
    pub cpu: u8,
    /// Interface that it needs.
    pub nic: u8,
}

/// A schedule: a graph of operations for each rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    pub(super) operations: Vec<Operation>,
    /// Number of dependencies of each operation.
    pub(super) needs: Vec<u32>,
    /// For each operation, where its dependents begin; one more entry for the end.
    first: Vec<u32>,
    /// Dependents: twice the operation, plus 1 if it waits only for the start.
    dependents: Vec<u32>,
    /// Line of each operation; empty for a binary schedule.
    lines: Vec<u32>,
    /// Ranks that have operations or messages, in ascending order, with their ranges of operations.
    /// All others end at 0, and take no memory.
    pub(super) ranks: Vec<(u32, Range<u32>)>,
    size: u32,
    /// Numbers of processors and of interfaces of each rank.
    pub(super) cpus: usize,
    pub(super) nics: usize,
}

/// A dependency within a rank, by the numbers of its operations.
#[derive(Clone, Copy)]
pub(super) struct Dependency {
    /// The operation that must have ended, or started.
    pub before: u32,
    /// The operation that waits.
    pub after: u32,
    /// Whether it waits only for the start.
    pub start: bool,
}

impl Goal {
    /// A schedule of `size` ranks without operations.
    pub(super) fn new(size: u32) -> Self {
        Self { first: vec![0], size, cpus: 1, nics: 1, ..Self::default() }
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// Number of operations.
    pub fn operations(&self) -> usize {
        self.operations.len()
    }

    /// Number of computations, sends and arrivals.
    pub fn steps(&self) -> u64 {
        let of_verb = |verb| self.operations.iter().filter(|of| of.verb == verb).count() as u64;
        of_verb(Verb::Compute) + 2 * of_verb(Verb::Send)
    }

    /// Ranks that have operations or messages, in ascending order.
    pub fn active(&self) -> impl ExactSizeIterator<Item = u32> {
        self.ranks.iter().map(|of| of.0)
    }

    /// Operations of a rank.
    pub fn of_rank(&self, rank: usize) -> &[Operation] {
        let range = self.range(rank);
        &self.operations[range.start as usize..range.end as usize]
    }

    /// Approximate memory that a replay of the schedule needs, in bytes. One that is traced, for
    /// sensitivities and timelines, keeps everything that happened.
    pub fn replay_bytes(&self, is_traced: bool) -> u64 {
        let (time, past) = if is_traced { TRACED } else { (8, 0) };
        let resources = time * (self.cpus + 2 * self.nics) as u64;
        let of_operations = self.operations.len() as u64 * (32 + 2 * time);
        of_operations + self.steps() * past + self.ranks.len() as u64 * (resources + 160)
    }

    /// Converts a number to a rank, if it is below the number of ranks.
    pub(super) fn rank(&self, rank: u64) -> Result<u32, Wrong> {
        let below = u32::try_from(rank).ok().filter(|rank| *rank < self.size);
        below.ok_or(Wrong::RankBeyond(rank, self.size))
    }

    /// Place of a rank among those that have operations or messages, or where it would be. It is not
    /// beyond the rank's number, nor further before it than there are other ranks.
    pub(super) fn place_of(&self, rank: usize) -> usize {
        let most = self.ranks.len().min(rank);
        let least = rank.saturating_sub(self.size() - self.ranks.len()).min(most);
        least + self.ranks[least..most].partition_point(|of| (of.0 as usize) < rank)
    }

    fn at(&self, rank: usize) -> Option<&(u32, Range<u32>)> {
        self.ranks.get(self.place_of(rank)).filter(|of| of.0 as usize == rank)
    }

    /// Range of a rank's operations among all.
    pub(super) fn range(&self, rank: usize) -> Range<u32> {
        self.at(rank).map_or(0..0, |of| of.1.clone())
    }

    /// The first operation of each rank that has some, with the rank, in the order of operations.
    pub(super) fn owners(&self) -> Vec<(u32, u32)> {
        let some = self.ranks.iter().filter(|of| !of.1.is_empty());
        let mut owners: Vec<(u32, u32)> = some.map(|(rank, of)| (of.start, *rank)).collect();
        owners.sort_unstable();
        owners
    }

    /// Dependents of an operation, and whether each waits only for its start.
    pub(super) fn dependents(&self, operation: u32) -> impl Iterator<Item = (u32, bool)> + use<'_> {
        let at = operation as usize;
        let waiting = &self.dependents[self.first[at] as usize..self.first[at + 1] as usize];
        waiting.iter().map(|packed| (packed >> 1, packed & 1 == 1))
    }

    /// Position of an operation of a rank.
    pub(super) fn place(&self, rank: u32, operation: u32) -> OperationId {
        let number = operation - self.range(rank as usize).start + 1;
        OperationId { rank, number, line: self.lines.get(operation as usize).copied() }
    }

    /// Adds an operation to the rank that is being read.
    pub(super) fn push(&mut self, operation: Operation, line: Option<u32>) {
        self.cpus = self.cpus.max(usize::from(operation.cpu) + 1);
        self.nics = self.nics.max(usize::from(operation.nic) + 1);
        self.operations.push(operation);
        self.lines.extend(line);
    }

    /// Ends a rank whose operations begin at `begin`. Dependents of an operation keep their order;
    /// those that wait for its start come first.
    pub(super) fn end(
        &mut self,
        rank: u32,
        begin: u32,
        dependencies: &[Dependency],
    ) -> Result<(), Wrong> {
        let end = self.operations.len();
        if end.max(self.dependents.len() + dependencies.len()) > MOST {
            return Err(Wrong::TooLarge(MOST as u64));
        }
        self.needs.resize(end, 0);
        // A counting sort by operation, and by whether its start or its end is waited for.
        let group = |of: &Dependency| 2 * of.before as usize + usize::from(!of.start);
        let mut places = vec![0; 2 * (end - begin as usize)];
        for dependency in dependencies {
            places[group(dependency)] += 1;
        }
        let mut sum = self.dependents.len() as u32;
        for two in places.chunks_exact_mut(2) {
            for place in two {
                sum += std::mem::replace(place, sum);
            }
            self.first.push(sum);
        }
        self.dependents.resize(sum as usize, 0);
        for dependency in dependencies {
            let (after, place) = (begin + dependency.after, &mut places[group(dependency)]);
            self.dependents[*place as usize] = 2 * after + u32::from(dependency.start);
            *place += 1;
            self.needs[after as usize] += 1;
        }
        if begin < end as u32 {
            self.ranks.push((rank, begin..end as u32));
        }
        Ok(())
    }

    /// Completes the schedule after all ranks are read, in whatever order.
    pub(super) fn whole(mut self) -> Self {
        self.ranks.sort_unstable_by_key(|of| of.0);
        let peers = self.operations.iter().filter(|of| of.verb != Verb::Compute).map(|of| of.peer);
        let is_new = |of: &u32| *of != ANY_PEER && self.at(*of as usize).is_none();
        let others: BTreeSet<u32> = peers.filter(is_new).collect();
        self.ranks.extend(others.into_iter().map(|rank| (rank, 0..0)));
        self.ranks.sort_unstable_by_key(|of| of.0);
        self
    }
}
