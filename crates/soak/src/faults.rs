//! What is done to a run, and what must come of it.

use rustix::process::Signal;

use crate::SoakError;
use crate::subject::{FEW, MANY, Subject};

/// Which of the two counts a fault belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Signals to the launcher and the ranks.
    Kills,
    /// Everything else.
    Others,
}

/// Who gets a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// The process that was started.
    Launcher,
    /// One of the ranks.
    Rank,
    /// All ranks.
    Ranks,
}

/// What becomes of a standard stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// Every write finds no room.
    Full,
    /// Nobody reads any more, after some bytes.
    Gone,
    /// It was never open.
    Closed,
    /// A pipe without room that stays open, and that nobody reads.
    Unread,
}

/// Which standard streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
    /// Both, as with `2>&1 |`.
    Both,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Does {
    /// Nothing: whether the program measures at all.
    Nothing,
    /// A signal at a random moment, and SIGCONT after a pause.
    Signal {
        /// Which.
        signal: Signal,
        /// To whom.
        to: Whom,
        /// From the least to the most, in deadlines.
        pause: Option<(f64, f64)>,
    },
    /// Standard streams that fail.
    Stream(Streams, Broken),
    /// The run's directory is on a file system with little room.
    SmallDisk,
    /// Files may not become long.
    ShortFiles,
    /// The run's directory is removed at a random moment.
    Removed,
    /// A memory cgroup with a low limit.
    LittleMemory,
    /// memfd_create is refused.
    NoMemfd,
    /// process_vm_readv is refused.
    NoVmReadv,
    /// Few descriptors.
    FewDescriptors,
    /// Few processes of its user.
    FewProcesses,
    /// The launcher may start no further process or thread from a random moment on.
    ProcessesLater,
    /// The launcher has few descriptors from a random moment on.
    DescriptorsLater,
    /// One processor.
    OneProcessor,
    /// 64 ranks on two processors.
    Crowd,
    /// Datagrams go wrong.
    Datagrams,
    /// Somebody sends garbage to every port of the ranks.
    Strangers,
}

/// A fault.
#[derive(Debug)]
pub struct Fault {
    /// Its name on the command line and in the table.
    pub name: &'static str,
    /// What is done.
    pub does: Does,
    /// Whether the run may go on to its end as if nothing had happened, with 0, or 8 where too little was measured.
    pub survives: bool,
    /// Exit codes that fit otherwise.
    pub codes: &'static [i32],
    /// What the message then says: of each entry one of the words between bars. `{rank}` is the rank, and `{run}` where the
    /// run was to be kept.
    pub words: &'static [&'static str],
    /// Whether the launcher may die of this signal.
    pub dies: Option<Signal>,
    /// Transports that it is tried over; all where none is named.
    pub over: &'static [&'static str],
}

impl Fault {
    const fn new(name: &'static str, does: Does) -> Self {
        let (codes, words, over): (&[i32], &[&str], &[&str]) = (&[], &[], &[]);
        Self { name, does, survives: false, codes, words, dies: None, over }
    }

    const fn survives(self) -> Self {
        Self { survives: true, ..self }
    }

    const fn ends(self, codes: &'static [i32], words: &'static [&'static str]) -> Self {
        Self { codes, words, ..self }
    }

    const fn dies(self, of: Signal) -> Self {
        Self { dies: Some(of), ..self }
    }

    const fn over(self, over: &'static [&'static str]) -> Self {
        Self { over, ..self }
    }

    /// Which count it belongs to.
    pub fn group(&self) -> Group {
        if matches!(self.does, Does::Signal { .. }) { Group::Kills } else { Group::Others }
    }

    /// Whether it is a limit that may suffice.
    pub fn limits(&self) -> bool {
        use Does::{FewDescriptors, FewProcesses, LittleMemory, ShortFiles, SmallDisk};
        [SmallDisk, ShortFiles, LittleMemory, FewDescriptors, FewProcesses].contains(&self.does)
    }

