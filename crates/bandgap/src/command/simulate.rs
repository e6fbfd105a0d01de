//! `bandgap simulate`: a schedule in virtual time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bandgap_assemble::{Calibrated, Made, SEED, described, loggops_of};
use bandgap_campaign::sizes::Sizes;
use bandgap_kernels::in_series;
use bandgap_launch::{Classify, Exit, Result, Signals, Target, simulated};
use bandgap_record::read;
use bandgap_results::Run;
use bandgap_sim::Loggops;
use bandgap_units::Fraction;
use clap::Args;
use clap::builder::RangedU64ValueParser;
use serde_json::json;

use super::fit::named;
use super::noise::detours;
use super::replays::{Steps, made};
use super::show::{kept, kept_runs};
use super::watched::watched;
use crate::args::Output;
use crate::output::Sink;
use crate::progress::Progress;
use crate::refused::{refuse, unmade};
use crate::session::interrupted;

/// Examples.
pub const HELP: &str =
    "A kernel is replayed once. Read is GOAL text, or binary GOAL, as it is or compressed by gzip. A schedule that cannot \
end has exit code 11.

Examples:
  bandgap simulate barrier -t sim:myrinet -n 1024,65536,1048576
  bandgap simulate broadcast -t sim:ipsc860 -n 128 --algorithm all --sizes 8,64KiB
  bandgap simulate all_reduce -n 4096 --sizes 64KiB      by which algorithm is it the fastest, on what was measured last
  bandgap simulate schedule.goal
  bandgap simulate schedule.goal.gz --loggops L=2500,o=1500,g=1000,G=6,O=0,S=65535
  bandgap simulate schedule.goal -t sim:ipsc860
  bandgap simulate schedule.goal --loggops L=3700,o=200,g=5,G=0.04 --sensitivity
  bandgap simulate schedule.goal --noise trace.txt --seed 7   LogGOPSim's trace, or a run that has looked at noise
  bandgap simulate schedule.goal --json - -q
  bandgap simulate broadcast --from LAST -t tcp -n 4096  on the machine that a run has measured
  bandgap simulate --validate LAST --tolerance 10%       what a run measured, simulated on that machine";

/// Options that conflict with --validate. Its own options list them too, because clap does not enforce `requires`
/// for an option that conflicts with a given one.
const NOT_VALIDATED: [&str; 7] =
    ["from", "loggops", "sensitivity", "ranks", "sizes", "algorithm", "noise"];

/// What to simulate, and on which machine.
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
    /// Noise that lengthens a schedule's computations and o: a trace (a line a detour: start and duration in ns; at the
    /// last start it begins again), or a run that has looked at noise. Each rank begins somewhere in it
    #[arg(long, value_name = "FILE|RUN")]
    pub noise: Option<PathBuf>,
    /// Seed of where in the noise each rank begins
    #[arg(long, value_name = "N", default_value_t = SEED, requires = "noise", conflicts_with = "validate")]
    pub seed: u64,
    /// On the machine that a run has measured: its directory, the beginning of its name, or LAST [default of a kernel without
    /// -t sim:…: the newest kept run that makes one]
    #[arg(long, value_name = "RUN", conflicts_with = "loggops")]
    pub from: Option<PathBuf>,
    #[command(flatten)]
    pub how: How,
    /// Simulate what a run has measured, on the machine taken from it (of a simulated run, on its own), and compare
    #[arg(long, conflicts_with_all = NOT_VALIDATED)]
    pub validate: bool,
    /// Largest error of a time that counts as inside
    #[arg(long, value_name = "SHARE", default_value = "10%", requires = "validate", conflicts_with_all = NOT_VALIDATED)]
    pub tolerance: Fraction,
    /// Exit code 1 if a time is outside --tolerance
    #[arg(long, requires = "validate", conflicts_with_all = NOT_VALIDATED)]
    pub strict: bool,
    #[command(flatten)]
    pub points: Points,
    #[command(flatten)]
    pub output: Output,
}

