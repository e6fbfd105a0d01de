//! The critical path: what the last time of a replay came from, back to the beginning.

use super::clock::{Trace, Traced};
use super::error::Place;
use super::loggops::{Loggops, Step};
use super::schedule::Goal;

/// Steps that follow from one another without a pause, from time 0 to the end: a critical path does not wait, because
/// what it would wait for is part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriticalPath {
    /// The rank that ends last.
    pub rank: u32,
    /// The steps in their order.
    pub steps: Vec<PathStep>,
    /// Picoseconds that are spent on each parameter, as [`LETTERS`](super::LETTERS).
    pub shares: [i64; 5],
    /// Picoseconds of computations.
    pub computation: i64,
}

/// A step of a critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// The operation: of a message that which sent it.
    pub place: Place,
    /// The rank whose time it is, of a message under way the sender.
    pub rank: u32,
    /// What happens: compute, send (at the processor), interface, flight or receive (at the processor).
    pub part: &'static str,
    /// When it begins, in picoseconds.
    pub begin: i64,
    /// When it ends.
    pub end: i64,
}

/// The path to a time of a rank.
pub(super) fn path(
    goal: &Goal,
    loggops: &Loggops,
    clock: &Traced<'_>,
    (rank, mut at): (u32, Trace),
) -> CriticalPath {
    let owners = goal.owners();
    let mut path = CriticalPath { rank, steps: Vec::new(), shares: [0; 5], computation: 0 };
    while let Some((past, step)) = clock.source(at) {
        let operation = goal.operations[past.operation as usize];
        let owner = owners[owners.partition_point(|of| of.0 <= past.operation) - 1].1;
        let is_taken = past.steps[0] == Some(Step::Taking);
        let (begin, end) = (past.from.picoseconds, at.picoseconds);
        match step {
            None => path.computation += end - begin,
            Some(step) => {
                let counts = loggops.counts(step, operation.size, (0, 0));
                for (of, (share, count)) in path.shares.iter_mut().zip(counts).enumerate() {
                    *share += loggops.time(of, count);
                }
            }
        }
        path.steps.push(PathStep {
            place: goal.place(owner, past.operation),
            rank: if is_taken { operation.peer } else { owner },
            part: match step {
                None => "compute",
                Some(Step::Sending) => "send",
                Some(Step::Passing) => "interface",
                Some(Step::Flight) => "flight",
                Some(Step::Taking) => "receive",
            },
            begin,
            end,
        });
        at = past.from;
    }
    path.steps.reverse();
    path
}
