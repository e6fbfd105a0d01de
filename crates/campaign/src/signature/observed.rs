//! From batches of a signature to the model's parameters.

use bandgap_model::{Estimate, Kind, ModelError, Observation, Options, Signature, extract};

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
                // As of two stamps, a difference below 0 counts as 0: what a batch's Δ was off may be more
                // than a short burst takes.
                let positive = self.in_rounds(key).map(|(round, value)| (round, value.max(0.0)));
                let (rounds, batches): (Vec<u64>, Vec<f64>) = positive.unzip();
                // One batch has no interval.
                let usable = batches.len() >= 2;
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

    /// Whether os, or, g and RTT have intervals as narrow as asked. (L may be near zero, so that
    /// no relative width makes sense for it; nor does it for the or of transfers, which os may
    /// exceed by far: together they count.)
    pub fn parameters_converged(&self, load: Load) -> bool {
        let precision = self.precision();
        self.signature(QUICK_RESAMPLES, None).is_ok_and(|signature| {
            let Signature { send_overhead, recv_overhead, gap, rtt, .. } = &signature;
            [send_overhead, gap, rtt].iter().all(|e| within(e, precision))
                && part_within(recv_overhead, overheads(&signature, load), precision)
        })
    }
}

/// What the precision of or is a share of: itself, or os + or of transfers.
pub fn overheads(signature: &Signature, load: Load) -> f64 {
    let own = signature.recv_overhead.value.abs();
    if load.is_transfer() { signature.send_overhead.value.abs() + own } else { own }
}

/// Whether the half-width of an estimate's interval is within `precision` of `whole`.
pub fn part_within(estimate: &Estimate, whole: f64, precision: f64) -> bool {
    (estimate.high - estimate.low) / 2.0 <= precision * whole.abs()
}

/// Whether the half-width of an estimate's interval is within `precision` of its value.
pub fn within(estimate: &Estimate, precision: f64) -> bool {
    part_within(estimate, estimate.value, precision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Batch, Kept, Table};
    use crate::signature::issue;

    #[test]
    fn a_burst_shorter_than_its_delay_was_off_counts_as_nothing() {
        let key = issue(Load::Words, 10, 5000);
        let mut table = Table::default();
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
        assert!(part_within(&estimate, -20.0, 0.1) && !part_within(&estimate, -20.0, 0.099));
        assert!(within(&estimate, 0.4) && !within(&estimate, 0.39));
    }
}
