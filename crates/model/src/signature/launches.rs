//! One signature over several launches of the same measurement.

use bandgap_stats::interval::mean_interval;
use bandgap_stats::quantile::mean;

use super::{Cause, Estimate, Regime, Signature, Transition};
use crate::finding::Finding;

const ESTIMATOR: &str = "mean of launches, t interval over launches";

impl Signature {
    /// This signature, that of all launches' observations together, with the parameters and
    /// intervals of the launches one by one.
    ///
    /// *Formula*: of each parameter the mean x̄ of its values in the launches, with
    /// x̄ ± t(n − 1, confidence)·s/√n; s holds the variance within launches and between them.
    ///
    /// What is taken from where:
    /// - From the launches: os, or, L, RTT; g and the idle time, read in every launch by the one
    ///   regime below; the capacity, over the launches that show it, `None` unless they are more
    ///   than half of them.
    /// - From these: where the transition begins and why, and what findings say of parameters.
    /// - From all observations together, as is: the regime, the far arm, the lines and steady
    ///   states, and what findings say of them. More observations tell them better, and there is
    ///   no mean of regimes.
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
        let seen: Vec<f64> = launches.iter().filter_map(|s| Some(s.capacity?.value)).collect();
        match self.regime {
            Regime::NetworkBound => {
                self.gap = over(slope);
                let most = 2 * seen.len() > launches.len();
                self.capacity = most.then(|| estimate(&seen, confidence));
            }
            Regime::ProcessorBound => {
                self.gap = over(overheads);
                self.idle =
                    Estimate { value: 0.0, low: 0.0, high: self.idle.high.max(0.0), ..self.idle };
                self.capacity = None;
            }
        }
        self.transition = transition(&self);
        self.findings = findings(&self);
        self
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

/// Where the parameters put the transition: at RTT/os messages, or at the capacity if that is less.
fn transition(signature: &Signature) -> Transition {
    let os = signature.send_overhead.value;
    let replies = if os > 0.0 { signature.rtt.value / os } else { f64::INFINITY };
    match signature.capacity {
        Some(capacity) if capacity.value < replies => {
            Transition { messages: capacity.value, cause: Cause::Capacity }
        }
        _ => Transition { messages: replies, cause: Cause::RoundTrip },
    }
}

/// The findings with those on parameters made anew; the others, on arm and lines, stay.
fn findings(signature: &Signature) -> Vec<Finding> {
    let Signature { send_overhead, gap, latency, idle, capacity, regime, .. } = signature;
    let processor_bound = *regime == Regime::ProcessorBound;
    let of_times = [
        processor_bound.then_some(Finding::ProcessorBound { gap: gap.value }),
        (latency.value < 0.0).then_some(Finding::NegativeLatency {
            latency: latency.value,
            low: latency.low,
            high: latency.high,
        }),
        (!processor_bound && idle.high < 0.0)
            .then_some(Finding::OverheadsOverlap { idle: idle.value }),
        (send_overhead.low <= 0.0)
            .then_some(Finding::SendOverheadUnresolved { send_overhead: send_overhead.value }),
    ];
    let kept = signature.findings.iter().filter_map(|finding| match *finding {
        Finding::ProcessorBound { .. }
        | Finding::NegativeLatency { .. }
        | Finding::OverheadsOverlap { .. }
        | Finding::SendOverheadUnresolved { .. }
        | Finding::CapacityUnseen => None,
        Finding::ArmBeginsLate { from_delay, .. } => {
            Some(Finding::ArmBeginsLate { knee: idle.value.max(0.0), from_delay, gap: gap.value })
        }
        Finding::ArmSlope { .. }
        | Finding::ArmUnchecked { .. }
        | Finding::FewSendOnly { .. }
        | Finding::SendOnlyUnseen { .. }
        | Finding::GapUnsettled { .. }
        | Finding::Unsettled { .. }
        | Finding::CurveTooShort { .. } => Some(*finding),
    });
    let unseen = capacity.is_none().then_some(Finding::CapacityUnseen);
    of_times.into_iter().flatten().chain(kept).chain(unseen).collect()
}

#[cfg(test)]
mod tests;
