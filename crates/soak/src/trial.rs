//! A trial, carried out: the program is started, something is done to it, and what comes of it is seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::TcpStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::process::{Pid, Signal, geteuid, kill_process};

use crate::error::Doing;
use crate::faults::{Broken, Does, Group, Streams, Whom};
use crate::kept::{Kept, kept};
use crate::place::Place;
use crate::plan::{Moment, Plan};
use crate::processes::Process;
use crate::screen::{Screen, batches_shown, least_progress};
use crate::struck::{After, Struck};
use crate::under::{UNDER_FAILED, Under};
use crate::{SoakError, leftovers, sockets, strangers};

/// Names the environment variable by which the processes of a trial are known.
pub const MARK: &str = "BANDGAP_SOAK";
/// What a run that goes on may take beside what it was given, on a machine as slow and busy as those that tests run on.
const SLACK: Duration = Duration::from_secs(60);
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
/// Users that nobody is, for limits that count the processes of a user.
const NOBODY: u32 = 61_000;

/// What was seen of a trial.
#[derive(Debug)]
pub struct Seen {
    /// How the launcher ended; `None` if it had to be ended.
    pub status: Option<ExitStatus>,
    /// What it printed.
    pub output: String,
    /// What it said beside.
    pub message: String,
    /// Where its run was to be kept, as it was told.
    pub run: String,
    /// Batches that it showed to have received.
    pub shown: u64,
    /// How far it showed to have come, in per cent: of several measurements the least.
    pub progress: Option<u64>,
    /// Whether the fault was there while the run was.
    pub struck: Option<Struck>,
    /// From the fault, or the end of the pause, to the end; where a limit was met, from the end of the last rank.
    pub took: Duration,
    /// The most that may be.
    pub bound: Duration,
    /// What is left of it.
    pub left: Vec<String>,
    /// What is kept, wherever the run says.
    pub kept: Result<Option<Kept>, String>,
    /// Whether the driver itself was held up for so long that no time it saw means anything.
    pub held_up: bool,
}

/// What comes of trying.
#[derive(Debug)]
pub enum Tried {
    /// It was carried out.
    Seen(Box<Seen>, Place),
    /// This machine cannot do it.
    Skipped(String),
}

/// Carries out a trial on the program `binary`; `driver` is this program, for limits.
///
/// # Errors
/// The driver could not do its own part.
pub fn carry_out(plan: &Plan, binary: &Path, driver: &Path) -> Result<Tried, SoakError> {
    let limited = plan.fault.does == Does::FewProcesses;
    if limited && !geteuid().is_root() {
        return Ok(Tried::Skipped("counting the processes of a user needs root".to_owned()));
    }
    let user = limited.then(|| NOBODY + (plan.draw % 1000) as u32);
    let mut place = Place::new(user)?;
    let mut under = Under::default();
    match plan.fault.does {
        Does::SmallDisk => {
            if let Err(error) = place.with_disk(plan.between(4, 300) << 10) {
                return Ok(Tried::Skipped(error.to_string()));
            }
        }
        Does::LittleMemory => match place.with_memory(plan.between(6, 48) << 20) {
            Ok(group) => under.group = Some(group),
            Err(error) => return Ok(Tried::Skipped(error.to_string())),
        },
        Does::NoMemfd if !place.takes_nameless_files() => {
            let why = "no directory for the fall-back takes files without a name";
            return Ok(Tried::Skipped(why.to_owned()));
        }
        Does::ShortFiles => under.file_size = Some(plan.between(1, 600) << 10),
        Does::NoMemfd => under.no_memfd = true,
        Does::NoVmReadv => under.no_vm_readv = true,
        // Fewer, and the system's loader cannot open the libraries.
        Does::FewDescriptors => under.descriptors = Some(plan.between(5, 90)),
        Does::FewProcesses => under.processes = Some(plan.between(1, plan.ranks as u64 + 1)),
        Does::OneProcessor => under.processor = Some(0),
        _ => {}
    }
    let before = leftovers::segments();
    let mut run = Running::start(plan, &place, &under, user, binary, driver)?;
    let struck = run.until_end(plan, &place)?;
    run.end(plan, place, struck, &before)
}

/// A run under way.
struct Running {
    child: Child,
    mark: String,
    began: Instant,
    output: Screen,
    message: Screen,
    held: BTreeSet<u64>,
    /// Connections to its ports that stay open while it runs.
    talks: Vec<TcpStream>,
    /// When each of them was talked to last, by its socket's inode.
    talked: BTreeMap<u64, Instant>,
    random: Xoshiro256PlusPlus,
    /// It did not end by itself.
    ended_by_force: bool,
    held_up: bool,
    /// Whether the driver's own program is started first, to set limits.
    limited: bool,
    base: Instant,
    /// When a rank was seen last.
    last_rank: Instant,
    bound: Duration,
}

