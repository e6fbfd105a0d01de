//! Replays as results.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

use bandgap_record::{Note, Number, Quantity, Seconds, Unit};
use bandgap_results::{
    AtOperation, AtRank, CriticalPath, Derivative, Sensitivity, Simulation, Span,
};
use bandgap_sim::{
    Goal, LETTERS, Loggops, Noise, Timeline, Window, observe_goal, replay_goal, sensitivity,
};

use crate::Result;

/// Ranks whose ends are kept, and steps of a path, at most.
const MOST: usize = 65_536;
/// Picoseconds of a second.
const PICO: f64 = 1e12;

/// What is replayed.
pub struct Replayed<'a> {
    /// Its name.
    pub name: &'a str,
    /// Bytes of each message, if all have the same number.
    pub bytes: Option<u64>,
    /// The algorithm.
    pub variant: &'a str,
    /// The machine, with its parameters.
    pub machine: &'a str,
    /// Numbers of ranks, operations and messages.
    pub counts: [u64; 3],
    /// Equal parts of an operation; the recorded time is that of one part.
    pub parts: u32,
    /// Operations that follow one another.
    pub in_a_row: u32,
}

/// The result of a replay, with when the last rank ended, and each, in picoseconds. `times` begins with the replay's own time;
/// times of replays with other values from the machine's intervals follow.
///
/// # Errors
/// A number cannot be recorded.
pub fn simulation(
    of: &Replayed<'_>,
    (end, finish): (i64, impl Iterator<Item = i64>),
    times: &[i64],
    deeper: Option<&bandgap_sim::Sensitivity>,
) -> Result<Simulation> {
    let parts = f64::from(of.parts) * f64::from(of.in_a_row);
    let times: Vec<f64> = times.iter().map(|ps| *ps as f64 / parts / PICO).collect();
    let [ranks, operations, messages] = of.counts;
    Ok(Simulation {
        name: of.name.to_owned(),
        bytes: of.bytes,
        variant: of.variant.to_owned(),
        machine: of.machine.to_owned(),
        ranks,
        operations,
        messages,
        parts: of.parts.into(),
        in_a_row: of.in_a_row.into(),
        lost: None,
        end: seconds(end),
        finish: finish.take(if ranks <= MOST as u64 { MOST } else { 0 }).map(seconds).collect(),
        time: replayed(&times)?,
        critical_path: deeper.map(|of| critical_path(&of.path)),
        sensitivity: deeper.map(dependence),
        timeline: Vec::new(),
    })
}

/// The spans of a replay.
pub fn spans(of: &Timeline) -> Vec<Span> {
    let span = |of: &bandgap_sim::Span| Span {
        rank: of.rank.into(),
        part: of.part.to_owned(),
        begin: seconds(of.begin as i64),
        end: seconds(of.end as i64),
        message: of.message,
        critical: of.is_critical,
    };
    of.spans.iter().map(span).collect()
}

/// The result of a replay that was ended once its time was certain to exceed `least` picoseconds, a lower bound.
///
/// # Errors
/// As [`simulation`].
pub fn simulation_beyond(of: &Replayed<'_>, least: i64) -> Result<Simulation> {
    let made = simulation(of, (least, std::iter::empty()), &[least], None)?;
    let (low, estimator) = (Some(made.time.value), "replay, ended once later".to_owned());
    let time = Quantity { low, high: None, estimator, ..made.time };
    Ok(Simulation { time, ..made })
}