    /// The commands that it is tried on.
    pub fn subjects(&self) -> Vec<&'static Subject> {
        let all = if self.does == Does::Crowd { MANY } else { FEW };
        let fits = |subject: &&Subject| {
            let over = |name: &&str| subject.over.contains(name);
            // Where much is lost, long messages and many batches take minutes.
            let short = ["pairs", "comms3", "synch1"].contains(&subject.words[0]);
            if self.does == Does::Datagrams && !short {
                return false;
            }
            // Signatures of sockets, and of many ranks, may take minutes to have enough.
            let slow = ["run", "--wait", "--launches", "--pairs", "--fan-out"];
            if self.does == Does::Nothing && subject.words.iter().any(|word| slow.contains(word)) {
                return false;
            }
            let copies = self.does != Does::NoVmReadv || subject.words[0] == "comms1";
            copies && (self.over.is_empty() || self.over.iter().any(over))
        };
        all.iter().filter(fits).collect()
    }
}

const fn signal(signal: Signal, to: Whom) -> Does {
    Does::Signal { signal, to, pause: None }
}

const fn paused(signal: Signal, to: Whom, from: f64, until: f64) -> Does {
    Does::Signal { signal, to, pause: Some((from, until)) }
}

const INTERRUPTED: &[i32] = &[130];
const EARLY: &[&str] = &["ended early|interrupted|SIG"];
const DIED: &[i32] = &[5];
const SILENT: &[&str] = &["rank ", "deadline|stopped|SIGSTOP"];
const REFUSED: &[i32] = &[7];
const DESCRIPTORS: &[&str] = &["descriptors|open files|ulimit -n"];
const PROCESSES: &[&str] = &["start rank|ulimit -u|unavailable"];
const UNWRITTEN: &[i32] = &[4];
/// The directory of the run, or a file in it.
const UNWRITTEN_FILE: &str = "failed to write {run}";

/// No fault, on each command in its turn. It must end with 0.
pub const CONTROL: Fault = Fault::new("control", Does::Nothing).survives();