impl Running {
    fn start(
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
        if let Does::Stream(streams, Broken::Closed) = plan.fault.does {
            let closing = match streams {
                Streams::Output => "exec \"$@\" >&-",
                Streams::Error => "exec \"$@\" 2>&-",
                Streams::Both => "exec \"$@\" >&- 2>&-",
            };
            program.splice(0..0, ["/bin/sh", "-c", closing, "sh"].map(PathBuf::from));
        }
        let (output, theirs) = stream(plan, Streams::Output)?;
        let (message, their_message) = stream(plan, Streams::Error)?;
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
            limited: !under.is_free(),
            base: began,
            last_rank: began,
            bound: goes_on(plan),
        })
    }

    /// Looks after the run until it has ended, and does to it what is planned when its moment comes.
    fn until_end(&mut self, plan: &Plan, place: &Place) -> Result<Option<Struck>, SoakError> {
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
        match plan.fault.does {
            Does::Signal { signal, to, .. } => self.signal(plan, signal, to, ranks),
            Does::Removed => fs::remove_dir_all(place.run()).is_ok(),
            Does::Strangers => self.talk(ranks) > 0,
            _ => false,
        }
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

    /// From when on a run that ended so is timed, and the most that it may take. One that goes on has its time budgets, and
    /// a machine that may be slow and busy; one that fails has its deadline, and a little. Where a rank is struck that begins at
    /// once; a limit, a stream or a directory may be met only when all is measured and the ranks are gone.
    fn bound_of(&self, plan: &Plan, status: ExitStatus) -> (Instant, Duration) {
        let goes_on = matches!(status.code(), Some(0 | 8)) && plan.fault.survives;
        if self.ended_by_force || goes_on {
            return (self.base, self.bound);
        }
        let from = match plan.fault.group() {
            Group::Kills => self.base,
            Group::Others => self.base.max(self.last_rank),
        };
        (from, plan.deadline + plan.grace)
    }

    /// What is there after the end.
    fn end(
        mut self,
        plan: &Plan,
        place: Place,
        struck: Option<Struck>,
        before: &BTreeSet<String>,
    ) -> Result<Tried, SoakError> {
        let ended = Instant::now();
        let status = self.child.wait().doing(|| "wait for the program".to_owned())?;
        if self.limited && status.code() == Some(i32::from(UNDER_FAILED)) {
            self.message.read();
            return Err(SoakError::Limits { message: self.message.text().trim().to_owned() });
        }
        let (from, bound) = self.bound_of(plan, status);
        let took = ended.duration_since(from);
        self.talks.clear();
        // What this program was given by whoever started it is no socket of the run.
        let held = &self.held - &sockets::held_by(std::process::id());
        let mut left = leftovers::left(&self.mark, &held, before);
        leftovers::end_marked(&self.mark);
        self.output.read();
        self.message.read();
        let (output, message) = (self.output.text(), self.message.text());
        let (rescued, others): (Vec<PathBuf>, Vec<PathBuf>) =
            place.strays().into_iter().partition(|path| message.contains(&*path.to_string_lossy()));
        // A launcher that was killed in the middle of a file cannot remove it.
        let was_killed = status.signal() == Some(Signal::KILL.as_raw()) && !self.ended_by_force;
        let unfinished = |path: &&PathBuf| !(was_killed && path.starts_with(place.run()));
        left.extend(others.iter().filter(unfinished).map(|path| path.display().to_string()));
        // The rescue directory has the whole run; what was to hold it may have an older state.
        let kept = match rescued.first() {
            Some(rescue) => kept(rescue),
            None => kept(&place.run()),
        };
        // A reader that goes away sees a part of it.
        let whole = !matches!(plan.fault.does, Does::Stream(Streams::Error | Streams::Both, _));
        let seen = Seen {
            status: (!self.ended_by_force).then_some(status),
            run: place.run().to_string_lossy().into_owned(),
            shown: batches_shown(&message),
            progress: least_progress(&message).filter(|_| whole),
            output,
            message,
            struck,
            took,
            bound,
            left,
            kept,
            held_up: self.held_up,
        };
        Ok(Tried::Seen(Box::new(seen), place))
    }
}

/// The longest that a run which goes on may take.
fn goes_on(plan: &Plan) -> Duration {
    let slow = matches!(plan.fault.does, Does::Crowd | Does::Datagrams);
    let slack = if slow { 4 * SLACK } else { SLACK };
    plan.deadline + plan.grace + slack + plan.budget * BUDGETS
}

/// What the program gets as one of its standard streams, and where that is read.
fn stream(plan: &Plan, which: Streams) -> Result<(Screen, Stdio), SoakError> {
    let full = || {
        let file = fs::OpenOptions::new().write(true).open("/dev/full");
        file.doing(|| "open /dev/full".to_owned())
    };
    if let Does::Stream(streams, broken) = plan.fault.does
        && [which, Streams::Both].contains(&streams)
    {
        return match broken {
            Broken::Full => Ok((Screen::none(), Stdio::from(full()?))),
            Broken::Gone => Screen::pipe(plan.between(0, 200) as usize),
            Broken::Closed => Ok((Screen::none(), Stdio::null())),
        };
    }
    // Progress is shown on a terminal only.
    if which == Streams::Error { Screen::terminal() } else { Screen::pipe(usize::MAX) }
}
