//! A run under way: started, looked after until it has ended, and done to what is planned.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::process::{Pid, Signal, kill_process};

use crate::error::Doing;
use crate::faults::{Does, Streams, Whom};
use crate::lower::Lower;
use crate::place::Place;
use crate::plan::{Moment, Plan};
use crate::processes::Process;
use crate::screen::Screen;
use crate::struck::{After, Struck};
use crate::under::Under;
use crate::{SoakError, leftovers, sockets, strangers, streams};

/// Names the environment variable by which the processes of a trial are known.
const MARK: &str = "BANDGAP_SOAK";
/// Time budgets of a run: one for each transport and kernel, and what comes before and between them.
const BUDGETS: u32 = 10;
/// Between two looks.
const LOOK: Duration = Duration::from_millis(3);
/// Between two looks of a driver that is held up: far more than a busy machine takes.
const HELD_UP: Duration = Duration::from_millis(1500);
/// Between two looks at which sockets a run has.
const BETWEEN_NOTES: Duration = Duration::from_millis(50);
/// How long a port is looked for from the first rank on, with the launcher halted at each look.
const SEEKING: Duration = Duration::from_secs(2);
/// Between two talks to one port.
const BETWEEN_TALKS: Duration = Duration::from_millis(100);

/// A run under way.
pub(crate) struct Running {
    /// Its launcher.
    pub child: Child,
    /// What all of its processes carry.
    pub mark: String,
    began: Instant,
    /// Its standard output.
    pub output: Screen,
    /// Its standard error.
    pub message: Screen,
    /// Sockets that it had.
    pub held: BTreeSet<u64>,
    /// Connections to its ports that stay open while it runs.
    pub talks: Vec<TcpStream>,
    /// When each of them was talked to last, by its socket's inode.
    talked: BTreeMap<u64, Instant>,
    random: Xoshiro256PlusPlus,
    /// It did not end by itself.
    pub ended_by_force: bool,
    /// Whether the driver was.
    pub held_up: bool,
    /// Which program lowers its limits while it runs, and as whom; this one, where it is nobody else's.
    lowers: Option<(PathBuf, u32)>,
    /// Whether the driver's own program is started first, to set limits.
    pub limited: bool,
    /// From when on it is timed.
    pub base: Instant,
    /// When a rank was seen last.
    pub last_rank: Instant,
    /// The most that it may take from then on.
    pub bound: Duration,
}

