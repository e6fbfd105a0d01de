//! `--against`: the plan of a kept run once more, both sides launch by launch in one sitting.

use std::fs::remove_dir_all;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf, absolute};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime};

use bandgap_launch::{Classify as _, Exit, Failure, Result, Signals, signalled, usage};
use bandgap_record::{RUN_FILE, RunDir, read};
use bandgap_results::{Comparison, Differences, Judged, Pairs, Run, Word, plan};
use bandgap_stats::comparison::{FEWEST_PAIRS, a_first};
use clap::Args;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::compare::{Compare, Verdicts};
use super::show::kept;
use crate::args::Measure;
use crate::output::RUNS;
use crate::progress::Progress;
use crate::refused::refuse;
use crate::session::interrupted;

/// The usual number of the pairs that decide.
const PAIRS: u32 = 10;
/// The least time of a launch.
const LEAST: Duration = Duration::from_secs(1);
/// What a launch may take beside its time.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time between two looks for a signal.
const LOOK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
/// Said where the kept run is the other side.
const ALONE: &str = "Only side B was measured now. --a-binary or --a-env measures both in turns.";

/// A kept run to compare with.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Against a kept run")]
pub struct Against {
    /// Measure the plan of RUN once more, and compare. With --a-binary or --a-env both sides are measured in turns: six pairs
    /// of launches show what is the same, and --launches [default: 10] more decide the rest. Else RUN is side A
    #[arg(long, value_name = "RUN")]
    against: Option<PathBuf>,
    /// The program of side A [default: this one]
    #[arg(long, value_name = "PATH", requires = "against", hide_short_help = true)]
    a_binary: Option<PathBuf>,
    /// A variable of side A's environment; may be given several times
    #[arg(long, value_name = "NAME=VALUE", requires = "against", value_parser = variable, hide_short_help = true)]
    a_env: Vec<(String, String)>,
    #[command(flatten)]
    verdicts: Verdicts,
}

/// The options of a command that can measure against a kept run.
#[derive(Clone, Debug, Args)]
pub struct Both<T: Args> {
    #[command(flatten)]
    of: T,
    #[command(flatten)]
    against: Against,
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it is no NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn varies(run: &Run) -> bool {
    run.setup.of.iter().any(|of| of.varies)
}

/// For a simulated machine that varies, the option for other draws than those of the run, and of each number.
fn another_seed(run: &Run, number: usize) -> Vec<String> {
    let seed = run.seed.wrapping_add(1 + number as u64);
    varies(run).then(|| format!("--seed={seed}")).into_iter().collect()
}

/// What is started for a side.
struct Side<'a> {
    /// Its letter.
    name: &'static str,
    program: &'a Path,
    variables: &'a [(String, String)],
}

impl<T: Args> Both<T> {
    /// Carries out the command, or measures against a kept run.
    ///
    /// # Errors
    /// Those of `run`; or the kept run has another plan, or a side cannot be measured.
    pub fn run(
        &self,
        measure: &Measure,
        run: impl FnOnce(&T, &Measure) -> Result<Exit>,
    ) -> Result<Exit> {
        let Against { against, verdicts: Verdicts { margin, fail_on }, .. } = &self.against;
        let without = |given| against.is_none() && given;
        let with = |given| against.is_some() && given;
        let hint = "name a run: --against RUN";
        let all = [
            (without(margin.is_some()), "--margin", hint),
            (without(!fail_on.is_empty()), "--fail-on", hint),
            (with(!measure.precision.limits.limit.is_empty()), "--limit", "leave out --against"),
            (with(measure.adopted.is_some()), "processes of a launcher", "start bandgap once"),
        ];
        refuse("measure", &all)?;
        match against {
            Some(kept) => self.against.run(kept, measure),
            None => run(&self.of, measure),
        }
    }
}

