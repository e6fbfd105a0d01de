//! A trial, carried out: the program is started, something is done to it, and what comes of it is seen.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::process::{Signal, geteuid};

use crate::error::Doing;
use crate::faults::{Does, Group, Streams};
use crate::kept::{Kept, kept};
use crate::place::Place;
use crate::plan::Plan;
use crate::running::Running;
use crate::screen::{batches_shown, least_progress};
use crate::struck::Struck;
use crate::under::{UNDER_FAILED, Under};
use crate::{SoakError, leftovers, sockets};

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
    // Nothing limits the processes of root.
    let needs_user = matches!(plan.fault.does, Does::FewProcesses | Does::ProcessesLater);
    if needs_user && !geteuid().is_root() {
        return Ok(Tried::Skipped("counting the processes of a user needs root".to_owned()));
    }
    let user = needs_user.then(|| NOBODY + (plan.draw % 1000) as u32);
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
        // The launcher's own threads count too: two more than there are ranks suffice for most commands.
        Does::FewProcesses => under.processes = Some(plan.between(1, plan.ranks as u64 + 4)),
        Does::OneProcessor => under.processor = Some(0),
        _ => {}
    }
    let before = leftovers::segments();
    let mut run = Running::start(plan, &place, &under, user, binary, driver)?;
    let struck = run.until_end(plan, &place)?;
    end(run, plan, place, struck, &before)
}

/// From when on a run that ended so is timed, and the most that it may take. One that goes on has its time budgets, and
/// a machine that may be slow and busy; one that fails has its deadline, and a little. Where a rank is struck that begins at
/// once; a limit, a stream or a directory may be met only when all is measured and the ranks are gone.
fn bound_of(run: &Running, plan: &Plan, status: ExitStatus) -> (Instant, Duration) {
    let goes_on = matches!(status.code(), Some(0 | 8)) && plan.fault.survives;
    if run.ended_by_force || goes_on {
        return (run.base, run.bound);
    }
    let from = match plan.fault.group() {
        Group::Kills => run.base,
        Group::Others => run.base.max(run.last_rank),
    };
    (from, plan.deadline + plan.grace)
}

/// What is there after the end.
fn end(
    mut run: Running,
    plan: &Plan,
    place: Place,
    struck: Option<Struck>,
    before: &BTreeSet<String>,
) -> Result<Tried, SoakError> {
    let ended = Instant::now();
    let status = run.child.wait().doing(|| "wait for the program".to_owned())?;
    if run.limited && status.code() == Some(i32::from(UNDER_FAILED)) {
        run.message.read();
        return Err(SoakError::Limits { message: run.message.text().trim().to_owned() });
    }
    let (from, bound) = bound_of(&run, plan, status);
    let took = ended.duration_since(from);
    run.talks.clear();
    // What this program was given by whoever started it is no socket of the run.
    let held = &run.held - &sockets::held_by(std::process::id());
    let mut left = leftovers::left(&run.mark, &held, before);
    leftovers::end_marked(&run.mark);
    run.output.read();
    run.message.read();
    let (output, message) = (run.output.text(), run.message.text());
    let (rescued, others): (Vec<PathBuf>, Vec<PathBuf>) =
        place.strays().into_iter().partition(|path| message.contains(&*path.to_string_lossy()));
    // A launcher that was killed in the middle of a file cannot remove it.
    let was_killed = status.signal() == Some(Signal::KILL.as_raw()) && !run.ended_by_force;
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
        status: (!run.ended_by_force).then_some(status),
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
        held_up: run.held_up,
    };
    Ok(Tried::Seen(Box::new(seen), place))
}
