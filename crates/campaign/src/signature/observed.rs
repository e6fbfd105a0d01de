//! From batches of a signature to the model's parameters.

use bandgap_model::{
    Estimate, Kind, ModelError, Observation, Options, Signature, extract, extract_transfers,
};

use super::keys::{ISSUE, RTT};
use crate::judge::{Judged, delayed};
use crate::load::Load;

/// Resamples while a measurement goes on: enough to see whether it may stop.
pub const QUICK_RESAMPLES: usize = 100;

impl Judged<'_> {
    /// What the model gets to see of a table of one signature.
    pub fn observations(&self) -> Vec<Observation> {
        self.table()
            .iter()
            .filter_map(|(key, _)| {
                let (kind, messages, delay) = match (key.what(), delayed(key)) {
                    (ISSUE, Some((messages, delay_ps))) => {
                        (Kind::Issue, messages, self.delay(delay_ps))
                    }
                    (RTT, _) => (Kind::Rtt, 1, 0.0),
                    _ => return None,
                };
                let batches = self.values(key);
                // One batch has no interval, and a disturbed Δ may make a short burst negative.
                let usable = batches.len() >= 2 && batches.iter().all(|value| *value >= 0.0);
                usable.then_some(Observation { kind, messages, delay, batches })
            })
            .collect()
    }

    /// The signature, with this many bootstrap resamples.
    ///
    /// # Errors
    /// What is missing.
    pub fn signature(&self, resamples: usize) -> Result<Signature, ModelError> {
        extract(&self.observations(), &self.options(resamples))
    }

    /// The signature of transfers, where the way without bytes takes `reply`.
    ///
    /// # Errors
    /// What is missing.
    pub fn transfers(&self, resamples: usize, reply: &Estimate) -> Result<Signature, ModelError> {
        extract_transfers(&self.observations(), &self.options(resamples), reply)
    }

    fn options(&self, resamples: usize) -> Options {
        Options { confidence: self.confidence(), resamples, seed: self.seed }
    }

    /// Whether os, or, g and RTT have intervals as narrow as asked. (L may be near zero, so that
    /// no relative width makes sense for it; nor does it for the or of transfers, which os may
    /// exceed by far: together they count.)
    pub fn parameters_converged(&self, load: Load) -> bool {
        let precision = self.precision();
        self.signature(QUICK_RESAMPLES).is_ok_and(|signature| {
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