impl Against {
    fn run(&self, named: &Path, measure: &Measure) -> Result<Exit> {
        let (_, run) = kept(named)?;
        let typed = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        let typed: Vec<String> = typed.collect();
        let (words, asked) = (plan(&run.command), plan(&typed));
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        if words[0] != asked[0] || asked.len() > 1 && asked != words {
            let failure = usage!("measure another plan against {}", named.display());
            return Err(failure.hint(format!("its own is taken: {} --against RUN", words[0])));
        }
        let _signals = Signals::take(interrupted(measure.output.quiet))?;
        let program = std::env::current_exe().class(Exit::Host)?;
        let held = measure.output.out.as_deref().map(RunDir::create);
        let held = held.transpose().class(Exit::Output)?;
        let b = Side { name: "b", program: &program, variables: &[] };
        let (made, say) = if self.a_binary.is_none() && self.a_env.is_empty() {
            (self.alone((named, run), &b, words, (measure, held.as_ref()))?, Some(ALONE))
        } else {
            let a_program = self.a_binary.as_deref().unwrap_or(&program);
            let a = Side { name: "a", program: a_program, variables: &self.a_env };
            let temporary =
                || RunDir::create_in(&std::env::temp_dir(), "bandgap", SystemTime::now());
            let other = held.is_none().then(temporary).transpose().class(Exit::Output)?;
            let place = held.as_ref().or(other.as_ref()).map_or(Path::new(""), RunDir::path);
            let made = self.pairs(&run, [&a, &b], (words, typed), (measure, place));
            other.iter().for_each(|of| drop(remove_dir_all(of.path())));
            (made?, None)
        };
        let compare = Compare {
            a: named.display().to_string(),
            b: program.display().to_string(),
            verdicts: self.verdicts.clone(),
            strict: measure.precision.limits.strict,
            json: measure.output.json.clone(),
            verbose: measure.output.shown.verbose,
            ..Compare::default()
        };
        compare.conclude(made, held, say)
    }

    /// Measures side B, and keeps it as a run of its own or below the comparison.
    fn alone(
        &self,
        (named, run): (&Path, Run),
        b: &Side<'_>,
        mut words: Vec<String>,
        (measure, held): (&Measure, Option<&RunDir>),
    ) -> Result<Comparison> {
        let launches = measure.effort.launches.map(|of| format!("--launches={of}"));
        let time = measure.effort.time_budget.map(|of| format!("--time-budget={}s", of.as_secs()));
        // The launch makes it again.
        let new = || RunDir::create_in(Path::new(RUNS), &words[0], SystemTime::now());
        let directory = match held {
            Some(held) => held.path().join(b.name),
            None => new().class(Exit::Output)?.path().to_owned(),
        };
        words.extend(launches.into_iter().chain(time).chain(another_seed(&run, 0)));
        let usual = Duration::from_secs_f64(run.elapsed.0).max(PATIENCE);
        let found =
            b.measure(&words, &directory, measure.budget(usual) * 4 + measure.deadline())?;
        let sides = [(named, run), (&directory, found)];
        let sides = sides.map(|(path, run)| [(path.display().to_string(), run)]);
        Ok(self.verdicts.compare([&sides[0], &sides[1]], None))
    }

