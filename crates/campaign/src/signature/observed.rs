//! The model's parameters from the batches of a signature.

use bandgap_model::{Estimate, ModelError, Observation, Options, Phase, Signature, extract};
use bandgap_stats::{Convergence, Rule};

use super::keys::{ISSUE, RTT};
use crate::Key;
use crate::judge::{Judged, delayed};
use crate::load::Load;

/// Number of resamples during a measurement: enough to see whether it may stop.
pub const QUICK_RESAMPLES: usize = 100;

impl Judged<'_> {
    /// What was timed at a point of a signature, its M, and its Δ in nanoseconds; `None` for other
    /// keys.
    pub fn observed(&self, key: &Key) -> Option<(Phase, u64, f64)> {
        match (key.what(), delayed(key)) {
            (ISSUE, Some((messages, delay_ps))) => {
                Some((Phase::Issue, messages, self.delay(delay_ps)))
            }
            (RTT, _) => Some((Phase::Rtt, 1, 0.0)),
            _ => None,
        }
    }

    /// The model's observations from the measurements of one signature, also of points with one batch.
    pub fn observations(&self) -> Vec<Observation> {
        self.table
            .iter()
            .filter_map(|(key, _)| {
                let (kind, messages, delay) = self.observed(key)?;
                // A time below 0 counts as 0: the correction for Δ may exceed the time of a short
                // burst.
                let positive = self.in_rounds(key).map(|(round, value)| (round, value.max(0.0)));
                let (rounds, batches): (Vec<u64>, Vec<f64>) = positive.unzip();
                Some(Observation { kind, messages, delay, batches, rounds })
            })
            .collect()
    }

    /// The signature, with this many bootstrap resamples. For transfers, `reply` is the time of the
    /// way back, which carries no bytes. One batch has no interval, so points with one do not count.
    ///
    /// # Errors
    /// Points are missing.
    pub fn signature(
        &self,
        resamples: usize,
        reply: Option<&Estimate>,
    ) -> Result<Signature, ModelError> {
        let mut observations = self.observations();
        observations.retain(|point| point.batches.len() >= 2);
        extract(&observations, &self.options(resamples), reply)
    }

    /// The options of an extraction with this many bootstrap resamples.
    pub fn options(&self, resamples: usize) -> Options {
        Options { confidence: self.confidence, resamples, seed: self.seed }
    }
}

/// How well os, or, g, L, RTT, the idle time, the capacity, os + L and os + or of a signature are known, in
/// the order of [`Signature::in_regime`]. L and the idle time are differences that may be near zero, so their
/// intervals are judged relative to the whole: half the round trip and the gap. For the same reason
/// the or of transfers is judged relative to os + or. The clock does not limit g, the idle time and
/// the capacity, which come from the slopes of long bursts.
pub fn verdicts(signature: &Signature, rule: &Rule, load: Load) -> [Convergence; 9] {
    let Signature { send_overhead, recv_overhead, gap, latency, rtt, idle, capacity, .. } =
        signature;
    let slopes = rule.without_clock();
    [
        judge(send_overhead, rule),
        judge_received(recv_overhead, send_overhead, rule, load),
        judge(gap, &slopes),
        judge_beside(latency, rtt.value / 2.0, rule),
        judge(rtt, rule),
        judge_beside(idle, gap.value, &slopes),
        capacity.as_ref().map_or(Convergence::No, |found| judge(found, &slopes)),
        judge(&signature.sent_latency, rule),
        judge(&signature.arm.overheads, rule),
    ]
}

/// The verdict on an estimate.
pub fn judge(estimate: &Estimate, rule: &Rule) -> Convergence {
    judge_beside(estimate, estimate.value, rule)
}

/// The verdict on or. For transfers, or is judged relative to os + or.
pub fn judge_received(
    recv_overhead: &Estimate,
    send_overhead: &Estimate,
    rule: &Rule,
    load: Load,
) -> Convergence {
    let own = recv_overhead.value.abs();
    let whole = if load.is_transfer() { send_overhead.value.abs() + own } else { own };
    judge_beside(recv_overhead, whole, rule)
}

/// The verdict on an estimate that is a part of `whole`, relative to it.
fn judge_beside(estimate: &Estimate, whole: f64, rule: &Rule) -> Convergence {
    rule.judge((estimate.high - estimate.low) / 2.0, whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Batch, Kept, Measurements};
    use crate::signature::issue;

    #[test]
    fn a_burst_shorter_than_its_delay_was_off_counts_as_nothing() {
        let key = issue(Load::Words, 10, 5000);
        let mut table = Measurements::default();
        for (delay, elapsed) in [(5.0, 40.0), (5.0, 50.0), (14.0, 30.0)] {
            let batch = Batch { samples: vec![elapsed], delay: Some(delay), ..Batch::default() };
            table.push(Kept::Batch { key: key.clone(), batch });
        }
        let judged = Judged::of(&table, 0.95, 0.05, 1);
        // Δ was 8 ns in the mean: 40 + 30, 50 + 30, and 30 − 60.
        let [observation] = &judged.observations()[..] else { panic!("one point") };
        assert_eq!(observation.batches, [70.0, 80.0, 0.0]);
    }

    #[test]
    fn the_half_width_counts_beside_the_whole() {
        let estimate = Estimate { value: -5.0, low: -7.0, high: -3.0, samples: 9, estimator: "" };
        // 2 of 20, and 2 of 5.
        let beside = |precision: f64| {
            judge_beside(&estimate, -20.0, &Rule { precision, stamp: 0.0 }).is_enough()
        };
        let alone = |precision: f64| judge(&estimate, &Rule { precision, stamp: 0.0 }).is_enough();
        assert!(beside(0.1) && !beside(0.099));
        assert!(alone(0.4) && !alone(0.39));
    }
}
