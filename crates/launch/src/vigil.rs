//! Detects silent ranks that are stopped.

use std::time::{Duration, Instant};

/// Longest and shortest time between two checks.
const PERIOD: [Duration; 2] = [Duration::from_secs(1), Duration::from_millis(20)];

/// Checks the ranks while all are silent. Batches arrive several times a second, so the launcher checks only if a batch
/// takes longer, or none ends any more.
pub struct Vigil {
    deadline: Duration,
    period: Duration,
    since: Instant,
    /// For how long each rank has been stopped.
    stopped: Vec<Duration>,
}

impl Vigil {
    pub fn new(ranks: usize, deadline: Duration) -> Self {
        let period = (deadline / 4).min(PERIOD[0]).max(PERIOD[1]);
        Self { deadline, period, since: Instant::now(), stopped: vec![Duration::ZERO; ranks] }
    }

    /// Notes that a message arrived.
    pub fn heard(&mut self) {
        self.since = Instant::now();
        self.stopped.fill(Duration::ZERO);
    }

    /// Time until the next check.
    pub fn left(&self) -> Duration {
        self.period.saturating_sub(self.since.elapsed())
    }

    /// When due, checks which ranks are stopped; returns whether one has been stopped for longer than the deadline.
    pub fn look(&mut self, stopped: impl FnOnce() -> Vec<(usize, u32)>) -> bool {
        let span = self.since.elapsed();
        if span < self.period {
            return false;
        }
        self.since = Instant::now();
        // While the launcher itself was stopped it saw nothing.
        self.see(span.min(2 * self.period), &stopped())
    }

    fn see(&mut self, span: Duration, stopped: &[(usize, u32)]) -> bool {
        for (rank, time) in self.stopped.iter_mut().enumerate() {
            let is = stopped.iter().any(|(of, _)| *of == rank);
            *time = if is { *time + span } else { Duration::ZERO };
        }
        self.stopped.iter().any(|time| *time > self.deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_rank_that_stays_stopped_is_noticed_after_the_deadline() {
        let mut vigil = Vigil::new(2, 3 * SECOND);
        let mut looks = |looks: u32, stopped: &dyn Fn(u32) -> bool| {
            vigil.heard();
            (1..=looks).any(|look| {
                let all: &[(usize, u32)] = if stopped(look) { &[(1, 70)] } else { &[] };
                vigil.see(SECOND, all)
            })
        };
        assert!(!looks(3, &|_| true) && looks(4, &|_| true));
        // Short stops do not add up.
        assert!(!looks(90, &|look| look % 4 > 0) && !looks(90, &|_| false));
    }

    #[test]
    fn a_look_is_taken_when_it_is_time() {
        let mut vigil = Vigil::new(1, Duration::from_secs(3600));
        assert!(vigil.left() > Duration::ZERO);
        assert!(!vigil.look(|| panic!("too soon")));
    }
}
