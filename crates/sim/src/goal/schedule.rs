//! A GOAL schedule in memory: the operations of all ranks, and what waits for what.

use std::ops::Range;

use super::error::{Place, Wrong};

/// A receive from any rank.
pub const ANY_PEER: u32 = u32::MAX;
/// Any tag.
pub const ANY_TAG: u64 = u64::MAX;
/// Most bytes of a message, and nanoseconds of a computation.
pub(super) const MOST_SIZE: u64 = (1 << 63) - 1;
/// Most operations, and most dependencies.
const MOST: usize = (1 << 31) - 1;

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
    /// The ranks that have operations, ascending, and which these are.
    ranks: Vec<(u32, Range<u32>)>,
    size: u32,
    /// Processors and interfaces of each rank.
    pub(super) cpus: usize,
    pub(super) nics: usize,
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

impl Goal {
    /// One of so many ranks, without operations.
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

    /// Computations, sends and arrivals.
    pub fn steps(&self) -> u64 {
        let of_verb = |verb| self.operations.iter().filter(|of| of.verb == verb).count() as u64;
        of_verb(Verb::Compute) + 2 * of_verb(Verb::Send)
    }

    /// The operations of a rank.
    pub fn of_rank(&self, rank: usize) -> &[Operation] {
        let range = self.range(rank);
        &self.operations[range.start as usize..range.end as usize]
    }

    /// Bytes that it and a replay of it need, about.
    pub fn replay_bytes(&self) -> u64 {
        let resources = 8 * (self.cpus + 2 * self.nics) as u64;
        self.operations.len() as u64 * 80 + u64::from(self.size) * (resources + 88)
    }

    /// Which rank it is, if there is one of this number.
    pub(super) fn rank(&self, rank: u64) -> Result<u32, Wrong> {
        let below = u32::try_from(rank).ok().filter(|rank| *rank < self.size);
        below.ok_or(Wrong::RankBeyond(rank, self.size))
    }

    /// The numbers of a rank's operations among all.
    pub(super) fn range(&self, rank: usize) -> Range<u32> {
        let at = self.ranks.binary_search_by_key(&rank, |of| of.0 as usize);
        at.map_or(0..0, |at| self.ranks[at].1.clone())
    }

    /// The first operation of each rank that has some, with the rank, in the order of the operations.
    pub(super) fn owners(&self) -> Vec<(u32, u32)> {
        let some = self.ranks.iter();
        let mut owners: Vec<(u32, u32)> = some.map(|(rank, of)| (of.start, *rank)).collect();
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

    /// Another operation of the rank that is read.
    pub(super) fn push(&mut self, operation: Operation, line: Option<u32>) {
        self.cpus = self.cpus.max(usize::from(operation.cpu) + 1);
        self.nics = self.nics.max(usize::from(operation.nic) + 1);
        self.operations.push(operation);
        self.lines.extend(line);
    }

    /// Ends a rank that began with an operation. Who waits for one keeps the order in which that was said; those that
    /// wait for its start are first.
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
        // A counting sort by the operation, and by what of it is waited for.
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

    /// The whole of it, when all its ranks are read, in whatever order.
    pub(super) fn whole(mut self) -> Self {
        self.ranks.sort_unstable_by_key(|of| of.0);
        self
    }
}
