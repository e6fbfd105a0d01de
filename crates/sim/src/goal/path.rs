//! The critical path: what the last time of a replay came from, back to the beginning.

use super::clock::{Trace, Traced};
use super::error::Place;
use super::loggops::{Loggops, Step};
use super::schedule::Goal;

/// Steps that follow from one another without a pause, from time 0 to the end: a critical path does not wait, because
/// what it would wait for is part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// The rank that ends last.
    pub rank: u32,
    /// The steps in their order.
    pub steps: Vec<PathStep>,
    /// What its time is spent on.
    pub shares: Shares,
}

/// A step of a critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// The operation: of a message that which sent it.
    pub place: Place,
    /// The rank whose time it is, of a message under way the sender.
    pub rank: u32,
    /// What happens.
    pub part: Part,
    /// When it begins, in picoseconds.
    pub begin: i64,
    /// When it ends.
    pub end: i64,
}

/// What happens in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A computation.
    Compute,
    /// A message leaves the sender's processor.
    Send,
    /// A message occupies an interface.
    Interface,
    /// A message leaves the sender and is under way.
    Flight,
    /// The receiver's processor takes a message.
    Receive,
}

/// What the time of a path is spent on, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// o.
    pub overhead: i64,
    /// g.
    pub gap: i64,
    /// L.
    pub latency: i64,
    /// Bytes: G, or O.
    pub bytes: i64,
    /// Computations.
    pub computation: i64,
}

/// The path to a time of a rank.
pub(super) fn path(
    goal: &Goal,
    loggops: &Loggops,
    clock: &Traced<'_>,
    end: (u32, Trace),
) -> CriticalPath {
    let owners = goal.owners();
    let (mut steps, mut shares) = (Vec::new(), Shares::default());
    let (rank, mut at) = end;
    while let Some((past, number)) = clock.source(at) {
        let operation = goal.operations[past.operation as usize];
        let owner = owners[owners.partition_point(|of| of.0 <= past.operation) - 1].1;
        let time = at.picoseconds - past.from.picoseconds;
        let step = past.steps.map(|steps| (steps[number], steps[0]));
        let (part, of) = match step {
            None => (Part::Compute, owner),
            Some((Step::Sending, _)) => (Part::Send, owner),
            Some((Step::Flight, _)) => (Part::Flight, owner),
            Some((Step::Taking, _)) => (Part::Receive, operation.peer),
            Some((Step::Passing, Step::Taking)) => (Part::Interface, operation.peer),
            Some((Step::Passing, _)) => (Part::Interface, owner),
        };
        match part {
            Part::Compute => shares.computation += time,
            Part::Flight => {
                shares.overhead += loggops.overhead;
                shares.latency += loggops.latency;
            }
            Part::Interface => {
                shares.gap += loggops.gap;
                shares.bytes += time - loggops.gap;
            }
            Part::Send | Part::Receive => {
                shares.overhead += loggops.overhead;
                shares.bytes += time - loggops.overhead;
            }
        }
        let (begin, end) = (past.from.picoseconds, at.picoseconds);
        let place = goal.place(owner, past.operation);
        steps.push(PathStep { place, rank: of, part, begin, end });
        at = past.from;
    }
    steps.reverse();
    CriticalPath { rank, steps, shares }
}
