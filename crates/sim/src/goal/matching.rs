//! Matching of messages and receives: ambiguous matches, and why a schedule cannot end.

use std::collections::VecDeque;
use std::ops::Range;

use super::error::{GoalError, Left, OperationId};
use super::schedule::{ANY_PEER, ANY_TAG, Goal, Operation, Verb};

/// A posted receive, or a message without one.
#[derive(Clone, Copy)]
pub(super) struct Letter {
    pub tag: u64,
    pub peer: u32,
    pub operation: u32,
}

/// Receives from any rank for which, when they were matched, a message from another rank was also
/// there or on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ambiguous {
    /// Number of such receives.
    pub count: u64,
    /// Position of the first one.
    pub first: Option<OperationId>,
}

/// Removes the first letter in a queue that matches a peer and a tag. Returns it with the number of
/// letters before it.
pub(super) fn found(queue: &mut VecDeque<Letter>, peer: u32, tag: u64) -> Option<(usize, Letter)> {
    let at = queue.iter().position(|letter| fits(letter, peer, tag))?;
    Some((at, queue.remove(at)?))
}

/// Whether a letter matches a peer and a tag; on either side, either may be "any".
pub(super) fn fits(letter: &Letter, peer: u32, tag: u64) -> bool {
    (letter.peer == peer || letter.peer == ANY_PEER || peer == ANY_PEER)
        && (letter.tag == tag || letter.tag == ANY_TAG || tag == ANY_TAG)
}

/// For each rank that has operations or messages, waiting receives and unreceived messages.
pub(super) type Queues = Vec<(VecDeque<Letter>, VecDeque<Letter>)>;

/// Why the schedule cannot end; `needs` counts the open dependencies of each operation.
pub(super) fn stuck(goal: &Goal, needs: &[u32], queues: Queues) -> GoalError {
    if let Some(cycle) = goal.ranks.iter().find_map(|of| cycle(goal, needs, of)) {
        return GoalError::Cycle(cycle);
    }
    let (mut alone, mut waiting) = (Vec::new(), Vec::new());
    for (rank, (posted, unexpected)) in goal.active().zip(queues) {
        let receives = posted.into_iter().map(|of| (rank, of.operation));
        for (owner, at) in receives.chain(unexpected.into_iter().map(|of| (of.peer, of.operation)))
        {
            let of = goal.operations[at as usize];
            let left = Left {
                place: goal.place(owner, at),
                sends: of.verb == Verb::Send,
                peer: Some(of.peer).filter(|peer| *peer != ANY_PEER),
                tag: Some(of.tag).filter(|tag| *tag != ANY_TAG),
            };
            // It may wait for an operation that has not begun.
            let peers = match of.peer {
                ANY_PEER => &goal.ranks[..],
                peer => &goal.ranks[goal.place_of(peer as usize)..][..1],
            };
            let mut others = peers.iter().flat_map(|peer| peer.1.clone());
            let may_fit = |other: u32| {
                let Operation { tag, peer, verb, .. } = goal.operations[other as usize];
                let is_other = verb != of.verb && verb != Verb::Compute;
                let letter = Letter { tag, peer, operation: other };
                needs[other as usize] > 0 && is_other && fits(&letter, owner, of.tag)
            };
            if others.any(may_fit) { &mut waiting } else { &mut alone }.push(left);
        }
    }
    if alone.is_empty() { GoalError::Deadlock(waiting) } else { GoalError::Unmatched(alone) }
}

/// Operations of a rank that wait for one another in a cycle.
fn cycle(
    goal: &Goal,
    needs: &[u32],
    (rank, range): &(u32, Range<u32>),
) -> Option<Vec<OperationId>> {
    if range.clone().all(|at| needs[at as usize] == 0) {
        return None;
    }
    // Removes operations without open dependencies again and again; what remains contains a cycle.
    let number = |at: u32| (at - range.start) as usize;
    let mut open: Vec<u32> = range.clone().map(|at| goal.needs[at as usize]).collect();
    let mut free: Vec<u32> = range.clone().filter(|at| open[number(*at)] == 0).collect();
    while let Some(at) = free.pop() {
        for (after, _) in goal.dependents(at) {
            open[number(after)] -= 1;
            if open[number(after)] == 0 {
                free.push(after);
            }
        }
    }
    let begin = range.clone().find(|at| open[number(*at)] > 0)?;
    // Each remaining operation waits for another one, so following predecessors leads to one seen
    // before.
    let mut before = vec![None; open.len()];
    for at in range.clone().filter(|at| open[number(*at)] > 0) {
        for (after, _) in goal.dependents(at) {
            before[number(after)] = Some(at);
        }
    }
    let mut seen = vec![false; open.len()];
    let mut at = begin;
    while !std::mem::replace(&mut seen[number(at)], true) {
        at = before[number(at)]?;
    }
    let mut cycle = vec![at];
    let mut next = before[number(at)]?;
    while next != at {
        cycle.push(next);
        next = before[number(next)]?;
    }
    cycle.sort_unstable();
    Some(cycle.into_iter().map(|at| goal.place(*rank, at)).collect())
}
