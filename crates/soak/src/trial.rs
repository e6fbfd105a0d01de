//! Carries out a trial: starts the program, causes the fault, and observes the outcome.

use std::fs::File;
use std::io;
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::process::{Pid, Signal, kill_process};

use crate::checks::{Seen, kept};
use crate::faults::{Does, Whom};
use crate::place::TrialDir;
use crate::plan::Plan;
use crate::processes::Process;
use crate::strangers;

/// Environment variable that marks the processes of a trial.
const MARK: &str = "BANDGAP_SOAK";
/// Time between two checks of the run.
const LOOK: Duration = Duration::from_millis(3);
/// How long after its deadline a failing run may take to end.
const GRACE: Duration = Duration::from_secs(5);
/// How long a run that continues may take in addition to ten time budgets, on a slow and busy
/// machine.
const SLACK: Duration = Duration::from_secs(60);
/// Time for which ports are searched for.
const SEEKING: Duration = Duration::from_secs(2);
/// Time for processes to end by themselves, as ranks of a killed launcher do.
const SOON: Duration = Duration::from_secs(2);

/// Result of an attempt at a trial.
pub enum Tried {
    /// The trial was carried out; if its files were kept, this is their directory.
    Seen(Seen, Option<PathBuf>),
    /// This machine cannot carry out the trial.
    Skipped(String),
}

/// Carries out a trial of the program `binary`. Keeps the trial's directory if `keeps` says so.
///
/// # Errors
/// The driver itself failed.
pub fn carry_out(plan: &Plan, binary: &Path, keeps: impl Fn(&Seen) -> bool) -> io::Result<Tried> {
    let mut place = TrialDir::new()?;
    if plan.fault.does == Does::SmallDisk
        && let Err(error) = place.with_disk(plan.disk)
    {
        return Ok(Tried::Skipped(format!("a small file system cannot be mounted: {error}")));
    }
    let mut run = Running::start(plan, &place, binary)?;
    let status = run.until_end(plan)?;
    let took = run.base.elapsed();
    drop(run.talks);
    let strays = |_: &PathBuf| status.is_some_and(|status| status.code().is_some());
    let mut left = left(&run.mark);
    end_marked(&run.mark);
    // A launcher that a signal killed while it wrote a file could not remove the file.
    let files = place.strays().into_iter().filter(strays);
    left.extend(files.map(|path| path.display().to_string()));
    // A rescued run is complete; the run directory may hold an older state of it.
    let kept = kept(place.rescued().first().unwrap_or(&place.run()));
    let goes_on =
        plan.fault.goes_on && matches!(status.and_then(|status| status.code()), Some(0 | 8));
    let bound = if goes_on { run.bound } else { plan.deadline + GRACE };
    // Faults of streams and disks take effect only after the measurement.
    let bound = if plan.fault.waits() && run.struck.is_some() { bound } else { run.bound };
    let seen = Seen {
        status,
        measured: run.first_rank.is_some(),
        struck: run.struck.is_some(),
        lasted: run.lasted,
        took,
        bound,
        left,
        kept,
    };
    let stays = keeps(&seen).then(|| place.keep());
    Ok(Tried::Seen(seen, stays))
}

/// A run in progress.
struct Running {
    launcher: Child,
    /// Environment variable that all its processes carry.
    mark: String,
    first_rank: Option<Instant>,
    all_ranks: Option<Instant>,
    /// When the fault came, and which ranks were running then.
    struck: Option<(Instant, Vec<Process>)>,
    lasted: bool,
    /// Time from which the run is timed, and how long it may take.
    base: Instant,
    bound: Duration,
    /// Connections to its ports that stay open while it runs.
    talks: Vec<TcpStream>,
    random: Xoshiro256PlusPlus,
}

