//! A trial, carried out: the program is started, something is done to it, and what comes of it is seen.

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
use crate::place::Place;
use crate::plan::Plan;
use crate::processes::Process;
use crate::strangers;

/// Names the environment variable by which the processes of a trial are known.
const MARK: &str = "BANDGAP_SOAK";
/// Between two looks.
const LOOK: Duration = Duration::from_millis(3);
/// How much longer than its deadline a run that fails may take to end.
const GRACE: Duration = Duration::from_secs(5);
/// What a run that goes on may take beside ten time budgets, on a slow and busy machine.
const SLACK: Duration = Duration::from_secs(60);
/// How long a port is looked for.
const SEEKING: Duration = Duration::from_secs(2);
/// Time in which what is left goes away by itself, as ranks of a killed launcher do.
const SOON: Duration = Duration::from_secs(2);

/// What comes of trying.
pub enum Tried {
    /// It was carried out; what the program wrote is kept here, if that was asked for.
    Seen(Seen, Option<PathBuf>),
    /// This machine cannot do it.
    Skipped(String),
}

/// Carries out a trial on the program `binary`. Its directory stays if `keeps` says so.
///
/// # Errors
/// The driver could not do its own part.
pub fn carry_out(plan: &Plan, binary: &Path, keeps: impl Fn(&Seen) -> bool) -> io::Result<Tried> {
    let mut place = Place::new()?;
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
    // A launcher that was killed in the middle of a file cannot remove it.
    let files = place.strays().into_iter().filter(strays);
    left.extend(files.map(|path| path.display().to_string()));
    // What is rescued is the whole run; what was to hold it may have an older state.
    let kept = kept(place.rescued().first().unwrap_or(&place.run()));
    let goes_on =
        plan.fault.goes_on && matches!(status.and_then(|status| status.code()), Some(0 | 8));
    let bound = if goes_on { run.bound } else { plan.deadline + GRACE };
    // What fails at a stream or a disk does so after the measurement.
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

/// A run under way.
struct Running {
    launcher: Child,
    /// What all of its processes carry.
    mark: String,
    first_rank: Option<Instant>,
    all_ranks: Option<Instant>,
    /// When something was done to it, and the ranks that there were.
    struck: Option<(Instant, Vec<Process>)>,
    lasted: bool,
    /// From when on it is timed, and how long it may take.
    base: Instant,
    bound: Duration,
    /// Connections to its ports that stay open while it runs.
    talks: Vec<TcpStream>,
    random: Xoshiro256PlusPlus,
}

impl Running {
    fn start(plan: &Plan, place: &Place, binary: &Path) -> io::Result<Self> {
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
        // In a group of its own, so that nobody else gets its signals.
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

    /// Looks after the run until it has ended, and does to it what is planned when its moment comes. `None` if it had to be
    /// ended.
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
                // Ranks wait for it before they close their ports.
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

    /// Does what is planned; false if there is nothing to do it to.
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

    /// Whom a signal goes to. While some ranks come or go nobody can tell which is which.
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

/// The processes that carry a mark.
fn marked(mark: &str) -> Vec<Process> {
    Process::all().filter(|process| process.carries(mark)).collect()
}

/// Ends every process that carries a mark.
fn end_marked(mark: &str) {
    for process in marked(mark) {
        if let Some(pid) = Pid::from_raw(process.pid.cast_signed()) {
            // One that has ended meanwhile is what is wanted.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Waits until nothing is left of a run, and says which processes with its mark are left nevertheless.
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
