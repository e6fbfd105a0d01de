//! What is done to a run, and how it may end then.

use rustix::process::Signal;

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

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Does {
    /// Nothing: whether the program measures at all.
    Nothing,
    /// A signal at a random moment while there are ranks.
    Signal {
        /// Which.
        signal: Signal,
        /// To whom.
        to: Whom,
        /// SIGCONT after a pause, from the least to the most, in deadlines.
        pause: Option<(f64, f64)>,
    },
    /// The run's directory is on a file system with little room.
    SmallDisk,
    /// Somebody sends garbage to the ports of the ranks.
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
    pub goes_on: bool,
    /// Exit codes that fit otherwise.
    pub codes: &'static [i32],
}

const fn fault(name: &'static str, does: Does, goes_on: bool, codes: &'static [i32]) -> Fault {
    Fault { name, does, goes_on, codes }
}

const fn signal(name: &'static str, signal: Signal, to: Whom, codes: &'static [i32]) -> Fault {
    fault(name, Does::Signal { signal, to, pause: None }, false, codes)
}

const fn paused(name: &'static str, to: Whom, pause: (f64, f64), codes: &'static [i32]) -> Fault {
    fault(name, Does::Signal { signal: Signal::STOP, to, pause: Some(pause) }, true, codes)
}

/// All faults.
pub const ALL: &[Fault] = &[
    fault("nothing", Does::Nothing, true, &[]),
    signal("kill-launcher", Signal::KILL, Whom::Launcher, &[]),
    signal("kill-rank", Signal::KILL, Whom::Rank, &[5]),
    signal("int-launcher", Signal::INT, Whom::Launcher, &[130]),
    signal("term-launcher", Signal::TERM, Whom::Launcher, &[130]),
    signal("hup-launcher", Signal::HUP, Whom::Launcher, &[130]),
    signal("quit-launcher", Signal::QUIT, Whom::Launcher, &[130]),
    signal("stop-rank", Signal::STOP, Whom::Rank, &[6]),
    signal("stop-ranks", Signal::STOP, Whom::Ranks, &[6]),
    paused("stop-rank-briefly", Whom::Rank, (0.0, 0.4), &[]),
    paused("stop-ranks-briefly", Whom::Ranks, (0.0, 0.4), &[]),
    paused("stop-launcher-briefly", Whom::Launcher, (0.0, 0.4), &[]),
    paused("stop-launcher", Whom::Launcher, (1.2, 2.0), &[6]),
    fault("small-disk", Does::SmallDisk, true, &[4]),
    fault("strangers", Does::Strangers, true, &[]),
];

impl Fault {
    /// Whether it takes long by its nature.
    pub fn takes_long(&self) -> bool {
        matches!(self.does, Does::Signal { pause: Some((_, most)), .. } if most > 1.0)
    }

    /// Whether it comes at a moment of its own; other faults are there from the start.
    pub fn waits(&self) -> bool {
        matches!(self.does, Does::Signal { .. } | Does::Strangers)
    }
}
