//! Faults, and how a run may end after each.

use rustix::process::Signal;

/// Target of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// The process that soak started.
    Launcher,
    /// One rank.
    Rank,
    /// All ranks.
    Ranks,
}

/// Effect of a fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Does {
    /// No effect. Checks that the program works at all.
    Nothing,
    /// A signal at a random moment while ranks are running.
    Signal {
        /// Signal.
        signal: Signal,
        /// Target.
        to: Whom,
        /// Shortest and longest pause before SIGCONT follows, in deadlines.
        pause: Option<(f64, f64)>,
    },
    /// The run directory is on a nearly full file system.
    SmallDisk,
    /// Strangers send garbage to the ranks' ports.
    Strangers,
}

/// A fault.
#[derive(Debug)]
pub struct Fault {
    /// Name on the command line and in the table.
    pub name: &'static str,
    /// Effect.
    pub does: Does,
    /// Whether the run may continue as if nothing had happened. It then ends with 0, or with 8 if
    /// too little was measured.
    pub goes_on: bool,
    /// Other exit codes that are allowed.
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
    /// Whether a trial of it always takes long.
    pub fn takes_long(&self) -> bool {
        matches!(self.does, Does::Signal { pause: Some((_, most)), .. } if most > 1.0)
    }

    /// Whether the fault comes at a certain moment; other faults are there from the start.
    pub fn waits(&self) -> bool {
        matches!(self.does, Does::Signal { .. } | Does::Strangers)
    }
}