    /// Measures both sides in pairs, one at a random turn first: some of all, and more if anything is open then.
    fn pairs(
        &self,
        run: &Run,
        sides: [&Side<'_>; 2],
        (mut words, typed): (Vec<String>, Vec<String>),
        (measure, place): (&Measure, &Path),
    ) -> Result<Comparison> {
        let later = measure.effort.launches.unwrap_or(PAIRS);
        if later < FEWEST_PAIRS as u32 {
            return Err(usage!("decide by {later} pairs of launches")
                .hint(format!("give at least --launches {FEWEST_PAIRS}")));
        }
        let (first, all) = (FEWEST_PAIRS as usize, FEWEST_PAIRS as u32 + later);
        let launches = run.conditions.iter().map(|of| of.launches).max().unwrap_or(1).max(1);
        let whole = Duration::from_secs_f64(run.elapsed.0);
        let time = (measure.budget(whole / launches as u32 * 2 * all) / (2 * all)).max(LEAST);
        let is_virtual = run.setup.of.iter().all(|of| of.transport.starts_with("sim:"));
        if !is_virtual {
            words.push(format!("--time-budget={:.1}s", time.as_secs_f64()));
        }
        if !is_virtual || varies(run) {
            words.push("--launches=1".to_owned());
        }
        let limit = time * 4 + whole + PATIENCE + measure.deadline();
        let mut progress = Progress::new(vec![("pairs".to_owned(), 1.0)], measure.output.quiet);
        let mut runs: [Vec<(String, Run)>; 2] = Default::default();
        let mut settled: Vec<Judged> = Vec::new();
        let compared = |[a, b]: &[Vec<(String, Run)>; 2], settled| {
            self.verdicts.compare([a, b], Some(Pairs { settled, command: typed.clone() }))
        };
        for (at, is_a_first) in a_first(all as usize, run.seed).into_iter().enumerate() {
            if at == first {
                let made = compared(&runs, Vec::new());
                let is_open = |of: &Judged| of.verdict != Word::Same && !of.exact;
                if !made.quantities.iter().any(is_open) {
                    return Ok(made);
                }
                // The earlier pairs chose what goes on: the later ones alone say how much it changed.
                settled = made.quantities.into_iter().chain(made.machine.floors).collect();
                settled.retain(|of| !is_open(of));
                runs = Default::default();
            }
            for of in if is_a_first { [0, 1] } else { [1, 0] } {
                let (side, number) = (sides[of], at + 1);
                progress.show(at as f64 / f64::from(all), &format!("pair {number} of {all}"));
                let directory = place.join(format!("{}{number}", side.name));
                let own = [&words[..], &another_seed(run, 2 * at + of)].concat();
                let found = side.measure(&own, &directory, limit)?;
                let differs = Differences::between(&[run, &found]);
                let host = differs.expected.iter().find(|of| of.field == "setup.machine.hosts");
                if let Some(field) = differs.machine.first().or(host) {
                    return Err(sides[0].failed(Exit::Setups, format!("another machine: {field}")));
                }
                runs[of].push((side.words(), found));
            }
        }
        progress.clear();
        Ok(compared(&runs, settled))
    }
}

impl Side<'_> {
    /// Its environment and program.
    fn words(&self) -> String {
        let variables = self.variables.iter().map(|(name, value)| format!("{name}={value} "));
        variables.collect::<String>() + &self.program.display().to_string()
    }

    fn failed(&self, exit: Exit, why: impl ToString) -> Failure {
        let what = format!("measure side {}, {}", self.name.to_uppercase(), self.words());
        Failure::new(exit, format!("{what}: {}", why.to_string()))
    }

    /// Measures once into a directory, within a time. What the program says of a failure goes to standard error.
    fn measure(&self, words: &[String], directory: &Path, limit: Duration) -> Result<Run> {
        // The program may be a script that goes elsewhere.
        let directory = absolute(directory).class(Exit::Output)?;
        let mut command = Command::new(self.program);
        command.args(words).arg("-q").arg("--out").arg(&directory);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        // With whatever a script starts, so that it can be killed.
        command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
        let child = command.spawn().map_err(|error| self.failed(Exit::Setups, error))?;
        let status = ended(child, limit).class(Exit::Host)?;
        let known = |of: &&(Exit, u8, _)| status.code() == Some(i32::from(of.1));
        match (Exit::ALL.iter().find(known), read(&directory.join(RUN_FILE))) {
            _ if signalled().is_some() => Err(self.failed(Exit::Interrupted, "interrupted")),
            (Some((Exit::Fine | Exit::Doubtful | Exit::Missing, ..)), Ok(run)) => Ok(run),
            (None, _) if status.code().is_none() => {
                let failure = self.failed(Exit::Communication, status);
                Err(failure.hint(format!("it is killed after {} s", limit.as_secs())))
            }
            (of, _) => {
                Err(self.failed(of.map_or(Exit::Setups, |of| of.0.max(Exit::Setups)), status))
            }
        }
    }
}

/// How a process ended: by itself, or killed after a time or by a signal to this one.
fn ended(mut child: Child, limit: Duration) -> io::Result<ExitStatus> {
    let pid = Pid::from_child(&child);
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    let end = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() > end || signalled().is_some() {
            kill_process_group(pid, Signal::KILL)?;
        }
        let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&LOOK));
    }
}
