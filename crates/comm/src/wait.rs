//! How a rank waits, and what it checks meanwhile.

use std::time::Duration;

use crate::{CommError, Result};

/// What a rank does between two fruitless polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Polls again at once. For ranks that each have their own core.
    Spin,
    /// Gives the core to another rank. For ranks that share cores.
    Yield,
    /// Sleeps in the transport until something arrives.
    Block,
}

/// What a waiting rank checks from time to time: deadlines, and peers that have died.
pub trait Watch: 'static {
    /// Called while nothing arrives. `waited` is the time since something last arrived.
    ///
    /// # Errors
    /// The wait is over: a peer is gone, the run was stopped, or the deadline passed.
    fn check(&mut self, waited: Duration, waiting_for: &'static str) -> Result<()>;
}

/// A watch that checks only a deadline.
#[derive(Clone, Copy, Debug)]
pub struct DeadlineWatch(pub Duration);

impl Watch for DeadlineWatch {
    fn check(&mut self, waited: Duration, waiting_for: &'static str) -> Result<()> {
        if waited > self.0 { Err(CommError::Deadline { waited, waiting_for }) } else { Ok(()) }
    }
}
