//! The one interface between the campaign and what executes a batch.

use std::collections::BTreeMap;
use std::time::Duration;

use bandgap_comm::passing::Way;
use bandgap_comm::{CommError, Delay, Division};
use bandgap_kernels::{Checked, Failed, Order, Refused, Wrong};

use crate::beside::Beside;
use crate::data::{Kept, Probe};

/// Why a campaign ended before it was done.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The user stopped the run.
    #[error("go on: the run was interrupted")]
    Interrupted,
    /// Communication failed.
    #[error(transparent)]
    Comm(#[from] CommError),
    /// A rank received something else than it must.
    #[error(transparent)]
    Wrong(#[from] Wrong),
    /// No rank can carry out the order.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The simulator refused.
    #[error(transparent)]
    Sim(Box<dyn std::error::Error + Send + Sync>),
    /// The launcher cannot be reached.
    #[error("reach the launcher: {0}")]
    Launcher(#[from] std::io::Error),
    /// The plan that arrived is none of this build's.
    #[error("read the plan of experiment {name:?}: {why}; start all ranks from the same build")]
    Plan {
        /// The experiment's name.
        name: String,
        /// What is wrong.
        why: String,
    },
}

impl From<Failed> for Stop {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Refused(refused) => Self::Refused(refused),
            Failed::Wrong(wrong) => Self::Wrong(wrong),
            Failed::Comm(error) => Self::Comm(error),
        }
    }
}

/// One batch as executed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Executed {
    /// Samples by column, in nanoseconds, with the clock's cost removed.
    pub samples: BTreeMap<&'static str, Vec<f64>>,
    /// Placement probe before and after, where the order asked for it and ranks can be probed.
    pub probe: Option<[Probe; 2]>,
    /// Messages that all ranks received and compared.
    pub checked: Checked,
    /// The way that long messages went to all ranks.
    pub way: Option<Way>,
    /// Why they did not go as ordered, where the machine refuses what the transport has.
    pub refused: Option<String>,
    /// What each rank timed at the border with the system, if the order asked for it.
    pub at_border: Vec<AtRank>,
    /// Why this machine does not allow the batch; it then has no samples.
    pub unavailable: Option<String>,
}

/// What one rank timed at its border with the system, in nanoseconds. Of stamps nothing was removed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AtRank {
    /// The sum of the intervals.
    pub ns: f64,
    /// How many there are.
    pub count: u64,
}

impl Executed {
    /// The samples of a column; none if there is no such column.
    pub fn column(&self, name: &str) -> &[f64] {
        self.samples.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Executes batches, on rank processes or in virtual time.
pub trait Runner {
    /// Number of ranks.
    fn size(&self) -> usize;
    /// Requests that flow control lets be outstanding toward one peer.
    fn capacity(&self) -> usize;
    /// Whether ranks are on several hosts, whose links may be so slow that one message takes long.
    fn is_far(&self) -> bool {
        false
    }

    /// Whether time is virtual: batches repeat exactly, so a few short ones tell all.
    fn virtual_time(&self) -> bool;
    /// The launch that this is.
    fn launch(&self) -> u32;
    /// The floors that it measures beside everything, in the same rounds.
    fn beside(&self) -> &[Beside] {
        &[]
    }
    /// How the time of a message over the transport is divided; `None` where it is not.
    fn division(&self) -> Option<&'static Division> {
        None
    }

    /// Runs one batch on all ranks.
    ///
    /// # Errors
    /// Communication failed, something wrong arrived, or the run was stopped.
    fn run(&mut self, order: &Order) -> Result<Executed, Stop>;
    /// One placement probe between the two ranks that a batch of `order` would probe, without the
    /// batch; `None` where ranks cannot be probed.
    ///
    /// # Errors
    /// Communication failed or the run was stopped.
    fn look(&mut self, order: &Order) -> Result<Option<Probe>, Stop>;
    /// The computation that takes about `ns`.
    fn delay(&self, ns: f64) -> Delay;
    /// The computation y ← a·x + y over vectors of so many elements. Only virtual time has to know how
    /// long it takes.
    fn daxpy(&self, elements: u32) -> Delay {
        Delay { iterations: elements, picoseconds: 0 }
    }
    /// Times `delay` by itself, `messages` of them in a row: nanoseconds for each, of each sample.
    fn time_delay(&mut self, delay: Delay, messages: u32, samples: u32) -> Vec<f64>;
    /// Hands on what was measured, to be kept whatever happens later.
    ///
    /// # Errors
    /// The launcher is gone or the run was stopped.
    fn keep(&mut self, kept: Kept) -> Result<(), Stop>;
    /// Says how far the measurement is, between 0 and 1, and what it does.
    ///
    /// # Errors
    /// The launcher is gone or the run was stopped.
    fn progress(&mut self, done: f64, doing: &str) -> Result<(), Stop>;
    /// Time since the measurement began, of the real clock whatever the runner.
    fn elapsed(&self) -> Duration;
    /// When this launch is to end, by [`Runner::elapsed`]: as is usual, and at the latest, if the least is not measured by
    /// then.
    fn ends(&self) -> [Duration; 2] {
        [Duration::MAX; 2]
    }
    /// Sets the latest end, for one of several campaigns of a launch.
    fn limit(&mut self, _latest: Duration) {}
    /// Lets time pass between two rounds.
    fn pause(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}
