//! Replays as results, and schedules in GOAL that are read and replayed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bandgap_host::available_memory;
use bandgap_launch::{Classify, Exit, Failure, Result, usage};
use bandgap_record::{Note, Number, Quantity, Seconds, Unit};
use bandgap_results::{AtOperation, AtRank, CriticalPath, Derivative, Sensitivity, Simulation};
use bandgap_sim::{
    Detours, Goal, GoalError, LETTERS, Loggops, read_goal, replay_goal, sensitivity,
};
use bandgap_units::Bytes;

use super::fit::{named, open};
use super::noise::seeded;

/// Ranks whose ends are kept, and steps of a path, at most.
pub const MOST: usize = 65_536;

/// Reads a schedule, for whose replay there must be room.
///
/// # Errors
/// It cannot be read, or there is too little memory for it.
pub fn read(path: &Path) -> Result<Goal> {
    let file = named(path);
    let goal = read_goal(open(path)?).map_err(|error| failed("read", &file, error))?;
    match available_memory() {
        Some(Bytes(left)) if left < goal.replay_bytes() => {
            let (needed, left) = (Bytes(goal.replay_bytes()), Bytes(left));
            Err(usage!("simulate {file}: it needs {needed} of memory, and {left} are left"))
        }
        _ => Ok(goal),
    }
}

/// That a schedule cannot be read, or cannot end.
pub fn failed(what: &str, file: &str, error: GoalError) -> Failure {
    let exit = if error.is_endless() { Exit::Endless } else { Exit::Input };
    Failure::new(exit, format!("{what} {file}: {error}"))
}

/// How far replays are: the steps of all, once the schedule is read, and those that are done.
pub type Steps = [AtomicU64; 2];

/// Reads a schedule and replays it: with the parameters, on the machine that they are of, and others of their intervals
/// behind them; and with detours, and a seed that says where in them each rank begins.
///
/// # Errors
/// As [`read`]; or it cannot end.
pub fn made(
    path: &Path,
    (machine, all): (String, &[Loggops]),
    with_sensitivity: bool,
    noise: Option<(Vec<Detours>, u64)>,
    [steps, done]: &Steps,
) -> Result<(Simulation, Option<Note>)> {
    let goal = read(path)?;
    steps.store(goal.steps() * all.len() as u64, Relaxed);
    let noise = noise.map(|(detours, seed)| seeded(detours, seed, goal.size()));
    let failed = |error: GoalError| failed("simulate", &named(path), error);
    let replay =
        |loggops: &Loggops| replay_goal(&goal, loggops, noise.as_ref(), done).map_err(failed);
    let deeper = with_sensitivity.then(|| sensitivity(&goal, &all[0]));
    let (first, deeper) = match deeper {
        Some(both) => both.map(|(first, deeper)| (first, Some(deeper))).map_err(failed)?,
        None => (replay(&all[0])?, None),
    };
    let end = seconds(first.end());
    let mut times = vec![end.0.0];
    for loggops in &all[1..] {
        times.push(seconds(replay(loggops)?.end()).0.0);
    }
    let note = first.ambiguous.first.map(|place| {
        let note = Note::new("receive_ambiguous", "").with("rank", f64::from(place.rank));
        let note = note.with("operation", f64::from(place.number));
        note.with("count", first.ambiguous.count as f64)
    });
    let kept = first.finish.iter().filter(|_| first.finish.len() <= MOST);
    let made = Simulation {
        name: name(path),
        bytes: None,
        variant: "loggops".to_owned(),
        machine,
        ranks: goal.size() as u64,
        operations: goal.operations() as u64,
        messages: first.messages,
        parts: 1,
        lost: noise.map(|_| seconds(first.lost)),
        end,
        finish: kept.map(|ps| seconds(*ps)).collect(),
        time: replayed(&times)?,
        critical_path: deeper.as_ref().map(|of| critical_path(&of.path)),
        sensitivity: deeper.as_ref().map(dependence),
    };
    Ok((made, note))
}

/// The name of a file without what says that it is a schedule.
fn name(file: &Path) -> String {
    let name =
        file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    plain.strip_suffix(".goal").unwrap_or(plain).to_owned()
}

/// A replayed time, from those with other numbers of the machine's intervals which come behind it.
pub fn replayed(times: &[f64]) -> Result<Quantity> {
    let end = |pick: fn(f64, f64) -> f64| times.iter().copied().fold(times[0], pick);
    let evidence = ("replay", times.len() as u64, true);
    let ends = Some((end(f64::min), end(f64::max)));
    Quantity::new(times[0], ends, Unit::Second, evidence).class(Exit::Defect)
}

/// Parameters as they are given.
pub fn described(of: &Loggops) -> String {
    let units = [1e3, 1e3, 1e3, 1e9, 1e9];
    let all = LETTERS.iter().zip(of.parameters).zip(units);
    let all = all.map(|((letter, value), unit)| format!("{letter}={},", value as f64 / unit));
    format!("{}S={}", all.collect::<String>(), of.eager)
}

pub fn seconds(picoseconds: i64) -> Seconds {
    Seconds(Number(picoseconds as f64 / 1e12))
}

pub fn dependence(of: &bandgap_sim::Sensitivity) -> Sensitivity {
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

pub fn critical_path(path: &bandgap_sim::CriticalPath) -> CriticalPath {
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
