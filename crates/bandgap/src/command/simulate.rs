//! `bandgap simulate`: a schedule in virtual time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bandgap_assemble::Made;
use bandgap_host::available_memory;
use bandgap_kernels::in_series;
use bandgap_launch::{Classify, Exit, Failure, Target, simulated};
use bandgap_record::{Evidence, Number, Quantity, Seconds, Unit};
use bandgap_results::{AtOperation, AtRank, CriticalPath, Derivative, Sensitivity, Simulation};
use bandgap_sim::{Goal, GoalError, LETTERS, Loggops, read_goal, replay_goal, sensitivity};
use bandgap_units::{Bytes, Fraction};
use clap::Args;
use serde_json::json;

use super::fit::{named, open};
use crate::args::Output;
use crate::calibrated::{Calibrated, How, SEED, of_machine};
use crate::output::Sink;
use crate::sizes::Sizes;

/// Examples.
pub const HELP: &str =
    "A kernel is replayed once. Read is GOAL text, or binary GOAL, as it is or compressed by gzip. A schedule that cannot \
end has exit code 11.

Examples:
  bandgap simulate barrier -t sim:myrinet -n 1024,65536,1048576
  bandgap simulate broadcast -t sim:ipsc860 -n 128 --algorithm all --sizes 8,64KiB
  bandgap simulate all_reduce -t sim:ipsc860 -n 128 --algorithm all --sizes 64KiB
  bandgap simulate schedule.goal
  bandgap simulate schedule.goal.gz --loggops L=2500,o=1500,g=1000,G=6,O=0,S=65535
  bandgap simulate schedule.goal -t sim:ipsc860
  bandgap simulate schedule.goal --loggops L=3700,o=200,g=5,G=0.04 --sensitivity
  bandgap simulate schedule.goal --no-save --json - -q
  bandgap simulate broadcast --from LAST -t tcp -n 4096  on the machine that a run has measured
  bandgap simulate --validate LAST --tolerance 10%       what a run measured, simulated on that machine";

/// What is simulated, and on what.
#[derive(Clone, Debug, Args)]
pub struct Simulate {
    /// A kernel (barrier, broadcast, …), or a schedule in GOAL (`-` reads standard input); with --validate a run
    #[arg(value_name = "KERNEL|FILE|RUN")]
    pub schedule: PathBuf,
    /// Parameters with LogGOPSim's arithmetic: L, o, g in ns; G, O in ns a byte; S in bytes [default:
    /// L=2500,o=1500,g=1000,G=6,O=0,S=65535]
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub loggops: Option<Loggops>,
    /// Also how the end depends on L, o, g and G, its critical path, and what L it tolerates
    #[arg(long)]
    pub sensitivity: bool,
    /// On the machine that a run has measured: its directory, the beginning of its name, or LAST
    #[arg(long, value_name = "RUN", conflicts_with = "loggops")]
    pub from: Option<PathBuf>,
    #[command(flatten)]
    pub how: How,
    /// Simulate what a run has measured, on the machine taken from it (of a simulated run, on its own), and compare
    #[arg(long, conflicts_with_all = ["from", "loggops", "sensitivity", "ranks", "sizes", "algorithm"])]
    pub validate: bool,
    /// The error up to which a time is inside
    #[arg(long, value_name = "SHARE", default_value = "10%", requires = "validate")]
    pub tolerance: Fraction,
    /// End with exit code 1 where a time is outside
    #[arg(long, requires = "validate")]
    pub strict: bool,
    #[command(flatten)]
    pub points: Points,
    #[command(flatten)]
    pub output: Output,
}

/// At which points a kernel is replayed, and on what.
#[derive(Clone, Debug, Args)]
pub struct Points {
    /// The machine of a kernel: sim:NAME or sim:FILE.toml; or a transport of the run
    #[arg(short, long, value_name = "sim:MACHINE|TRANSPORT")]
    pub transport: Option<Target>,
    /// Numbers of ranks of a kernel, up to those of the machine [default: all]
    #[arg(short = 'n', long, value_name = "N", value_delimiter = ',', value_parser = ranks)]
    pub ranks: Vec<usize>,
    /// Message sizes of a kernel, as of what measures
    #[arg(long, value_name = "SIZES")]
    pub sizes: Option<Sizes>,
    /// The algorithm of a collective, or all of them
    #[arg(long, value_name = "NAME|all")]
    pub algorithm: Option<String>,
}

impl Points {
    /// Refuses them where the schedule is no kernel; the transport is taken where it says on which machine.
    ///
    /// # Errors
    /// One is given.
    pub fn of_no_kernel(
        &self,
        command: &str,
        file: &Path,
        has_machine: bool,
    ) -> Result<(), Failure> {
        if file.extension().is_none() && !file.exists() && file != Path::new("-") {
            // A kernel that is not called so.
            in_series(&file.to_string_lossy()).class(Exit::Usage)?;
        }
        let given = [
            (self.transport.is_some() && !has_machine, "--transport"),
            (!self.ranks.is_empty(), "--ranks"),
            (self.sizes.is_some(), "--sizes"),
            (self.algorithm.is_some(), "--algorithm"),
        ];
        let Some((_, option)) = given.iter().find(|(given, _)| *given) else { return Ok(()) };
        let what = format!("{command} the schedule {} with {option}", file.display());
        Err(Failure::new(Exit::Usage, what).hint(
            "a schedule has LogGOPSim's parameters (--loggops), those of a machine (-t sim:…) or of a run (--from); kernels are barrier, broadcast, …",
        ))
    }
}

