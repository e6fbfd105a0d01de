//! One signature over several launches of the same measurement.

use bandgap_stats::Interval;
use bandgap_stats::launches::over_launches;

use super::{Estimate, Regime, Signature};

const ESTIMATOR: &str = "mean of launches, t interval over launches or within";

impl Signature {
    /// This signature, that of all launches' observations together, with the parameters and
    /// intervals of the launches one by one.
    ///
    /// *Formula*: of each parameter the mean x̄ of its values in the launches, with
    /// x̄ ± t(n − 1, confidence)·s/√n; s holds the variance within launches and between them. No end is
    /// nearer to x̄ than that of this signature is to its own value ([`over_launches`]).
    ///
    /// What is taken from where:
    /// - From the launches: os, or, L, RTT; g and the idle time, read in every launch by the regime
    ///   below; the capacity, over the launches that show it, `None` unless these are more than half.
    /// - From these parameters: the regime, where the transition begins and why, and the findings of
    ///   parameters.
    /// - From all observations together, unchanged: the far arm, the lines and steady states, and the
    ///   findings of them. More observations show them better.
    ///
    /// *Assumes* launches that are independent and alike. Fewer than two change nothing.
    #[must_use]
    pub fn over_launches(mut self, launches: &[Signature], confidence: f64) -> Signature {
        if launches.len() < 2 {
            return self;
        }
        let over = |pooled: Estimate, of: fn(&Signature) -> f64| {
            estimate(pooled, &launches.iter().map(of).collect::<Vec<_>>(), confidence)
        };
        let at_zero = self.steady.first().map_or(self.gap, |steady| steady.cost);
        self.send_overhead = over(self.send_overhead, |s| s.send_overhead.value);
        self.recv_overhead = over(self.recv_overhead, |s| s.recv_overhead.value);
        self.latency = over(self.latency, |s| s.latency.value);
        self.rtt = over(self.rtt, |s| s.rtt.value);
        self.idle = over(self.idle, |s| slope(s) - overheads(s));
        let is_arm = self.regime == Regime::ProcessorBound;
        let cost = over(at_zero, slope);
        self.regime = Regime::of(&self.idle, cost.value, is_arm);
        let seen: Vec<f64> = launches.iter().filter_map(|s| Some(s.capacity?.value)).collect();
        match self.regime {
            Regime::NetworkBound | Regime::Overlapped | Regime::Undecided => {
                self.gap = cost;
                // More than half of two launches or more are two at least.
                let most = 2 * seen.len() > launches.len();
                // All observations together may show none, where launches do.
                let pooled =
                    self.capacity.unwrap_or(Estimate { value: 0.0, low: 0.0, high: 0.0, ..cost });
                self.capacity = most.then(|| estimate(pooled, &seen, confidence));
            }
            Regime::ProcessorBound => {
                self.gap = over(self.gap, overheads);
                self.capacity = None;
            }
        }
        self.with_consequences()
    }
}

fn estimate(pooled: Estimate, values: &[f64], confidence: f64) -> Estimate {
    let interval = Interval { low: pooled.low, high: pooled.high };
    let (value, Interval { low, high }) =
        over_launches((pooled.value, interval), values, confidence);
    Estimate { value, low, high, samples: values.len(), estimator: ESTIMATOR }
}

/// The slope of elapsed(M) at Δ = 0, which is the gap of a launch only where that is network-bound.
fn slope(launch: &Signature) -> f64 {
    launch.steady.first().map_or(launch.gap.value, |steady| steady.cost.value)
}

fn overheads(launch: &Signature) -> f64 {
    launch.send_overhead.value + launch.recv_overhead.value
}

#[cfg(test)]
mod tests;
