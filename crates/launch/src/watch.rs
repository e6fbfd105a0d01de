//! What a waiting rank looks at: the control page and its deadline.

use std::sync::Arc;
use std::time::Duration;

use bandgap_comm::{CommError, Rank, Watch};
use bandgap_shm::Control;

/// A wait that is looked at so soon has only begun.
const BEGUN: Duration = Duration::from_micros(5);
/// A rank that has not looked for longer than this, and than a quarter of the deadline, did not run: it was halted, or the
/// whole job was.
const ASLEEP: Duration = Duration::from_secs(1);

/// Ends a wait when a rank died, the run was stopped, or the deadline passed.
///
/// The deadline is for a run in which nobody gets on. A rank that waits outside all timing, for an order, a report or a
/// meeting, waits as long as any rank does not; where that one waits, it has a deadline itself. A rank that waits within a
/// program asks the others: those whose waits come to an end answer, and it goes on waiting. While nobody asks, they only
/// see that nobody does.
#[derive(Clone, Debug)]
pub struct RankWatch {
    control: Arc<Control>,
    rank: Rank,
    deadline: Duration,
    wait: Wait,
}

/// The wait that was looked at last.
#[derive(Clone, Copy, Debug, Default)]
struct Wait {
    waited: Duration,
    /// So much of it does not count: then another rank got on, or this one did not run.
    forgiven: Duration,
    /// Once it has asked, the answers before.
    asked: Option<u64>,
}

impl RankWatch {
    /// For `rank`, over the page that tells of the others, with the longest wait.
    pub fn new(control: &Arc<Control>, rank: Rank, deadline: Duration) -> Self {
        Self { control: Arc::clone(control), rank, deadline, wait: Wait::default() }
    }

    /// Whether another rank has got on since this one asked; asks when half of the deadline is over.
    fn others_get_on(&mut self, since: Duration) -> bool {
        let answers = self.control.answers();
        match self.wait.asked {
            Some(before) if before != answers => true,
            None if since > self.deadline / 2 => {
                self.wait.asked = Some(answers);
                self.control.ask();
                false
            }
            _ => false,
        }
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
        if waited < self.wait.waited || waited < BEGUN {
            self.wait = Wait::default();
            self.control.answer();
        }
        let unseen = waited - self.wait.waited;
        if unseen > ASLEEP.max(self.deadline / 4) {
            self.wait.forgiven += unseen;
        }
        self.wait.waited = waited;
        let since = waited.saturating_sub(self.wait.forgiven);
        if since <= self.deadline / 2 {
            return Ok(());
        }
        let works = self.control.is_idle(self.rank) && self.control.any_works();
        if works || self.others_get_on(since) {
            (self.wait.forgiven, self.wait.asked) = (waited, None);
            return Ok(());
        }
        if since > self.deadline {
            return Err(CommError::Deadline { waited, waiting_for });
        }
        Ok(())
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
    fn two_ranks_that_wait_for_each_other_both_give_up() {
        let (_control, mut both) = watches();
        let mut ended = [None; 2];
        for second in 0..=20 {
            for (watch, ended) in both.iter_mut().zip(&mut ended) {
                if watch.check(Duration::from_secs(second), "replies").is_err() {
                    ended.get_or_insert(second);
                }
            }
        }
        assert_eq!(ended, [Some(11); 2]);
    }

    #[test]
    fn a_rank_goes_on_waiting_while_another_gets_on() {
        let (_control, [mut waits, mut works]) = watches();
        let mut until = |seconds: u64, busy: u64| {
            (0..=seconds).find(|&second| {
                // A new wait of the other begins each second.
                if second <= busy {
                    works.check(Duration::ZERO, "replies").unwrap();
                }
                waits.check(Duration::from_secs(second), "requests").is_err()
            })
        };
        assert_eq!(until(100, 100), None);
        // Then nothing more: given up within the deadline and what was forgiven last.
        let ended = until(100, 30).unwrap();
        assert!((31..=42).contains(&ended), "{ended}");
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
    fn time_in_which_a_rank_did_not_run_does_not_count() {
        let (_control, [mut watch, _]) = watches();
        for second in [0, 1, 3600, 3601, 3603, 3605, 3607, 3608] {
            // Of these 3599 s were slept.
            assert!(watch.check(Duration::from_secs(second), "replies").is_ok(), "{second}");
        }
        assert!(watch.check(Duration::from_secs(3610), "replies").is_err());
        // However short the deadline is, a look now and then is enough to be awake.
        let mut short = RankWatch { deadline: Duration::from_millis(10), ..watch };
        let ends = |millis: u64| short.check(Duration::from_millis(millis), "replies").is_err();
        assert_eq!([0, 100, 200].map(ends), [false, true, true]);
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
