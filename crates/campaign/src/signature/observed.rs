//! From batches of a signature to the model's parameters.

use bandgap_model::{Estimate, Kind, ModelError, Observation, Options, Signature, extract};
use bandgap_stats::{Convergence, Rule};

use super::keys::{ISSUE, RTT};
use crate::Key;
use crate::judge::{Judged, delayed};
use crate::load::Load;

/// Resamples while a measurement goes on: enough to see whether it may stop.
pub const QUICK_RESAMPLES: usize = 100;

impl Judged<'_> {
    /// What was timed at a point of a signature, its M, and its Δ in nanoseconds; `None` for other
    /// points.
    pub fn observed(&self, key: &Key) -> Option<(Kind, u64, f64)> {
        match (key.what(), delayed(key)) {
            (ISSUE, Some((messages, delay_ps))) => {
                Some((Kind::Issue, messages, self.delay(delay_ps)))
            }
            (RTT, _) => Some((Kind::Rtt, 1, 0.0)),
            _ => None,
        }
    }

    /// What the model gets to see of a table of one signature.
    pub fn observations(&self) -> Vec<Observation> {
        self.table()
            .iter()
            .filter_map(|(key, _)| {
                let (kind, messages, delay) = self.observed(key)?;
                let (rounds, batches): (Vec<u64>, Vec<f64>) = self.in_rounds(key).unzip();
                // One batch has no interval, and a disturbed Δ may make a short burst negative.
                let usable = batches.len() >= 2 && batches.iter().all(|value| *value >= 0.0);
                usable.then_some(Observation { kind, messages, delay, batches, rounds })
            })
            .collect()
    }

    /// The signature, with this many bootstrap resamples; of transfers where the way without bytes
    /// takes `reply`.
    ///
    /// # Errors
    /// What is missing.
    pub fn signature(
        &self,
        resamples: usize,
        reply: Option<&Estimate>,
    ) -> Result<Signature, ModelError> {
        let options = Options { confidence: self.confidence(), resamples, seed: self.seed };
        extract(&self.observations(), &options, reply)
    }

    /// Whether os, or, g and RTT are known well enough. Not L and the idle time, which follow from
    /// them.
    pub fn parameters_are_enough(&self, load: Load) -> bool {
        self.signature(QUICK_RESAMPLES, None).is_ok_and(|signature| {
            let Verdicts { send_overhead, recv_overhead, gap, rtt, .. } =
                Verdicts::of(&signature, &self.rule(), load);
            [send_overhead, recv_overhead, gap, rtt].into_iter().all(Convergence::is_enough)
        })
    }
}

/// How well each parameter of a signature is known.
pub struct Verdicts {
    /// Of os.
    pub send_overhead: Convergence,
    /// Of or.
    pub recv_overhead: Convergence,
    /// Of g.
    pub gap: Convergence,
    /// Of L.
    pub latency: Convergence,
    /// Of RTT.
    pub rtt: Convergence,
    /// Of the idle time.
    pub idle: Convergence,
    /// Of the capacity, where there is one.
    pub capacity: Convergence,
}

impl Verdicts {
    /// The verdicts of this rule. L and the idle time are differences that may be near zero: their
    /// intervals are judged beside what they are a part of, half the round trip and the gap. So is the
    /// or of transfers, which os may exceed by far, beside os + or. The clock does not limit g, the
    /// idle time and the capacity, which come from the slopes of long bursts.
    pub fn of(signature: &Signature, rule: &Rule, load: Load) -> Verdicts {
        let Signature { send_overhead, recv_overhead, gap, latency, rtt, idle, capacity, .. } =
            signature;
        let own = recv_overhead.value.abs();
        let received = if load.is_transfer() { send_overhead.value.abs() + own } else { own };
        let slopes = rule.without_clock();
        Verdicts {
            send_overhead: judge(send_overhead, rule),
            recv_overhead: judge_beside(recv_overhead, received, rule),
            gap: judge(gap, &slopes),
            latency: judge_beside(latency, rtt.value / 2.0, rule),
            rtt: judge(rtt, rule),
            idle: judge_beside(idle, gap.value, &slopes),
            capacity: capacity.as_ref().map_or(Convergence::No, |found| judge(found, &slopes)),
        }
    }
}

/// What a rule says of an estimate.
pub fn judge(estimate: &Estimate, rule: &Rule) -> Convergence {
    judge_beside(estimate, estimate.value, rule)
}

/// What a rule says of an estimate that is a part of `whole`.
fn judge_beside(estimate: &Estimate, whole: f64, rule: &Rule) -> Convergence {
    rule.judge((estimate.high - estimate.low) / 2.0, whole)
}