impl Running {
    /// Starts the program `binary`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(
        plan: &Plan,
        place: &Place,
        under: &Under,
        user: Option<u32>,
        binary: &Path,
        driver: &Path,
    ) -> Result<Self, SoakError> {
        let words = plan.words(&place.run().to_string_lossy());
        let mut program: Vec<PathBuf> = vec![binary.to_owned()];
        program.extend(words.into_iter().map(PathBuf::from));
        if !under.is_free() {
            let limits = under.arguments().into_iter().map(PathBuf::from);
            program.splice(0..0, std::iter::once(driver.to_owned()).chain(limits));
        }
        if let Some(closing) = streams::closing(plan.fault.does) {
            program.splice(0..0, ["/bin/sh", "-c", closing, "sh"].map(PathBuf::from));
        }
        let (output, theirs) = streams::stream(plan, Streams::Output)?;
        let (message, their_message) = streams::stream(plan, Streams::Error)?;
        // No two runs have one, though a trial may be repeated.
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let mark = format!("{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new(&program[0]);
        command.args(&program[1..]).current_dir(place.work()).env(MARK, &mark);
        command.env("TMPDIR", place.temporary()).env("TERM", "xterm");
        // In a group of its own, but in this session: nobody else gets its signals, and it can be stopped.
        command.stdin(Stdio::null()).stdout(theirs).stderr(their_message).process_group(0);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let child = command.spawn().doing(|| format!("start {}", program[0].display()))?;
        let began = Instant::now();
        Ok(Self {
            child,
            mark: format!("{MARK}={mark}"),
            began,
            output,
            message,
            held: BTreeSet::new(),
            talks: Vec::new(),
            talked: BTreeMap::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(plan.draw),
            ended_by_force: false,
            held_up: false,
            lowers: user.map(|user| (driver.to_owned(), user)),
            limited: !under.is_free(),
            base: began,
            last_rank: began,
            bound: goes_on(plan),
        })
    }

    /// Looks after the run until it has ended, and does to it what is planned when its moment comes.
    ///
    /// # Errors
    /// The system does not tell whether it has ended.
    pub fn until_end(&mut self, plan: &Plan, place: &Place) -> Result<Option<Struck>, SoakError> {
        let mut after: Option<After> = None;
        let mut ranks_since: Option<Instant> = None;
        let mut first_rank: Option<Instant> = None;
        let mut resumes = None;
        let strangers = plan.fault.does == Does::Strangers;
        let (mut looked, mut noted) = (self.began, self.began);
        loop {
            self.held_up |= looked.elapsed() > HELD_UP;
            looked = Instant::now();
            self.output.read();
            self.message.read();
            let what = || "wait for the program".to_owned();
            if self.child.try_wait().doing(what)?.is_some() {
                return Ok(after.map(|after| after.struck()));
            }
            let now = Instant::now();
            let seeks = strangers
                && after.is_none()
                && first_rank.is_some_and(|since: Instant| now < since + SEEKING);
            if seeks {
                // Ranks wait for it before they close their ports.
                self.to_launcher(Signal::STOP);
            }
            let ranks = Process::ranks_of(self.child.id());
            if ranks.len() == plan.ranks {
                ranks_since.get_or_insert(now);
            }
            let due = match plan.moment {
                // A port is open for a moment.
                _ if strangers => !ranks.is_empty(),
                Moment::Started(after) => now >= self.began + after,
                Moment::Ranks(after) => ranks_since.is_some_and(|since| now >= since + after),
            };
            if now >= noted + BETWEEN_NOTES {
                self.note_sockets(&ranks);
                noted = now;
            }
            if after.is_none() && plan.waits() && due && self.strike(plan, place, &ranks) {
                let at = Instant::now();
                let hit = match plan.fault.does {
                    Does::Signal { to: Whom::Rank, .. } => ranks.get(plan.rank).copied(),
                    _ => None,
                };
                after = Some(After::new(at, ranks.clone(), hit));
                self.base = at;
                if !plan.fault.survives {
                    self.bound = plan.deadline + plan.grace;
                }
                resumes = plan.pause.map(|pause| (at + pause, ranks.clone()));
            }
            if seeks {
                self.to_launcher(Signal::CONT);
            }
            if !ranks.is_empty() {
                first_rank.get_or_insert(now);
                self.last_rank = now;
            }
            if let Some((at, stopped)) = &resumes
                && now >= *at
            {
                self.resume(plan, stopped);
                self.base = Instant::now();
                resumes = None;
            }
            if let Some(after) = &mut after {
                after.look(now, &ranks);
                if strangers {
                    self.talk(&ranks);
                }
            }
            if resumes.is_none() && now >= self.base + self.bound + plan.grace / 2 {
                // Too late by far: what it is waiting for will not come.
                self.ended_by_force = true;
                leftovers::end_marked(&self.mark);
                self.child.wait().doing(what)?;
                return Ok(after.map(|after| after.struck()));
            }
            sleep(if strangers { LOOK / 10 } else { LOOK });
        }
    }

    /// Does what is planned; false if there is nothing to do it to.
    fn strike(&mut self, plan: &Plan, place: &Place, ranks: &[Process]) -> bool {
        let lower = Lower { pid: self.child.id(), processes: None, descriptors: None };
        match plan.fault.does {
            Does::Signal { signal, to, .. } => self.signal(plan, signal, to, ranks),
            Does::Removed => fs::remove_dir_all(place.run()).is_ok(),
            Does::Strangers => self.talk(ranks) > 0,
            Does::ProcessesLater => self.lower(&Lower { processes: Some(1), ..lower }),
            Does::DescriptorsLater => {
                self.lower(&Lower { descriptors: Some(plan.between(3, 30)), ..lower })
            }
            _ => false,
        }
    }

    /// Lowers a limit of the launcher, as its own user: others may not everywhere. False if it has ended.
    fn lower(&self, limit: &Lower) -> bool {
        let Some((driver, user)) = &self.lowers else { return limit.lower().is_ok() };
        let mut command = Command::new(driver);
        command.args(limit.arguments()).uid(*user).gid(*user);
        command.status().is_ok_and(|status| status.success())
    }

    fn signal(&self, plan: &Plan, signal: Signal, to: Whom, ranks: &[Process]) -> bool {
        let launcher = [self.child.id()];
        let pids: Vec<u32> = match to {
            Whom::Launcher => launcher.to_vec(),
            // While some of them come or go nobody can tell which is which.
            _ if ranks.len() != plan.ranks => Vec::new(),
            Whom::Rank => ranks.get(plan.rank).map(|rank| rank.pid).into_iter().collect(),
            Whom::Ranks => ranks.iter().map(|rank| rank.pid).collect(),
        };
        let pids = pids.into_iter().filter_map(|pid| Pid::from_raw(pid.cast_signed()));
        pids.map(|pid| kill_process(pid, signal)).filter(Result::is_ok).count() > 0
    }

    fn to_launcher(&self, signal: Signal) {
        // One that has ended meanwhile needs none.
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    fn resume(&self, plan: &Plan, ranks: &[Process]) {
        if let Does::Signal { to, .. } = plan.fault.does {
            self.signal(plan, Signal::CONT, to, ranks);
        }
    }

    /// Talks to the ports of the ranks, to each at most ten times a second; returns how often anything was taken.
    fn talk(&mut self, ranks: &[Process]) -> usize {
        let held: BTreeSet<u64> =
            ranks.iter().flat_map(|rank| sockets::held_by(rank.pid)).collect();
        let now = Instant::now();
        let mut due = Vec::new();
        for (inode, port) in sockets::ports(&held) {
            if self.talked.get(&inode).is_none_or(|at| now >= *at + BETWEEN_TALKS) {
                self.talked.insert(inode, now);
                due.push(port);
            }
        }
        strangers::talk(due.into_iter(), &mut self.talks, &mut self.random)
    }

    fn note_sockets(&mut self, ranks: &[Process]) {
        let pids = ranks.iter().map(|rank| rank.pid).chain([self.child.id()]);
        self.held.extend(pids.flat_map(sockets::held_by));
    }
}

/// The longest that a run which goes on may take.
fn goes_on(plan: &Plan) -> Duration {
    plan.deadline + plan.grace + plan.slack + plan.budget * BUDGETS
}
