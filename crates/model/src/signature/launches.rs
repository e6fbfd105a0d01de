//! One signature over several launches of the same measurement.

use bandgap_stats::interval::mean_interval;
use bandgap_stats::quantile::mean;

use super::{Estimate, Regime, Signature};

const ESTIMATOR: &str = "mean of launches, t interval over launches";

impl Signature {
    /// This signature, that of all launches' observations together, with the parameters and
    /// intervals of the launches one by one.
    ///
    /// *Formula*: of each parameter the mean x̄ of its values in the launches, with
    /// x̄ ± t(n − 1, confidence)·s/√n; s holds the variance within launches and between them.
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
        let over = |of: fn(&Signature) -> f64| {
            estimate(&launches.iter().map(of).collect::<Vec<_>>(), confidence)
        };
        self.send_overhead = over(|s| s.send_overhead.value);
        self.recv_overhead = over(|s| s.recv_overhead.value);
        self.latency = over(|s| s.latency.value);
        self.rtt = over(|s| s.rtt.value);
        self.idle = over(|s| slope(s) - overheads(s));
        let is_arm = self.regime == Regime::ProcessorBound;
        self.regime = Regime::of(&self.idle, over(slope).value, is_arm);
        let seen: Vec<f64> = launches.iter().filter_map(|s| Some(s.capacity?.value)).collect();
        match self.regime {
            Regime::NetworkBound | Regime::Overlapped | Regime::Undecided => {
                self.gap = over(slope);
                let most = 2 * seen.len() > launches.len();
                self.capacity = most.then(|| estimate(&seen, confidence));
            }
            Regime::ProcessorBound => {
                self.gap = over(overheads);
                self.capacity = None;
            }
        }
        self.with_consequences()
    }
}

fn estimate(values: &[f64], confidence: f64) -> Estimate {
    let value = mean(values);
    let interval = mean_interval(values, confidence);
    let (low, high) = interval.map_or((value, value), |i| (i.low, i.high));
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