/// How to take a machine from a run.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct How {
    /// Take os + or + L as one latency, where a run's parameters make no LogP machine by themselves
    #[arg(long)]
    pub one_latency: bool,
}

/// The points of a kernel, and the machine.
#[derive(Clone, Debug, Args)]
pub struct Points {
    /// The machine of a kernel: sim:NAME or sim:FILE.toml; or a transport of the run
    #[arg(short, long, value_name = "sim:MACHINE|TRANSPORT", value_parser = target)]
    pub transport: Option<Target>,
    /// Numbers of ranks of a kernel, at most the machine's [default: the machine's, or the run's]
    #[arg(short = 'n', long, value_name = "N", value_delimiter = ',', value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub ranks: Vec<usize>,
    /// Message sizes of a kernel, as of what measures; of a matrix N
    #[arg(long, value_name = "SIZES")]
    pub sizes: Option<Sizes>,
    /// A collective's algorithm; all replays each to its end [default: the fastest first, each until it is later]
    #[arg(long, value_name = "NAME|all")]
    pub algorithm: Option<String>,
    /// Operations of a kernel that follow one another, as where it is measured; the time is that of each
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MOST_IN_A_ROW))]
    pub in_a_row: u32,
}

/// Parses --transport.
fn target(text: &str) -> Result<Target, String> {
    text.parse().map_err(|error| format!("{error}; the machine of a run: --from {text}"))
}

/// Most operations of a kernel in a replay.
const MOST_IN_A_ROW: i64 = 1 << 16;

impl Points {
    /// Refuses these options for a schedule in GOAL; with `has_machine`, the transport is allowed.
    ///
    /// # Errors
    /// Such an option is given.
    pub fn of_no_kernel(&self, command: &str, file: &Path, has_machine: bool) -> Result<()> {
        if file.extension().is_none() && !file.exists() && file != Path::new("-") {
            // A misspelt kernel.
            in_series(&file.to_string_lossy()).class(Exit::Usage)?;
        }
        let hint = "a schedule has LogGOPSim's parameters (--loggops), those of a machine (-t sim:…) or of a run (--from); kernels are barrier, broadcast, …";
        refuse(
            &format!("{command} the schedule {}", file.display()),
            &[
                (self.transport.is_some() && !has_machine, "--transport", hint),
                (!self.ranks.is_empty(), "--ranks", hint),
                (self.sizes.is_some(), "--sizes", hint),
                (self.algorithm.is_some(), "--algorithm", hint),
                (self.in_a_row > 1, "--in-a-row", hint),
            ],
        )
    }
}

/// The machine that a run measured over the named transport, or over its only one.
///
/// # Errors
/// There is no such run or transport, or its results do not make a machine.
pub fn machine_of(run: &Path, points: &Points, how: How) -> Result<Calibrated> {
    let (path, run) = kept(run)?;
    let (path, transport) = (path.display(), points.transport.as_ref().map(Target::name));
    Calibrated::of(&run, &path.to_string(), transport.as_deref(), how.one_latency).map_err(unmade)
}

/// The machine of the newest kept run that makes one, if need be with one latency: over the named transport, or else over
/// one between hosts if the run has such a machine. If it `moves_bytes`, the run has measured what they cost.
pub fn newest(points: &Points, how: How, moves_bytes: bool) -> Option<Calibrated> {
    let named = points.transport.as_ref().map(Target::name);
    let is_local =
        |name: &&str| !name.parse::<Target>().is_ok_and(|target| target.can(|can| can.hosts));
    kept_runs().iter().rev().find_map(|path| {
        let run: Run = read(path).ok()?;
        let all = run.conditions.iter().map(|of| of.transport.as_str());
        let mut all: Vec<&str> =
            all.filter(|of| named.as_deref().is_none_or(|named| *of == named)).collect();
        all.sort_by_key(is_local);
        let path = path.display().to_string();
        let ways = [how.one_latency, true].into_iter();
        let all = ways.flat_map(|one_latency| all.iter().map(move |over| (over, one_latency)));
        let mut machines =
            all.filter_map(|(over, one)| Calibrated::of(&run, &path, Some(over), one).ok());
        machines.find(|machine| !moves_bytes || machine.moves_bytes().is_ok())
    })
}