impl Running {
    fn start(plan: &Plan, place: &TrialDir, binary: &Path) -> io::Result<Self> {
        static TRIALS: AtomicU64 = AtomicU64::new(0);
        let number = TRIALS.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}-{number}", std::process::id());
        let mut command = Command::new(binary);
        command
            .args(plan.words(&place.run().to_string_lossy()))
            .current_dir(place.path("work"))
            .env("TMPDIR", place.path("temporary"))
            .env(MARK, &mark);
        command.stdin(Stdio::null());
        command.stdout(File::create(place.path("output"))?);
        command.stderr(File::create(place.path("message"))?);
        // A separate process group, so that no other process gets the run's signals.
        let launcher = command.process_group(0).spawn()?;
        Ok(Self {
            launcher,
            mark: format!("{MARK}={mark}"),
            first_rank: None,
            all_ranks: None,
            struck: None,
            lasted: false,
            base: Instant::now(),
            bound: plan.budget * 10 + plan.deadline + SLACK,
            talks: Vec::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(plan.disk),
        })
    }

    /// Watches the run until it has ended, and causes the fault when it is due. `None` if the run
    /// had to be killed.
    fn until_end(&mut self, plan: &Plan) -> io::Result<Option<ExitStatus>> {
        let mut resumes: Option<Instant> = None;
        loop {
            if let Some(status) = self.launcher.try_wait()? {
                return Ok(Some(status));
            }
            let now = Instant::now();
            let seeks = plan.fault.does == Does::Strangers
                && self.struck.is_none()
                && self.first_rank.is_none_or(|since| now < since + SEEKING);
            if seeks {
                // Without the launcher ranks cannot close their ports.
                self.send(Signal::STOP, &[self.launcher.id()]);
            }
            let ranks = Process::ranks_of(self.launcher.id());
            if !ranks.is_empty() {
                self.first_rank.get_or_insert(now);
            }
            if ranks.len() == plan.ranks {
                self.all_ranks.get_or_insert(now);
            }
            let due = match plan.fault.does {
                Does::Strangers => seeks,
                _ => self.all_ranks.is_some_and(|since| now >= since + plan.after),
            };
            if self.struck.is_none() && due && self.strike(plan, &ranks) {
                self.base = Instant::now();
                resumes = plan.pause.map(|pause| self.base + pause);
                self.struck = Some((self.base, ranks.clone()));
            }
            if seeks {
                self.send(Signal::CONT, &[self.launcher.id()]);
            }
            if let Some((at, there)) = &self.struck {
                let is = |one: &Process| {
                    ranks.iter().any(|rank| (rank.pid, rank.started) == (one.pid, one.started))
                };
                self.lasted |= now >= *at + Duration::from_secs(1) && there.iter().any(is);
                if resumes.is_some_and(|at| now >= at) {
                    self.send(Signal::CONT, &self.targets(plan, there));
                    (self.base, resumes) = (now, None);
                }
            }
            if resumes.is_none() && now >= self.base + self.bound {
                end_marked(&self.mark);
                self.launcher.wait()?;
                return Ok(None);
            }
            sleep(if seeks { LOOK / 10 } else { LOOK });
        }
    }

    /// Causes the fault; false if there was nothing to affect.
    fn strike(&mut self, plan: &Plan, ranks: &[Process]) -> bool {
        match plan.fault.does {
            Does::Signal { signal, .. } => self.send(signal, &self.targets(plan, ranks)),
            Does::Strangers => {
                let pids = ranks.iter().map(|rank| rank.pid);
                strangers::talk(pids, &mut self.talks, &mut self.random) > 0
            }
            _ => false,
        }
    }

    /// Processes that a signal goes to. None while ranks start or end, since their numbers are
    /// unknown then.
    fn targets(&self, plan: &Plan, ranks: &[Process]) -> Vec<u32> {
        let Does::Signal { to, .. } = plan.fault.does else { return Vec::new() };
        match to {
            _ if ranks.len() != plan.ranks => Vec::new(),
            Whom::Launcher => vec![self.launcher.id()],
            Whom::Rank => vec![ranks[plan.rank].pid],
            Whom::Ranks => ranks.iter().map(|rank| rank.pid).collect(),
        }
    }

    fn send(&self, signal: Signal, pids: &[u32]) -> bool {
        let pids = pids.iter().filter_map(|pid| Pid::from_raw(pid.cast_signed()));
        pids.filter(|pid| kill_process(*pid, signal).is_ok()).count() > 0
    }
}

/// Processes that carry the mark.
fn marked(mark: &str) -> Vec<Process> {
    Process::all().filter(|process| process.carries(mark)).collect()
}

/// Kills every process that carries the mark.
fn end_marked(mark: &str) {
    for process in marked(mark) {
        if let Some(pid) = Pid::from_raw(process.pid.cast_signed()) {
            // An error means that the process has already ended.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Waits until no process with the mark is left, and lists those that remain after [`SOON`].
fn left(mark: &str) -> Vec<String> {
    let until = Instant::now() + SOON;
    loop {
        let found: Vec<String> =
            marked(mark).iter().map(|process| format!("process {}", process.pid)).collect();
        if found.is_empty() || Instant::now() >= until {
            return found;
        }
        sleep(LOOK);
    }
}
