//! A replay that is looked at: its critical path, and what ranks did when.

use crate::engine::trace::{Kind, Moment, Past, Trace, Traced};
use crate::engine::{Step, Time, replay_by};
use crate::goal::{CriticalPath, PathStep, Place};
use crate::timeline::{Span, Timeline, Window, mark};
use crate::{Machine, Schedule, SimError};

/// Replays a schedule, and tells what happened. All of it is kept until the end, not what the window shows alone.
///
/// # Errors
/// As [`replay`](crate::replay).
pub fn observe(
    schedule: &Schedule,
    machine: &Machine,
    window: &Window,
) -> Result<Timeline, SimError> {
    let clock = Traced::<0>::keeping(schedule.size());
    let (_, ends, clock) = replay_by(clock, schedule, machine)?;
    let past = clock.past.unwrap_or_default();
    if past.is_full() {
        return Err(SimError::TooMuch);
    }
    let (rank, last) = last(&ends);
    let path = path(&past, machine, rank, last);
    let mut spans = Vec::new();
    for (number, moment) in (0..).zip(&past.moments) {
        let (rank, end, kind) = (moment.rank(), moment.end, moment.kind());
        let begin = begin(moment, machine);
        if kind == Kind::Wait || !window.shows(rank, begin, end) {
            continue;
        }
        let (part, peer, message) = match kind {
            Kind::Send => ("send", Some(moment.other), Some(number)),
            Kind::Receive => {
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

/// The latest of the times, and the first rank that has it.
pub(crate) fn last<const N: usize>(ends: &[Trace<N>]) -> (u32, Trace<N>) {
    let all = (0..).zip(ends);
    all.fold((0, Trace::default()), |(rank, best), (of, end)| {
        (if *end > best { of } else { rank }, best.later(*end))
    })
}

/// When something began.
fn begin(of: &Moment, machine: &Machine) -> u64 {
    let costs = machine.costs(of.bytes());
    let took = match of.kind() {
        Kind::Compute => of.amount,
        Kind::Send => costs.send_overhead,
        Kind::Receive => costs.recv_overhead,
        Kind::Wait => 0,
    };
    of.end.saturating_sub(took)
}

/// The path to a time of a rank: back from moment to moment.
pub(crate) fn path<const N: usize>(
    past: &Past,
    machine: &Machine,
    rank: u32,
    last: Trace<N>,
) -> CriticalPath {
    let [latency, overhead, gap, per_byte] = [0, 1, 2, 3].map(Some);
    let mut path = CriticalPath { rank, steps: Vec::new(), shares: [0; 5], computation: 0 };
    let (mut end, mut source) = (last.picoseconds, last.source);
    while let Some((number, step)) = Past::place(source) {
        let moment = &past.moments[number as usize];
        let (kind, at) = (moment.kind(), moment.rank());
        let sent = match kind {
            Kind::Receive | Kind::Wait => &past.moments[moment.other as usize],
            Kind::Compute | Kind::Send => moment,
        };
        // A wait at the receiver is behind the message's flight.
        let arrived = kind == Kind::Wait && at != sent.rank();
        let receiver = if kind == Kind::Wait { at } else { sent.other };
        let since = |step: Step| Past::source(number, step);
        let landed = since(if arrived { Step::Moment } else { Step::Flight });
        let transfer = || machine.costs(sent.bytes()).transfer;
        let (took, before, part, rank, parameter) = match step {
            Step::Moment => {
                let took = moment.end - begin(moment, machine);
                let (part, parameter) = match kind {
                    Kind::Compute => ("compute", None),
                    Kind::Send => ("send", overhead),
                    Kind::Receive => ("receive", overhead),
                    Kind::Wait => ("interface", None),
                };
                (took, moment.before, part, at, parameter)
            }
            Step::Flight => (end - moment.end, since(Step::Moment), "flight", at, latency),
            Step::Transfer => (transfer(), landed, "transfer", sent.rank(), per_byte),
            Step::OutGap => (machine.gap, since(Step::Moment), "interface", at, gap),
            Step::OutBytes => (transfer(), since(Step::Moment), "interface", at, per_byte),
            Step::InGap => (machine.gap, landed, "interface", receiver, gap),
            Step::InBytes => (transfer(), landed, "interface", receiver, per_byte),
        };
        let begin = end.saturating_sub(took);
        if took > 0 {
            let place = Place { rank: sent.rank(), number: sent.number, line: None };
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
    path
}
