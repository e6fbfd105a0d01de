//! `--against`: the plan of a kept run once more, both sides launch by launch in one sitting.

use std::fmt::Display;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime};

use bandgap_launch::{Classify as _, Exit, Failure, Result, Signals, signalled, told, usage};
use bandgap_record::{RUN_FILE, RecordError, RunDir, read};
use bandgap_results::{Differences, Judged, Pairs, Run, Word, plan};
use bandgap_stats::comparison::{FEWEST_PAIRS, a_first};
use clap::Args;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::compare::{Compare, Verdicts};
use super::show::kept;
use crate::args::Measure;
use crate::output::RUNS;
use crate::progress::Progress;
use crate::refused::refuse;
use crate::session::interrupted;

/// The usual number of the pairs that decide.
const PAIRS: u32 = 10;
/// What a launch may take beside its own time.
const PATIENCE: Duration = Duration::from_secs(60);
/// The least time of a launch.
const LEAST: Duration = Duration::from_secs(1);
/// The time between two looks for a signal.
const LOOK: Duration = Duration::from_secs(1);
/// Said where the kept run is the other side.
const ALONE: &str = "Only side B was measured now. --a-binary or --a-env measures both in turns.";
/// The time in which a signalled side must end.
const GRACE: Duration = Duration::from_secs(15);

/// A kept run to compare with.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Against a kept run")]
pub struct Against {
    /// Measure the plan of RUN once more, and compare. With --a-binary or --a-env both sides are measured in turns: in pairs
    /// of launches, six to see what is the same, and --launches [default: 10] more for the rest. Else RUN is side A
    #[arg(long, value_name = "RUN")]
    pub against: Option<PathBuf>,
    /// The program of side A [default: this one]
    #[arg(long, value_name = "PATH", hide_short_help = true)]
    a_binary: Option<PathBuf>,
    /// A variable of side A's environment; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable, hide_short_help = true)]
    a_env: Vec<(String, String)>,
    #[command(flatten)]
    verdicts: Verdicts,
}

/// The options of a command that can measure against a kept run.
#[derive(Clone, Debug, Args)]
pub struct Both<T: Args> {
    #[command(flatten)]
    pub of: T,
    #[command(flatten)]
    pub against: Against,
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it is no NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// A side: its program and the variables of its environment.
struct Side<'a> {
    name: &'static str,
    program: PathBuf,
    variables: &'a [(String, String)],
}

