//! The one interface between the procedures and what executes a batch.

use std::time::Duration;

use bandgap_comm::{CommError, Delay};
use bandgap_kernels::Job;

use super::data::{Measured, Probe};

/// Why a procedure ended before it was done.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The user stopped the run.
    #[error("go on: the run was interrupted")]
    Interrupted,
    /// Communication failed.
    #[error(transparent)]
    Comm(#[from] CommError),
    /// A raw floor failed.
    #[error("{0}")]
    Floor(String),
    /// The simulator refused.
    #[error(transparent)]
    Sim(Box<dyn std::error::Error + Send + Sync>),
    /// The launcher cannot be reached.
    #[error("reach the launcher: {0}")]
    Launcher(#[from] std::io::Error),
}

/// One batch as executed.
#[derive(Clone, Debug, Default)]
pub struct Executed {
    /// Issue phases in nanoseconds, the clock's cost removed.
    pub issue: Vec<f64>,
    /// From the first request to the last reply, likewise.
    pub drained: Vec<f64>,
    /// Placement probe before and after.
    pub probe: Option<[Probe; 2]>,
}

/// Executes batches, on rank processes or in virtual time.
pub trait Runner {
    /// Number of ranks.
    fn size(&self) -> usize;
    /// Requests that flow control lets be outstanding toward one peer.
    fn capacity(&self) -> usize;
    /// Whether time is virtual: batches repeat exactly, so a few short ones tell all.
    fn virtual_time(&self) -> bool;
    /// The launch that this is.
    fn launch(&self) -> u32;
    /// Runs one batch of `job` on all ranks.
    ///
    /// # Errors
    /// Communication failed or the run was stopped.
    fn run(&mut self, job: &Job) -> Result<Executed, Stop>;
    /// The computation that takes about `ns`.
    fn delay(&self, ns: f64) -> Delay;
    /// Times `delay` in place: nanoseconds per computation, of each sample.
    fn time_delay(&mut self, delay: Delay, messages: u32, samples: u32) -> Vec<f64>;
    /// Hands a measured batch on, to be kept whatever happens later.
    ///
    /// # Errors
    /// The launcher is gone or the run was stopped.
    fn keep(&mut self, measured: Measured) -> Result<(), Stop>;
    /// Says how far the procedure is, between 0 and 1, and what it does.
    ///
    /// # Errors
    /// The launcher is gone or the run was stopped.
    fn progress(&mut self, done: f64, doing: &str) -> Result<(), Stop>;
    /// Time since the procedure began (of the real clock, whatever the runner).
    fn elapsed(&self) -> Duration;
}