/// Ranks whose ends are kept, and steps of a path, at most.
pub const MOST: usize = 65_536;

fn ranks(text: &str) -> Result<usize, String> {
    let found = text.parse().ok().filter(|ranks| *ranks > 0);
    found.ok_or_else(|| "must be a number of ranks, at least 1".to_owned())
}

impl Simulate {
    /// The machine of the run that is named.
    ///
    /// # Errors
    /// As [`Calibrated::load`].
    pub fn measured(&self) -> Result<Option<Calibrated>, Failure> {
        let transport = self.points.transport.as_ref().map(Target::to_string);
        let load = |run: &PathBuf| Calibrated::load(run, transport.as_deref(), self.how);
        self.from.as_ref().map(load).transpose()
    }
}

/// The kernel that is named, if it is one.
pub fn kernel(name: &Path) -> Option<&str> {
    name.to_str().filter(|name| in_series(name).is_ok())
}

/// Reads a schedule, for whose replay there must be room.
///
/// # Errors
/// It cannot be read, or there is too little memory for it.
pub fn read(path: &Path) -> Result<Goal, Failure> {
    let file = named(path);
    let goal = read_goal(open(path)?).map_err(|error| failed("read", &file, error))?;
    has_room(&goal, &file)?;
    Ok(goal)
}

/// That a schedule cannot be read, or cannot end.
pub fn failed(what: &str, file: &str, error: GoalError) -> Failure {
    let exit = if error.is_endless() { Exit::Endless } else { Exit::Input };
    Failure::new(exit, format!("{what} {file}: {error}"))
}

/// Simulates a schedule, and prints when it ends.
///
/// # Errors
/// It cannot be read, it cannot end, there is too little memory for it, or the result cannot be written.
pub fn run(of: &Simulate) -> Result<Exit, Failure> {
    let of_run = of.from.is_some();
    let is_simulated = matches!(of.points.transport, Some(Target::Simulated(_)));
    let has_machine = of_run || (is_simulated && of.loggops.is_none());
    of.points.of_no_kernel("simulate", &of.schedule, has_machine)?;
    if of.how.one_latency && !of_run {
        let what = format!("simulate {} with --one-latency", of.schedule.display());
        return Err(Failure::new(Exit::Usage, what).hint("it is of --from"));
    }
    let file = named(&of.schedule);
    let measured = of.measured()?;
    let loggops = match (&measured, &of.points.transport) {
        (Some(machine), _) => machine.loggops(&mut |of| of.value)?,
        (None, Some(Target::Simulated(name))) if of.loggops.is_none() => {
            of_machine(&simulated(name)?, &format!("sim:{name}"))?
        }
        _ => of.loggops.unwrap_or_default(),
    };
    let mut sink = Sink::open(&of.output, "simulate", SEED)?;
    let failed = |error: GoalError| failed("simulate", &file, error);
    let goal = read(&of.schedule)?;
    let (replay, deeper) = match of.sensitivity {
        true => sensitivity(&goal, &loggops).map(|(replay, deeper)| (replay, Some(deeper))),
        false => replay_goal(&goal, &loggops).map(|replay| (replay, None)),
    }
    .map_err(failed)?;
    let end = seconds(replay.end());
    let kept = replay.finish.iter().filter(|_| replay.finish.len() <= MOST);
    let mut times = vec![end.0.0];
    for loggops in measured.as_ref().map_or(Ok(Vec::new()), Calibrated::drawn)? {
        let replay = replay_goal(&goal, &loggops).map_err(failed)?;
        times.push(seconds(replay.end()).0.0);
    }
    let machine = measured.as_ref().map_or(String::new(), |of| format!("{}: ", of.origin));
    let made = Simulation {
        name: name(&of.schedule),
        bytes: None,
        variant: "loggops".to_owned(),
        machine: machine + &described(&loggops),
        ranks: goal.size() as u64,
        operations: goal.operations() as u64,
        messages: replay.messages,
        end,
        finish: kept.map(|ps| seconds(*ps)).collect(),
        time: replayed(&times)?,
        critical_path: deeper.as_ref().map(|of| critical_path(&of.path)),
        sensitivity: deeper.as_ref().map(dependence),
    };
    sink.plan(&json!({"name": "simulate", "file": file, "loggops": described(&loggops)}));
    let notes = measured.map_or(Vec::new(), |of| of.notes);
    sink.add(Made { results: vec![made.into()], notes }, None, None)?;
    sink.close(Exit::Fine)
}

/// A replayed time, from those with other numbers of the machine's intervals which come behind it.
pub fn replayed(times: &[f64]) -> Result<Quantity, Failure> {
    let end = |pick: fn(f64, f64) -> f64| times.iter().copied().fold(times[0], pick);
    let evidence = Evidence::new("replay", times.len() as u64, true);
    let ends = Some((end(f64::min), end(f64::max)));
    Quantity::new(times[0], ends, Unit::Second, evidence).class(Exit::Defect)
}

/// The name of a file without what says that it is a schedule.
fn name(file: &Path) -> String {
    let name =
        file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    plain.strip_suffix(".goal").unwrap_or(plain).to_owned()
}

fn has_room(goal: &Goal, file: &str) -> Result<(), Failure> {
    match available_memory() {
        Some(Bytes(left)) if left < goal.replay_bytes() => {
            let (needed, left) = (Bytes(goal.replay_bytes()), Bytes(left));
            let what = format!("simulate {file}: it needs {needed} of memory, and {left} are left");
            Err(Failure::new(Exit::Usage, what))
        }
        _ => Ok(()),
    }
}

/// Parameters as they are given.
fn described(of: &Loggops) -> String {
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
