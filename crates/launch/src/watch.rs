//! What a waiting rank looks at: the control page and its deadline.

use std::sync::Arc;
use std::time::Duration;

use bandgap_comm::{CommError, Watch};
use bandgap_shm::Control;

/// Ends a wait when a rank died, the run was stopped, or the deadline passed.
#[derive(Clone, Debug)]
pub struct RankWatch {
    /// The page that tells of ranks that died.
    pub control: Arc<Control>,
    /// Longest wait.
    pub deadline: Duration,
}

impl Watch for RankWatch {
    fn check(&mut self, waited: Duration, waiting_for: &'static str) -> Result<(), CommError> {
        if let Some((peer, status)) = self.control.poisoned() {
            let detail = format!(" (status {status})");
            return Err(CommError::PeerGone { peer, detail });
        }
        if self.control.stopped() {
            return Err(CommError::Stopped);
        }
        if waited > self.deadline {
            return Err(CommError::Deadline { waited, waiting_for });
        }
        Ok(())
    }
}
