//! The interface between the campaign and what executes a batch.

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
    #[error("continue: the run was interrupted")]
    Interrupted,
    /// Communication failed.
    #[error(transparent)]
    Comm(#[from] CommError),
    /// A rank received something other than expected.
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
    /// The plan that arrived comes from another build.
    #[error("read the plan of experiment {name:?}: {why}; start all ranks from the same build")]
    Plan {
        /// The experiment's name.
        name: String,
        /// The reason.
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
    /// Samples by column, in nanoseconds, without the clock's cost.
    pub samples: BTreeMap<&'static str, Vec<f64>>,
    /// Placement probes before and after, if the order asked for them and the ranks can be probed.
    pub probe: Option<[Probe; 2]>,
    /// Messages that all ranks received and compared.
    pub checked: Checked,
    /// The way in which long messages travelled to all ranks.
    pub way: Option<Way>,
    /// Why they did not travel as ordered, if the transport supports it but the machine refuses.
    pub refused: Option<String>,
    /// Times that each rank measured at the border with the system, if the order asked for them.
    pub at_border: Vec<AtRank>,
    /// Why this machine does not allow the batch; it then has no samples.
    pub unavailable: Option<String>,
}

/// Times that one rank measured at its border with the system, in nanoseconds, including the cost
/// of stamps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AtRank {
    /// Sum of the intervals.
    pub ns: f64,
    /// Number of intervals.
    pub count: u64,
    /// Number of intervals that began, where it must be exact.
    pub begun: u64,
    /// What its messages passed, as bits of the division's.
    pub passed: u32,
}

impl Executed {
    /// The samples of a column; empty if there is no such column.
    pub fn column(&self, name: &str) -> &[f64] {
        self.samples.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Executes batches, on rank processes or in virtual time.
pub trait Runner {
    /// Number of ranks.
    fn size(&self) -> usize;
    /// Number of outstanding requests to one peer that flow control allows.
    fn capacity(&self) -> usize;
    /// Whether ranks are on several hosts, whose links may be so slow that one message takes long.
    fn is_far(&self) -> bool {
        false
    }

    /// Hops between two ranks of a simulated machine.
    fn hops(&self, _ranks: [usize; 2]) -> Option<u32> {
        None
    }

    /// Whether time is virtual: batches repeat exactly, so a few short ones are enough.
    fn virtual_time(&self) -> bool;
    /// The number of this launch.
    fn launch(&self) -> u32;
    /// The floors to measure beside the experiment, in the same rounds.
    fn beside(&self) -> &[Beside] {
        &[]
    }
    /// How the time of a message over the transport is divided; `None` if it is not.
    fn division(&self) -> Option<&'static Division> {
        None
    }

    /// Runs one batch on all ranks.
    ///
    /// # Errors
    /// Communication failed, something wrong arrived, or the run was stopped.
    fn run(&mut self, order: &Order) -> Result<Executed, Stop>;
    /// One placement probe between the two ranks of `order`, without its batch; `None` if the ranks
    /// cannot be probed.
    ///
    /// # Errors
    /// Communication failed or the run was stopped.
    fn look(&mut self, order: &Order) -> Result<Option<Probe>, Stop>;
    /// A computation that takes about `ns` nanoseconds.
    fn delay(&self, ns: f64) -> Delay;
    /// The computation y ← a·x + y over vectors of this length. Only virtual time needs its
    /// duration.
    fn daxpy(&self, elements: u32) -> Delay {
        Delay { iterations: elements, picoseconds: 0 }
    }
    /// Times `delay` alone, `messages` times in a row per sample: nanoseconds per delay, for each
    /// sample.
    fn time_delay(&mut self, delay: Delay, messages: u32, samples: u32) -> Vec<f64>;
    /// Passes on data to be kept whatever happens later.
    ///
    /// # Errors
    /// The launcher is gone or the run was stopped.
    fn keep(&mut self, kept: Kept) -> Result<(), Stop>;
    /// Reports the progress, between 0 and 1, and the current step.
    ///
    /// # Errors
    /// The launcher is gone or the run was stopped.
    fn progress(&mut self, done: f64, doing: &str) -> Result<(), Stop>;
    /// Real time since the measurement began, in every runner.
    fn elapsed(&self) -> Duration;
    /// The usual and the latest end of this launch, by [`Runner::elapsed`]. Between the two only
    /// the least is measured.
    fn ends(&self) -> [Duration; 2] {
        [Duration::MAX; 2]
    }
    /// Sets both ends of one of several campaigns of a launch.
    fn limit(&mut self, _ends: [Duration; 2]) {}
    /// Waits between two rounds.
    fn pause(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}
