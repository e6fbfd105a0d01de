//! What a waiting rank looks at: the control page and its deadline.

use std::sync::Arc;
use std::time::Duration;

use bandgap_comm::{CommError, Rank, Watch};
use bandgap_shm::Control;

/// Ends a wait when a rank died, the run was stopped, or the deadline passed.
///
/// A rank that waits outside all timing, for an order, a report or a meeting, waits as long as any rank does not; where that
/// one waits, it has a deadline itself.
#[derive(Clone, Debug)]
pub struct RankWatch {
    control: Arc<Control>,
    rank: Rank,
    deadline: Duration,
    /// How long the wait was when it was looked at last.
    waited: Duration,
    /// So much of it does not count: another rank worked, or all were halted on purpose.
    excused: Duration,
    /// How long all had been halted when the wait was looked at last.
    halted: Duration,
}

impl RankWatch {
    /// For `rank`, over the page that tells of the others, with the longest wait.
    pub fn new(control: &Arc<Control>, rank: Rank, deadline: Duration) -> Self {
        let (waited, excused, halted) = (Duration::ZERO, Duration::ZERO, control.paused());
        Self { control: Arc::clone(control), rank, deadline, waited, excused, halted }
    }
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
        let halted = self.control.paused();
        if waited < self.waited {
            (self.excused, self.halted) = (Duration::ZERO, halted);
        }
        self.excused += halted.saturating_sub(self.halted);
        (self.waited, self.halted) = (waited, halted);
        if waited.saturating_sub(self.excused) <= self.deadline {
            return Ok(());
        }
        if self.control.is_idle(self.rank) && self.control.any_works() {
            self.excused = waited;
            return Ok(());
        }
        Err(CommError::Deadline { waited, waiting_for })
    }

    fn rests(&mut self, rests: bool) {
        self.control.set_idle(self.rank, rests);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEADLINE: Duration = Duration::from_secs(10);

    fn watches() -> (Arc<Control>, [RankWatch; 2]) {
        let control = Arc::new(Control::create(2).unwrap());
        let watches = [0, 1].map(|rank| RankWatch::new(&control, rank, DEADLINE));
        (control, watches)
    }

    /// Whether a wait is given up, looked at each second until so many have passed.
    fn gives_up(watch: &mut RankWatch, seconds: u64) -> bool {
        (0..=seconds).any(|waited| watch.check(Duration::from_secs(waited), "replies").is_err())
    }

    #[test]
    fn a_wait_in_which_nobody_gets_on_ends_at_the_deadline() {
        let (_control, [mut watch, _]) = watches();
        assert!(!gives_up(&mut watch, 10));
        assert!(gives_up(&mut watch, 11));
        // Each wait has the whole deadline.
        assert!(!gives_up(&mut watch, 10));
    }

    #[test]
    fn a_rank_without_an_order_waits_while_another_has_one() {
        let (_control, [mut leader, mut follower]) = watches();
        follower.rests(true);
        // Rank 0 works: for how long makes no difference.
        assert!(!gives_up(&mut follower, 1000));
        // If it waits too, nobody is left to send anything.
        leader.rests(true);
        assert!(gives_up(&mut follower, 11));
        leader.rests(false);
        assert!(!gives_up(&mut follower, 11));
    }

    #[test]
    fn time_in_which_all_were_halted_does_not_count() {
        let (control, [mut watch, _]) = watches();
        assert!(!gives_up(&mut watch, 10));
        control.add_pause(Duration::from_secs(60));
        assert!(watch.check(Duration::from_secs(70), "replies").is_ok());
        assert!(watch.check(Duration::from_secs(71), "replies").is_err());
    }

    #[test]
    fn the_end_of_a_run_is_noticed_whoever_works() {
        let (control, [mut watch, _]) = watches();
        control.stop();
        assert!(matches!(watch.check(Duration::ZERO, "replies"), Err(CommError::Stopped)));
        control.poison(1, 9);
        assert!(matches!(
            watch.check(Duration::ZERO, "replies"),
            Err(CommError::PeerGone { peer: 1, .. })
        ));
    }
}