/// Replays a GOAL schedule with the first parameters of `all`; the others give the interval. `steps` counts the operations
/// done.
///
/// # Errors
/// The schedule cannot end, or a number cannot be recorded.
pub fn goal(
    goal: &Goal,
    (name, machine): (&str, &str),
    all: &[Loggops],
    with_sensitivity: bool,
    noise: Option<&Noise>,
    steps: &AtomicU64,
) -> Result<(Simulation, Option<Note>)> {
    let (first, deeper) = if with_sensitivity {
        let (first, deeper) = sensitivity(goal, &all[0])?;
        (first, Some(deeper))
    } else {
        (replay_goal(goal, &all[0], noise, steps)?, None)
    };
    let mut times = vec![first.end()];
    for loggops in &all[1..] {
        times.push(replay_goal(goal, loggops, noise, steps)?.end());
    }
    let note = first.ambiguous.first.map(|place| {
        let note = Note::new("receive_ambiguous", "").with("rank", f64::from(place.rank));
        let note = note.with("operation", f64::from(place.number));
        note.with("count", first.ambiguous.count as f64)
    });
    let counts = [goal.size() as u64, goal.operations() as u64, first.messages];
    let (parts, in_a_row) = (1, 1);
    let of = Replayed { name, bytes: None, variant: "loggops", machine, counts, parts, in_a_row };
    let made = simulation(&of, (first.end(), first.finish()), &times, deeper.as_ref())?;
    let timeline = match noise.is_none() && made.has_room() {
        true => spans(&observe_goal(goal, &all[0], &Window::whole(goal.size()))?),
        false => Vec::new(),
    };
    Ok((Simulation { lost: noise.map(|_| seconds(first.lost)), timeline, ..made }, note))
}

/// Parameters as on the command line.
pub fn described(of: &Loggops) -> String {
    let units = [1e3, 1e3, 1e3, 1e9, 1e9];
    let all = LETTERS.iter().zip(of.parameters).zip(units);
    let all = all.map(|((letter, value), unit)| format!("{letter}={},", value as f64 / unit));
    format!("{}S={}", all.collect::<String>(), of.eager)
}

/// A replayed time in seconds: the first of `times`; all together give its interval.
pub(crate) fn replayed(times: &[f64]) -> Result<Quantity> {
    let end = |pick: fn(f64, f64) -> f64| times.iter().copied().fold(times[0], pick);
    let evidence = ("replay", times.len() as u64, true);
    let ends = Some((end(f64::min), end(f64::max)));
    Ok(Quantity::new(times[0], ends, Unit::Second, evidence)?)
}

fn seconds(picoseconds: i64) -> Seconds {
    Seconds(Number(picoseconds as f64 / PICO))
}

fn dependence(of: &bandgap_sim::Sensitivity) -> Sensitivity {
    let derivative = |of: &bandgap_sim::Derivative| {
        let [left, right] = [of.left, of.right].map(|side| Number(side as f64));
        Derivative { left, right, jumps: of.jumps }
    };
    let letters = LETTERS.iter().map(ToString::to_string);
    Sensitivity {
        derivatives: letters.zip(of.derivatives.iter().map(derivative)).collect(),
        critical_latency: of.critical_latency.map(seconds),
        tolerance: of.tolerance.map(seconds),
    }
}

fn critical_path(path: &bandgap_sim::CriticalPath) -> CriticalPath {
    let computation = ("computation", path.computation);
    let shares = LETTERS.into_iter().zip(path.shares).chain([computation]);
    let mut ranks: BTreeMap<u32, (u64, i64)> = BTreeMap::new();
    for step in &path.steps {
        let (steps, time) = ranks.entry(step.rank).or_default();
        *steps += 1;
        *time += step.end - step.begin;
    }
    let at_rank =
        |(rank, (steps, time)): (u32, _)| AtRank { rank: rank.into(), steps, time: seconds(time) };
    let operations = path.steps.iter().take(MOST).map(|step| AtOperation {
        at: step.rank.into(),
        part: step.part.to_owned(),
        rank: step.place.rank.into(),
        operation: step.place.number.into(),
        line: step.place.line.map(u64::from),
        end: seconds(step.end),
    });
    CriticalPath {
        rank: path.rank.into(),
        steps: path.steps.len() as u64,
        shares: shares.map(|(on, time)| (on.to_owned(), seconds(time))).collect(),
        ranks: ranks.into_iter().map(at_rank).collect(),
        operations: operations.collect(),
    }
}