/// All faults, those of signals first.
pub const ALL: &[Fault] = &[
    Fault::new("kill-launcher", signal(Signal::KILL, Whom::Launcher)).dies(Signal::KILL),
    Fault::new("kill-rank", signal(Signal::KILL, Whom::Rank)).ends(DIED, &["{rank}", "SIGKILL"]),
    Fault::new("hup-launcher", signal(Signal::HUP, Whom::Launcher)).ends(INTERRUPTED, EARLY),
    Fault::new("int-launcher", signal(Signal::INT, Whom::Launcher)).ends(INTERRUPTED, EARLY),
    Fault::new("term-launcher", signal(Signal::TERM, Whom::Launcher)).ends(INTERRUPTED, EARLY),
    Fault::new("quit-launcher", signal(Signal::QUIT, Whom::Launcher)).ends(INTERRUPTED, EARLY),
    Fault::new("hup-rank", signal(Signal::HUP, Whom::Rank))
        .survives()
        .ends(DIED, &["{rank}", "SIGHUP"]),
    Fault::new("int-rank", signal(Signal::INT, Whom::Rank))
        .survives()
        .ends(DIED, &["{rank}", "SIGINT"]),
    Fault::new("term-rank", signal(Signal::TERM, Whom::Rank))
        .survives()
        .ends(DIED, &["{rank}", "SIGTERM"]),
    Fault::new("stop-rank-briefly", paused(Signal::STOP, Whom::Rank, 0.0, 0.4)).survives(),
    Fault::new("stop-rank", signal(Signal::STOP, Whom::Rank))
        .ends(&[6], &["{rank}", "deadline|stopped|SIGSTOP"]),
    Fault::new("stop-ranks-briefly", paused(Signal::STOP, Whom::Ranks, 0.0, 0.4)).survives(),
    Fault::new("stop-ranks", signal(Signal::STOP, Whom::Ranks)).ends(&[6], SILENT),
    Fault::new("stop-launcher-briefly", paused(Signal::STOP, Whom::Launcher, 0.0, 0.4)).survives(),
    Fault::new("stop-launcher", paused(Signal::STOP, Whom::Launcher, 1.2, 2.0))
        .survives()
        .ends(&[6], SILENT),
    Fault::new("tstp-launcher", paused(Signal::TSTP, Whom::Launcher, 0.1, 2.0)).survives(),
    Fault::new("tstp-rank", paused(Signal::TSTP, Whom::Rank, 0.0, 0.4)).survives(),
    Fault::new("small-disk", Does::SmallDisk)
        .survives()
        .ends(UNWRITTEN, &[UNWRITTEN_FILE, "space"]),
    Fault::new("short-files", Does::ShortFiles)
        .survives()
        // Memory that ranks share is a file as well, and has no name.
        .ends(&[4, 7], &["failed to write {run}|shared memory", "large|size"]),
    Fault::new("output-full", Does::Stream(Streams::Output, Broken::Full))
        .ends(UNWRITTEN, &["standard output", "space"]),
    Fault::new("output-gone", Does::Stream(Streams::Output, Broken::Gone)).survives(),
    Fault::new("output-closed", Does::Stream(Streams::Output, Broken::Closed))
        .ends(UNWRITTEN, &["standard output", "closed"]),
    Fault::new("error-full", Does::Stream(Streams::Error, Broken::Full)).survives(),
    Fault::new("error-gone", Does::Stream(Streams::Error, Broken::Gone)).survives(),
    Fault::new("error-closed", Does::Stream(Streams::Error, Broken::Closed)).survives(),
    // Of standard output the same may be waited for without end: what is printed is what was asked for.
    Fault::new("error-unread", Does::Stream(Streams::Error, Broken::Unread)).survives(),
    Fault::new("both-full", Does::Stream(Streams::Both, Broken::Full)).ends(UNWRITTEN, &[]),
    Fault::new("both-gone", Does::Stream(Streams::Both, Broken::Gone)).survives(),
    Fault::new("both-closed", Does::Stream(Streams::Both, Broken::Closed)).ends(UNWRITTEN, &[]),
    Fault::new("directory-removed", Does::Removed).survives().ends(UNWRITTEN, &[UNWRITTEN_FILE]),
    Fault::new("little-memory", Does::LittleMemory)
        .survives()
        .ends(&[2, 5, 7], &["memory|SIGKILL|SIGBUS"])
        .dies(Signal::KILL),
    Fault::new("no-memfd", Does::NoMemfd).survives(),
    Fault::new("no-vm-readv", Does::NoVmReadv).survives().over(&["shm"]),
    Fault::new("few-descriptors", Does::FewDescriptors).survives().ends(REFUSED, DESCRIPTORS),
    Fault::new("few-processes", Does::FewProcesses).survives().ends(REFUSED, PROCESSES),
    Fault::new("descriptors-later", Does::DescriptorsLater).survives().ends(&[4, 7], DESCRIPTORS),
    Fault::new("processes-later", Does::ProcessesLater).survives().ends(REFUSED, PROCESSES),
    Fault::new("one-processor", Does::OneProcessor).survives(),
    Fault::new("crowd", Does::Crowd).survives().ends(&[2, 7], &["memory"]),
    Fault::new("datagrams", Does::Datagrams).survives().over(&["udp"]),
    Fault::new("strangers", Does::Strangers).survives().over(&["tcp", "udp"]),
];

/// The faults of a group.
pub fn of(group: Group) -> Vec<&'static Fault> {
    ALL.iter().filter(|fault| fault.group() == group).collect()
}

/// The fault of this name.
///
/// # Errors
/// There is none.
pub fn named(name: &str) -> Result<&'static Fault, SoakError> {
    ALL.iter().chain([&CONTROL]).find(|fault| fault.name == name).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|fault| fault.name).collect();
        SoakError::NoFault { name: name.to_owned(), known: known.join(", ") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_name_a_way_to_end_and_something_to_be_tried_on() {
        for (at, fault) in ALL.iter().enumerate() {
            assert!(ALL[..at].iter().all(|other| other.name != fault.name), "{}", fault.name);
            assert!(fault.survives || !fault.codes.is_empty() || fault.dies.is_some());
            assert!(!fault.subjects().is_empty(), "{}", fault.name);
            assert_eq!(named(fault.name).unwrap().does, fault.does);
        }
        assert!(named("flood").unwrap_err().to_string().contains("kill-rank"));
    }

    /// What would be no fault of the program must not be counted as one: each code is documented.
    #[test]
    fn every_code_that_may_come_is_documented_and_none_is_a_defect() {
        for fault in ALL {
            assert!(fault.codes.iter().all(|code| crate::checks::DOCUMENTED.contains(code)));
            assert!(!fault.codes.contains(&70));
        }
    }
}