impl Simulate {
    /// The machine of the run in `--from`.
    ///
    /// # Errors
    /// As [`machine_of`].
    pub fn measured(&self) -> Result<Option<Calibrated>> {
        self.from.as_ref().map(|run| machine_of(run, &self.points, self.how)).transpose()
    }
}

/// The name, if it is that of a kernel.
pub fn kernel(name: &Path) -> Option<&str> {
    name.to_str().filter(|name| in_series(name).is_ok())
}

/// Simulates a schedule, and prints when it ends.
///
/// # Errors
/// The schedule cannot be read or cannot end, memory is too short, or the result cannot be written.
pub fn run(of: &Simulate) -> Result<Exit> {
    let of_run = of.from.is_some();
    let is_simulated = matches!(of.points.transport, Some(Target::Simulated(_)));
    let has_machine = of_run || (is_simulated && of.loggops.is_none());
    of.points.of_no_kernel("simulate", &of.schedule, has_machine)?;
    let jumps = "with noise the end jumps wherever an operation meets another detour, and has no derivative: compare several --seed";
    let with_both = of.sensitivity && of.noise.is_some();
    let all = [
        (of.how.one_latency && !of_run, "--one-latency", "it needs --from"),
        (with_both, "--noise and --sensitivity", jumps),
    ];
    refuse(&format!("simulate {}", of.schedule.display()), &all)?;
    let file = named(&of.schedule);
    let measured = of.measured()?;
    let (origin, loggops) = match (&measured, &of.points.transport, of.loggops) {
        (Some(machine), ..) => {
            (machine.origin.clone() + ": ", machine.loggops(&mut |of| of.value).map_err(unmade)?)
        }
        (None, _, Some(given)) => (String::new(), given),
        (None, Some(Target::Simulated(name)), None) => {
            let loggops = loggops_of(&simulated(name)?, &format!("sim:{name}")).map_err(unmade)?;
            (format!("sim:{name}: "), loggops)
        }
        _ => ("LogGOPSim's defaults: ".to_owned(), Loggops::default()),
    };
    let mut notes = measured.as_ref().map_or(Vec::new(), |of| of.notes.clone());
    let (mut noise, mut with_noise) = (None, String::new());
    if let Some(from) = &of.noise {
        noise = Some((detours(from, &mut notes)?, of.seed));
        with_noise = format!(", noise of {}, seed {}", named(from), of.seed);
    }
    Signals::take(interrupted(of.output.quiet))?;
    let mut sink = Sink::open(&of.output.only_asked(), "simulate", of.seed)?;
    sink.plan(&json!({
        "name": "simulate", "file": file, "loggops": described(&loggops),
        "noise": of.noise.as_deref().map(named),
    }));
    let further = measured.as_ref().map_or(Ok(Vec::new()), Calibrated::drawn).map_err(unmade)?;
    let machine = origin + &described(&loggops) + &with_noise;
    let (path, all, deeper) =
        (of.schedule.clone(), [vec![loggops], further].concat(), of.sensitivity);
    let steps: Arc<Steps> = Arc::default();
    let seen = steps.clone();
    let mut progress = Progress::new(vec![(file, 1.0)], of.output.quiet);
    let share = || seen[1].load(Relaxed) as f64 / seen[0].load(Relaxed).max(1) as f64;
    let work = move || made(&path, (&machine, &all), deeper, noise, &steps);
    let made = watched(work, || progress.show(share(), ""));
    progress.clear();
    let Some((made, note)) = made? else {
        sink.run.interrupted = true;
        return sink.close(Exit::Interrupted);
    };
    notes.extend(note);
    sink.add(Made { results: vec![made.into()], notes }, None)?;
    sink.close(Exit::Fine)
}