/// A directory that is removed at the end.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a command line measures: the name of its command, and all that is typed.
pub type Facts = (&'static str, String);

impl Against {
    /// Refuses options about a kept run that is not named.
    ///
    /// # Errors
    /// Such an option is given.
    pub fn check(&self, measure: &Measure) -> Result<()> {
        let (hint, is_alone) = ("name a run: --against RUN", self.against.is_none());
        let given = [
            (self.a_binary.is_some(), "--a-binary"),
            (!self.a_env.is_empty(), "--a-env"),
            (self.verdicts.margin.is_some(), "--margin"),
            (!self.verdicts.fail_on.is_empty(), "--fail-on"),
        ];
        refuse("measure", &given.map(|(given, option)| (given && is_alone, option, hint)))?;
        let hint = "give it to the run alone";
        let limits = !is_alone && !measure.precision.limits.limit.is_empty();
        let adopted = !is_alone && measure.adopted.is_some();
        let hosts = "start bandgap once: -H names hosts";
        refuse(
            "use --against",
            &[(limits, "--limit", hint), (adopted, "processes of a launcher", hosts)],
        )
    }

    /// Measures the plan of the run again, and compares. `facts` reads a command line.
    ///
    /// # Errors
    /// The run is of another plan, a side cannot be measured, or the comparison not be made.
    pub fn run(
        &self,
        named: &Path,
        measure: &Measure,
        facts: impl Fn(&[String]) -> Result<Facts>,
    ) -> Result<Exit> {
        let (path, run) = kept(named)?;
        let typed = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        let typed: Vec<String> = typed.collect();
        let mut words = plan(&run.command);
        let ((own, asked), theirs) = (facts(&plan(&typed))?, facts(&words));
        let (of, taken) = theirs.map_err(|of| Failure { exit: Exit::Setups, ..of })?;
        if of != own || asked != taken && asked != facts(&[own.to_owned()])?.1 {
            let failure = usage!("measure another plan against {}", path.display());
            return Err(failure.hint(format!("its own is taken: bandgap {of} --against RUN")));
        }
        let _signals = Signals::take(interrupted(measure.output.quiet))?;
        let program = std::env::current_exe().class(Exit::Host)?;
        let b = Side { name: "b", program: program.clone(), variables: &[] };
        let is_virtual = run.setup.of.iter().all(|of| of.transport.starts_with("sim:"));
        let seconds = |of: Duration| format!("{:.1}s", of.as_secs_f64());
        let patience = PATIENCE + measure.deadline();
        let effort = &measure.effort;
        let budget = effort.time_budget.map(|of| Duration::from_secs_f64(of.as_secs()));
        let elapsed = Duration::from_secs_f64(run.elapsed.0);
        let out = measure.output.out.as_deref();
        let held = out.map(RunDir::create).transpose().map_err(unwritable)?;
        let mut compare = Compare {
            a: named.display().to_string(),
            verdicts: self.verdicts.clone(),
            strict: measure.precision.limits.strict,
            json: measure.output.json.clone(),
            verbose: measure.output.shown.verbose,
            ..Compare::default()
        };
        if self.a_binary.is_none() && self.a_env.is_empty() {
            let launches = effort.launches.map(|of| ["--launches".to_owned(), of.to_string()]);
            let time = budget.map(|of| ["--time-budget".to_owned(), seconds(of)]);
            words.extend([launches, time].into_iter().flatten().flatten());
            let new = || RunDir::create_in(Path::new(RUNS), own, SystemTime::now());
            let directory = match &held {
                Some(held) => held.path().join("b"),
                // The launch makes it again.
                None => new().map_err(unwritable)?.path().to_owned(),
            };
            let limit = budget.unwrap_or(elapsed.max(PATIENCE)) * 4 + patience;
            let found = b.measure(&words, &directory, limit)?;
            compare.b = directory.display().to_string();
            let sides = [[(compare.a.clone(), run)], [(compare.b.clone(), found)]];
            let made = self.verdicts.compare([&sides[0], &sides[1]], None);
            return compare.conclude(made, held, Some(ALONE));
        }
        let later = u64::from(effort.launches.unwrap_or(PAIRS));
        if later < FEWEST_PAIRS {
            return Err(usage!("decide by {later} pairs of launches")
                .hint(format!("give at least --launches {FEWEST_PAIRS}")));
        }
        let (first, all) = (FEWEST_PAIRS as usize, (FEWEST_PAIRS + later) as usize);
        let launches = run.conditions.iter().map(|of| of.launches).max().unwrap_or(1).max(1);
        let own = budget.map_or(elapsed / launches as u32, |of| of / (2 * all as u32));
        let own = own.max(LEAST);
        if !is_virtual {
            let more = ["--launches", "1", "--time-budget", &seconds(own)];
            words.extend(more.map(str::to_owned));
        }
        let temporary = || RunDir::create_in(&std::env::temp_dir(), "bandgap", SystemTime::now());
        let other = if held.is_none() { Some(temporary().map_err(unwritable)?) } else { None };
        let _removed = other.as_ref().map(|of| Removed(of.path().to_owned()));
        let place = held.as_ref().or(other.as_ref()).map_or(Path::new(""), RunDir::path);
        let a_program = self.a_binary.clone().unwrap_or(program);
        let a = Side { name: "a", program: a_program, variables: &self.a_env };
        compare.b = b.program.display().to_string();
        let names = [a.words(), b.words()];
        let mut runs: [Vec<(String, Run)>; 2] = Default::default();
        let mut settled: Vec<Judged> = Vec::new();
        let mut progress = Progress::new(vec![("pairs".to_owned(), 1.0)], measure.output.quiet);
        let compared = |[a, b]: &[Vec<(String, Run)>; 2], settled| {
            self.verdicts.compare([a, b], Some(Pairs { settled, command: typed.clone() }))
        };
        for (at, is_a_first) in a_first(all, run.seed).into_iter().enumerate() {
            if at == first {
                let made = compared(&runs, Vec::new());
                let is_open = |of: &Judged| of.verdict != Word::Same && !of.exact;
                if !made.quantities.iter().any(is_open) {
                    break;
                }
                // The earlier pairs chose what goes on: the later ones alone say how much it changed.
                settled = made.quantities.into_iter().chain(made.machine.floors).collect();
                settled.retain(|of| !is_open(of));
                runs = Default::default();
            }
            for is_a in [is_a_first, !is_a_first] {
                let side = if is_a { &a } else { &b };
                let doing = format!("pair {}, {}", at + 1, side.name.to_uppercase());
                progress.show(at as f64 / all as f64, &doing);
                let directory = place.join(format!("{}{}", side.name, at + 1));
                let found = side.measure(&words, &directory, own * 4 + elapsed + patience)?;
                let differs = Differences::between(&[&run, &found]);
                let host = differs.expected.iter().find(|of| of.field == "setup.machine.hosts");
                if let Some(field) = differs.machine.first().or(host) {
                    let what = format!("start {} again: {field}", names[0]);
                    return Err(Failure::new(Exit::Setups, what));
                }
                let of = usize::from(!is_a);
                runs[of].push((names[of].clone(), found));
            }
        }
        progress.clear();
        compare.conclude(compared(&runs, settled), held, None)
    }
}

impl Side<'_> {
    /// Its environment and program.
    fn words(&self) -> String {
        let variables = self.variables.iter().map(|(name, value)| format!("{name}={value} "));
        variables.collect::<String>() + &self.program.display().to_string()
    }

    /// Measures once into a directory, within a time.
    fn measure(&self, words: &[String], directory: &Path, limit: Duration) -> Result<Run> {
        let failed = |exit, why: &dyn Display| {
            let what =
                format!("measure side {}, {}: {why}", self.name.to_uppercase(), self.words());
            Err(Failure::new(exit, what).hint(words.join(" ")))
        };
        // The side may be a script that goes elsewhere.
        let directory = &std::path::absolute(directory).class(Exit::Output)?;
        let path = directory.with_extension("stderr");
        let parent = directory.parent().map_or(Ok(()), fs::create_dir_all);
        let said = parent.and_then(|()| File::create(&path)).class(Exit::Output)?;
        let mut command = Command::new(&self.program);
        command.args(words).arg("-q").arg("--out").arg(directory);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return failed(Exit::Setups, &error),
        };
        let ended = ended(&mut child, limit);
        let said = fs::read(&path).map(|of| String::from_utf8_lossy(&of).into_owned());
        let said = said.unwrap_or_default();
        let _ = fs::remove_file(&path);
        if signalled().is_some() {
            return failed(Exit::Interrupted, &"interrupted");
        }
        let Some(status) = ended.class(Exit::Host)? else {
            return failed(Exit::Communication, &format_args!("it goes on after {limit:?}"));
        };
        let known = |exit: &&(Exit, u8, _)| status.code() == Some(i32::from(exit.1));
        match (Exit::ALL.iter().find(known), read(&directory.join(RUN_FILE))) {
            (Some((Exit::Fine | Exit::Doubtful | Exit::Missing, ..)), Ok(run)) => Ok(run),
            (of, _) => {
                let exit = of.map_or(Exit::Setups, |of| of.0.max(Exit::Setups));
                failed(exit, &format_args!("{status}: {}", said.trim_end()))
            }
        }
    }
}

/// How a process ended; `None` if it was killed since it took too long.
fn ended(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let (pid, mut end) = (Pid::from_child(child), Instant::now() + limit);
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    let mut is_told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        if signalled().is_some() && !is_told {
            // It ends in order.
            let _ = kill_process(pid, Signal::TERM);
            (is_told, end) = (true, end.min(Instant::now() + GRACE));
        }
        let pause = Timespec::try_from(left.min(LOOK)).unwrap_or_default();
        let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&pause));
    }
}

fn unwritable(error: RecordError) -> Failure {
    Failure::new(Exit::Output, told(&error))
}
