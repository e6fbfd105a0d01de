//! Timeline of the replay of a GOAL schedule.

use super::clock::Traced;
use super::engine::replay;
use super::error::Result;
use super::loggops::{LATENCY, Loggops, Step};
use super::path::path;
use super::schedule::Goal;
use super::sensitivity::last;
use crate::timeline::{Span, Timeline, Window, mark};

/// Replays a schedule as [`replay_goal`](super::replay_goal) does, and returns its timeline.
///
/// # Errors
/// As [`replay_goal`](super::replay_goal).
pub fn observe_goal(goal: &Goal, loggops: &Loggops, window: &Window) -> Result<Timeline> {
    let replayed = replay(goal, loggops, Traced::new(loggops))?;
    let last = last(&replayed.finish);
    let path = path(goal, loggops, &replayed.clock, last);
    let owners = goal.owners();
    let mut spans = Vec::new();
    for past in &replayed.clock.past {
        let of = goal.operations[past.operation as usize];
        let owner = owners[owners.partition_point(|of| of.0 <= past.operation) - 1].1;
        let [first, ..] = past.steps;
        let (part, rank, peer) = match first {
            None => ("compute", owner, None),
            Some(Step::Taking) => ("receive", of.peer, Some(owner)),
            Some(_) => ("send", owner, Some(of.peer)),
        };
        let cost = |step| loggops.cost(loggops.counts(step, of.size, (LATENCY, 0)));
        let took = first.map_or((of.size as i64).saturating_mul(1000), cost);
        let begin = past.from.picoseconds as u64;
        let end = begin.saturating_add(took as u64);
        if window.shows(rank, begin, end) {
            let message = peer.map(|_| past.operation.into());
            let (cpu, bytes, is_critical) = (of.cpu, peer.map(|_| of.size), false);
            spans.push(Span { rank, cpu, part, begin, end, peer, bytes, message, is_critical });
        }
    }
    mark(&mut spans, &path, true);
    Ok(Timeline { ranks: goal.size(), end: last.1.picoseconds as u64, spans, path })
}
