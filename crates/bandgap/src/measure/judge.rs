//! Judging what has been measured: placement states, convergence, observations for the model.

use bandgap_model::{Estimate, Kind, ModelError, Observation, Options, Signature, extract};
use bandgap_stats::{Point, States, cluster, quantile::mean};
use bandgap_units::Ns;

use super::data::{Batch, Key, Table};
use super::signature::MIN_BATCHES;

pub use bandgap_stats::batch_value;

/// Resamples while a measurement goes on: enough to see whether it may stop.
const QUICK_RESAMPLES: usize = 100;

/// A table with its placement states found, seen from one of them.
pub struct Judged<'a> {
    table: &'a Table,
    confidence: f64,
    precision: f64,
    seed: u64,
    stamp: f64,
    states: States,
    seen: Option<usize>,
}

impl<'a> Judged<'a> {
    /// `table` seen from its commonest state; intervals of this confidence, converged when their
    /// half-width is within this share of the value.
    pub fn of(table: &'a Table, confidence: f64, precision: f64, seed: u64) -> Self {
        let probes: Vec<f64> = table
            .iter()
            .flat_map(|(_, batches)| batches)
            .filter(|batch| batch.rejected.is_none())
            .filter_map(Batch::probed)
            .collect();
        let states = States::find(&probes, cluster::RATIO);
        let seen = states.commonest();
        Self { table, confidence, precision, seed, stamp: 0.0, states, seen }
    }

    /// The same for times from which stamps of this cost were removed: a point has converged when
    /// its half-width is within the precision of what the clock read.
    pub fn stamped(self, stamp: f64) -> Self {
        Self { stamp, ..self }
    }

    /// The placement states found.
    pub fn states(&self) -> &States {
        &self.states
    }

    /// The state seen from; `None` when nothing was probed.
    pub fn seen(&self) -> Option<usize> {
        self.seen
    }

    /// The same table seen from another state.
    pub fn from_state(&self, state: usize) -> Self {
        Self { states: self.states.clone(), seen: Some(state), ..*self }
    }

    /// The same states over part of the table.
    pub fn over<'b>(&self, table: &'b Table) -> Judged<'b> {
        let Self { confidence, precision, seed, stamp, seen, .. } = *self;
        Judged { table, confidence, precision, seed, stamp, states: self.states.clone(), seen }
    }

    /// The name of a state, by its probe; `None` for no state.
    pub fn name(&self, state: Option<usize>) -> Option<String> {
        let state = self.states.states().get(state?)?;
        Some(format!("cache line {}", Ns(state.centre)))
    }

    /// The name of the state seen from, where states were probed.
    pub fn label(&self) -> Option<String> {
        self.name(self.seen)
    }

    /// The state of a batch: `None` when it was not probed or fits none.
    pub fn state(&self, batch: &Batch) -> Option<usize> {
        batch.probed().and_then(|probe| self.states.label(probe))
    }

    /// Whether a batch counts in the state seen from.
    pub fn counts(&self, batch: &Batch) -> bool {
        batch.rejected.is_none() && (batch.probe.is_none() || self.state(batch) == self.seen)
    }

    /// Values of the batches of `key` that count, in the order measured.
    pub fn values(&self, key: &Key) -> Vec<f64> {
        self.table
            .batches(key)
            .iter()
            .filter(|batch| self.counts(batch) && !batch.samples.is_empty())
            .map(|batch| batch_value(&batch.samples))
            .collect()
    }

    /// The estimate of `key`; `None` while there are fewer than two batches.
    pub fn point(&self, key: &Key) -> Option<Point> {
        Point::of(&self.values(key), self.confidence)
    }

    /// Whether `key` has batches enough, and an interval as narrow as asked.
    pub fn converged(&self, key: &Key) -> bool {
        self.point(key).is_some_and(|point| {
            let stamp = if matches!(key, Key::Issue { .. } | Key::Rtt) { self.stamp } else { 0.0 };
            let read = point.value.abs() + stamp;
            point.batches >= MIN_BATCHES
                && point.interval.half_width() <= self.precision * read
        })
    }

    /// Δ as it was measured in place, in nanoseconds; as asked for where it was not.
    pub fn delay(&self, delay_ps: u64) -> f64 {
        if delay_ps == 0 {
            return 0.0;
        }
        let values = self.values(&Key::Delay { delay_ps });
        if values.is_empty() { delay_ps as f64 / 1e3 } else { mean(&values) }
    }

    /// What the model gets to see.
    pub fn observations(&self) -> Vec<Observation> {
        self.table
            .iter()
            .filter_map(|(key, _)| {
                let (kind, messages, delay) = match *key {
                    Key::Issue { messages, delay_ps } => {
                        (Kind::Issue, u64::from(messages), self.delay(delay_ps))
                    }
                    Key::Rtt => (Kind::Rtt, 1, 0.0),
                    _ => return None,
                };
                let batches = self.values(key);
                (!batches.is_empty()).then_some(Observation { kind, messages, delay, batches })
            })
            .collect()
    }

    /// The signature, with this many bootstrap resamples.
    ///
    /// # Errors
    /// What is missing.
    pub fn signature(&self, resamples: usize) -> Result<Signature, ModelError> {
        let options = Options { confidence: self.confidence, resamples, seed: self.seed };
        extract(&self.observations(), &options)
    }

    /// Whether os, or, g and RTT have intervals as narrow as asked. (L may be near zero, so that
    /// no relative width makes sense for it.)
    pub fn parameters_converged(&self) -> bool {
        self.signature(QUICK_RESAMPLES).is_ok_and(|signature| {
            [
                &signature.send_overhead,
                &signature.recv_overhead,
                &signature.gap,
                &signature.rtt,
            ]
            .iter()
            .all(|e| within(e, self.precision))
        })
    }
}

/// Whether the half-width of an estimate's interval is within `precision` of its value.
pub fn within(estimate: &Estimate, precision: f64) -> bool {
    (estimate.high - estimate.low) / 2.0 <= precision * estimate.value.abs()
}
