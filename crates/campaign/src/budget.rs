//! The time budget of a campaign, which all its phases share.

use crate::runner::Runner;

/// The time budget of one campaign, in seconds of its runner's clock.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    begun: f64,
    /// The end once the least is measured …
    usual: f64,
    /// … and until then.
    latest: f64,
}

impl Budget {
    /// A budget of `seconds` from now on, or the rest of the launch if that is shorter. In virtual
    /// time there is no end.
    pub fn from_now(runner: &dyn Runner, seconds: f64) -> Self {
        let begun = runner.elapsed().as_secs_f64();
        let [usual, latest] = runner.ends().map(|end| end.as_secs_f64());
        let end = if runner.virtual_time() { f64::INFINITY } else { begun + seconds };
        Self { begun, usual: end.min(usual), latest }
    }

    /// Length of the usual budget, in seconds.
    pub fn seconds(&self) -> f64 {
        self.usual - self.begun
    }

    /// The share of the usual budget that has passed.
    pub fn spent(&self, runner: &dyn Runner) -> f64 {
        self.share(self.usual, runner)
    }

    /// The share that has passed of the time until the latest end.
    pub fn spent_of_all(&self, runner: &dyn Runner) -> f64 {
        self.share(self.latest, runner)
    }

    /// Seconds until the latest end.
    pub fn left(&self, runner: &dyn Runner) -> f64 {
        (self.latest - runner.elapsed().as_secs_f64()).max(0.0)
    }

    fn share(&self, end: f64, runner: &dyn Runner) -> f64 {
        (runner.elapsed().as_secs_f64() - self.begun) / (end - self.begun).max(1e-9)
    }
}
