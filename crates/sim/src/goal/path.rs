//! The critical path: the chain of steps that led to the end of a replay.

use super::clock::{Trace, Traced};
use super::error::OperationId;
use super::loggops::{Loggops, Step};
use super::schedule::Goal;

/// Steps that follow one another without a pause, from time 0 to the end. A critical path never
/// waits, since what it would wait for is part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriticalPath {
    /// The rank that ends last.
    pub rank: u32,
    /// The steps, in order.
    pub steps: Vec<PathStep>,
    /// Time spent on each parameter, in picoseconds, in the order of [`LETTERS`](super::LETTERS).
    pub shares: [i64; 5],
    /// Time spent on computations, in picoseconds.
    pub computation: i64,
}

/// A step of a critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// The operation; for a message, its send.
    pub place: OperationId,
    /// The rank that spends the time; for a message in flight, the sender.
    pub rank: u32,
    /// Part: compute, send (at the processor), interface, flight or receive (at the processor).
    pub part: &'static str,
    /// Begin, in picoseconds.
    pub begin: i64,
    /// End, in picoseconds.
    pub end: i64,
}

/// The critical path to a time of a rank.
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
