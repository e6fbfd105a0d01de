//! Reads and replays schedules in GOAL.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bandgap_assemble::{AssembleError, goal, seeded};
use bandgap_host::own_memory;
use bandgap_launch::{Exit, Failure, Result, usage};
use bandgap_record::Note;
use bandgap_results::Simulation;
use bandgap_sim::{Detours, Goal, GoalError, Loggops, read_goal};
use bandgap_units::Bytes;

use super::fit::{named, open};
use crate::refused::unmade;

/// Reads a schedule, and checks that memory suffices for its replay, which is traced for sensitivities and timelines.
///
/// # Errors
/// It cannot be read, or memory is too short.
pub fn read(path: &Path, is_traced: bool) -> Result<Goal> {
    let file = named(path);
    let goal = read_goal(open(path)?).map_err(|error| failed("read", &file, error))?;
    let needed = Bytes(goal.replay_bytes(is_traced));
    match own_memory().filter(|left| *left < needed) {
        Some(left) => {
            Err(usage!("simulate {file}: it needs {needed} of memory, and {left} are left"))
        }
        None => Ok(goal),
    }
}

/// Failure to read or to end a schedule.
pub fn failed(what: &str, file: &str, error: GoalError) -> Failure {
    let exit = if error.is_endless() { Exit::Endless } else { Exit::Input };
    Failure::new(exit, format!("{what} {file}: {error}"))
}

/// Progress of replays: all steps, known once the schedule is read, and the steps done.
pub type Steps = [AtomicU64; 2];

/// Reads a schedule and replays it with each of the parameters in `all`, those of `machine` first and draws from their
/// intervals after them. `noise` holds detours, and the seed of where in them each rank begins.
///
/// # Errors
/// As [`read`], or the schedule cannot end.
pub fn made(
    path: &Path,
    (machine, all): (&str, &[Loggops]),
    with_sensitivity: bool,
    noise: Option<(Vec<Detours>, u64)>,
    [steps, done]: &Steps,
) -> Result<(Simulation, Option<Note>)> {
    let schedule = read(path, with_sensitivity)?;
    steps.store(schedule.steps() * all.len() as u64, Relaxed);
    let noise = noise.map(|(detours, seed)| seeded(detours, seed, schedule.active()));
    let name = name(path);
    goal(&schedule, (&name, machine), all, with_sensitivity, noise.as_ref(), done).map_err(
        |error| match error {
            AssembleError::Goal(error) => failed("simulate", &named(path), error),
            error => unmade(error),
        },
    )
}

/// The name of a schedule's file, without its extensions.
fn name(file: &Path) -> String {
    let name =
        file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    plain.strip_suffix(".goal").unwrap_or(plain).to_owned()
}
