//! The time of a campaign: one clock, which all its phases ask.

use crate::runner::Runner;

/// The time that one campaign has, in seconds of its runner's clock.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    begun: f64,
    /// The end while enough is measured …
    usual: f64,
    /// … and while the least is not.
    latest: f64,
}

impl Budget {
    /// `seconds` from now on, or what its launch has left if that is less. In virtual time there is no end.
    pub fn from_now(runner: &dyn Runner, seconds: f64) -> Self {
        let begun = runner.elapsed().as_secs_f64();
        let [usual, latest] = runner.ends().map(|end| end.as_secs_f64());
        let end = if runner.virtual_time() { f64::INFINITY } else { begun + seconds };
        Self { begun, usual: end.min(usual), latest }
    }

    /// Seconds of the usual time, from its beginning.
    pub fn seconds(&self) -> f64 {
        self.usual - self.begun
    }

    /// The share of the usual time that has passed.
    pub fn spent(&self, runner: &dyn Runner) -> f64 {
        self.share(self.usual, runner)
    }

    /// The share that has passed of the time for the least.
    pub fn spent_of_all(&self, runner: &dyn Runner) -> f64 {
        self.share(self.latest, runner)
    }

    /// Seconds that the least may still take.
    pub fn left(&self, runner: &dyn Runner) -> f64 {
        (self.latest - runner.elapsed().as_secs_f64()).max(0.0)
    }

    fn share(&self, end: f64, runner: &dyn Runner) -> f64 {
        (runner.elapsed().as_secs_f64() - self.begun) / (end - self.begun).max(1e-9)
    }
}
