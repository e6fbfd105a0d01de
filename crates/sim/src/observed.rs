//! An observed replay: its critical path, and what ranks did when.

use crate::engine::trace::{Growth, Moment, MomentKind, Past, Trace, Traced};
use crate::engine::{Step, Time, replay_by};
use crate::error::Result;
use crate::goal::{CriticalPath, OperationId, PathStep};
use crate::timeline::{Span, Timeline, Window, mark};
use crate::{Machine, Schedule, SimError};

/// Replays a schedule, and returns its timeline. Everything is kept until the end, not only what
/// the window shows.
///
/// # Errors
/// As [`replay`](crate::replay).
pub fn observe(schedule: &Schedule, machine: &Machine, window: &Window) -> Result<Timeline> {
    let clock = Traced::<[i64; 0]>::keeping(true);
    let (_, ends, clock) = replay_by(clock, schedule, machine)?;
    let past = clock.past.unwrap_or_default();
    if past.is_full() {
        return Err(SimError::TooMuch);
    }
    let (rank, last) = last(&ends);
    let path = path(&past, machine, rank, last);
    let mut spans = Vec::new();
    let times = past.ends.iter().flatten().copied();
    for ((number, moment), end) in (0..).zip(&past.moments).zip(times) {
        let (rank, kind) = (moment.rank(), moment.kind());
        let begin = end.saturating_sub(took(moment, machine));
        if kind == MomentKind::Wait || !window.shows(rank, begin, end) {
            continue;
        }
        let (part, peer, message) = match kind {
            MomentKind::Send => ("send", Some(moment.other), Some(number)),
            MomentKind::Receive => {
                let from = past.moments[moment.other as usize].rank();
                ("receive", Some(from), Some(moment.other.into()))
            }
            _ => ("compute", None, None),
        };
        let bytes = peer.and_then(|_| moment.bytes()).map(u64::from);
        let (cpu, is_critical) = (0, false);
        spans.push(Span { rank, cpu, part, begin, end, peer, bytes, message, is_critical });
    }
    mark(&mut spans, &path, false);
    Ok(Timeline { ranks: ends.len(), end: last.picoseconds, spans, path })
}

/// The latest time, and the first rank that has it.
pub(crate) fn last<G: Growth>(ends: &[Trace<G>]) -> (u32, Trace<G>) {
    let all = (0..).zip(ends);
    all.fold((0, Trace::default()), |(rank, best), (of, end)| {
        (if *end > best { of } else { rank }, best.later(*end))
    })
}

/// Duration of the work that ends at a moment.
fn took(of: &Moment, machine: &Machine) -> u64 {
    let costs = machine.costs(of.bytes());
    match of.kind() {
        MomentKind::Compute => of.computation(),
        MomentKind::Send => costs.send_overhead,
        MomentKind::Receive => costs.recv_overhead,
        MomentKind::Wait => 0,
    }
}

/// The critical path to a time of a rank, followed back from moment to moment.
pub(crate) fn path<G>(past: &Past, machine: &Machine, rank: u32, last: Trace<G>) -> CriticalPath {
    let [latency, overhead, gap, per_byte] = [0, 1, 2, 3].map(Some);
    let mut path = CriticalPath { rank, steps: Vec::new(), shares: [0; 5], computation: 0 };
    let (mut end, mut source) = (last.picoseconds, last.source);
    while let Some((number, step)) = Past::place(source) {
        let moment = &past.moments[number as usize];
        let (kind, at) = (moment.kind(), moment.rank());
        let message = match kind {
            MomentKind::Receive | MomentKind::Wait => moment.other,
            MomentKind::Compute | MomentKind::Send => number,
        };
        let sent = &past.moments[message as usize];
        // A wait at the receiver comes after the message's flight.
        let arrived = kind == MomentKind::Wait && at != sent.rank();
        let receiver = if kind == MomentKind::Wait { at } else { sent.other };
        let since = |step: Step| Past::source(number, step);
        let landed = since(if arrived { Step::Moment } else { Step::Flight });
        let own_gap = || machine.costs(sent.bytes()).gap;
        let transfer = || machine.costs(sent.bytes()).transfer(sent.bytes());
        // The completion of a request without a reply is sent when it has been handled.
        let flight = || {
            let (to, bytes) = match kind {
                MomentKind::Receive => (sent.rank(), None),
                _ => (sent.other, sent.bytes()),
            };
            machine.flight(at, to, &machine.costs(bytes))
        };
        let (took, before, part, rank, parameter) = match step {
            Step::Moment => {
                let (part, parameter) = match kind {
                    MomentKind::Compute => ("compute", None),
                    MomentKind::Send => ("send", overhead),
                    MomentKind::Receive => ("receive", overhead),
                    MomentKind::Wait => ("interface", None),
                };
                (took(moment, machine), moment.before, part, at, parameter)
            }
            Step::Flight => (flight(), since(Step::Moment), "flight", at, latency),
            Step::Transfer => (transfer(), landed, "transfer", sent.rank(), per_byte),
            Step::OutTurn => (machine.turnaround, since(Step::Moment), "interface", at, None),
            Step::OutGap => (own_gap(), since(Step::Moment), "interface", at, gap),
            Step::OutBytes => (transfer(), since(Step::Moment), "interface", at, per_byte),
            Step::InGap => (own_gap(), landed, "interface", receiver, gap),
            Step::InBytes => (transfer(), landed, "interface", receiver, per_byte),
        };
        let begin = end.saturating_sub(took);
        if took > 0 {
            let place = OperationId { rank: sent.rank(), number: message, line: None };
            let (begin, end) = (begin as i64, end as i64);
            path.steps.push(PathStep { place, rank, part, begin, end });
            match parameter {
                Some(parameter) => path.shares[parameter] += end - begin,
                None => path.computation += end - begin,
            }
        }
        (end, source) = (begin, before);
    }
    path.steps.reverse();
    count(&mut path.steps, past);
    path
}

/// Replaces moment numbers in steps by numbers of works, counted from 1 in each rank.
fn count(steps: &mut [PathStep], past: &Past) {
    let mut asked: Vec<&mut OperationId> = steps.iter_mut().map(|step| &mut step.place).collect();
    asked.sort_unstable_by_key(|place| place.number);
    let (mut asked, mut works) = (asked.into_iter().peekable(), Vec::new());
    for (number, moment) in (0..).zip(&past.moments) {
        let rank = moment.rank() as usize;
        works.resize(works.len().max(rank + 1), 0);
        works[rank] += u32::from(moment.kind() != MomentKind::Wait);
        while let Some(place) = asked.next_if(|place| place.number == number) {
            place.number = works[rank];
        }
    }
}
