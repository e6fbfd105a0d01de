//! Ends the waits of a rank, by the control page and the deadline.

use std::sync::Arc;
use std::time::Duration;

use bandgap_comm::{CommError, Result, Watch};
use bandgap_shm::Control;

/// Ends a wait if a rank died, the run was stopped, or the deadline passed.
#[derive(Clone, Debug)]
pub struct RankWatch {
    /// The page that tells of the other ranks.
    pub control: Arc<Control>,
    /// Longest wait.
    pub deadline: Duration,
}

impl Watch for RankWatch {
    fn check(&mut self, waited: Duration, waiting_for: &'static str) -> Result<()> {
        if let Some((peer, status)) = self.control.poisoned() {
            return Err(CommError::PeerGone { peer, detail: format!(" (status {status})") });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_at_the_deadline_when_the_run_is_stopped_and_when_a_rank_died() {
        let control = Arc::new(Control::create().unwrap());
        let deadline = Duration::from_secs(10);
        let mut watch = RankWatch { control: Arc::clone(&control), deadline };
        let mut after = |seconds| watch.check(Duration::from_secs(seconds), "replies");
        assert!(after(10).is_ok());
        assert!(matches!(after(11), Err(CommError::Deadline { .. })));
        control.stop();
        assert!(matches!(after(0), Err(CommError::Stopped)));
        control.poison(1, 9);
        assert!(matches!(after(0), Err(CommError::PeerGone { peer: 1, .. })));
    }
}
