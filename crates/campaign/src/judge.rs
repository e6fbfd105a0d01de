//! Judging what has been measured: placement states, convergence, observations for the model.

use std::collections::BTreeMap;

use bandgap_model::{
    Estimate, Kind, ModelError, Observation, Options, Signature, extract, extract_transfers,
};
use bandgap_stats::Point;

use super::contention::CONTENDED;
use super::data::{Batch, Table};
use super::floors::FLOOR;
use super::key::Key;
use super::load::Load;
use super::placement::Placements;
use super::signature::{ISSUE, RTT};

pub use bandgap_stats::batch_value;

/// Batches a point has at least: an interval from fewer says little.
pub const MIN_BATCHES: usize = 5;
/// Resamples while a measurement goes on: enough to see whether it may stop.
pub const QUICK_RESAMPLES: usize = 100;

/// A table with its placement states found, seen from one of them.
pub struct Judged<'a> {
    table: &'a Table,
    confidence: f64,
    precision: f64,
    seed: u64,
    stamp: f64,
    states: Placements,
    seen: Option<usize>,
    /// Δ asked for, in picoseconds, and as measured.
    delays: BTreeMap<u64, f64>,
}

impl<'a> Judged<'a> {
    /// `table` seen from its main state; intervals of this confidence, converged when their
    /// half-width is within this share of the value.
    pub fn of(table: &'a Table, confidence: f64, precision: f64, seed: u64) -> Self {
        let probes: Vec<_> = table
            .iter()
            .flat_map(|(_, batches)| batches)
            .filter(|batch| batch.rejected.is_none())
            .filter_map(|batch| batch.probe)
            .collect();
        let points = table.iter().count();
        let states = Placements::find(&probes, points);
        let seen = states.main();
        let delays = BTreeMap::new();
        Self { table, confidence, precision, seed, stamp: 0.0, states, seen, delays }.with_delays()
    }

    /// The same for times from which stamps of this cost were removed: a point has converged when
    /// its half-width is within the precision of what the clock read.
    pub fn stamped(self, stamp: f64) -> Self {
        Self { stamp, ..self }
    }

    /// The placement states found.
    pub fn states(&self) -> &Placements {
        &self.states
    }

    /// The state seen from; `None` when nothing was probed.
    pub fn seen(&self) -> Option<usize> {
        self.seen
    }

    /// The same table seen from another state.
    pub fn seen_from(&self, state: usize) -> Self {
        self.viewed(Some(state))
    }

    /// The same table seen from a state, or from none.
    pub fn viewed(&self, seen: Option<usize>) -> Self {
        let (states, delays) = (self.states.clone(), BTreeMap::new());
        Self { states, seen, delays, ..*self }.with_delays()
    }

    /// The same states over part of the table.
    pub fn over<'b>(&self, table: &'b Table) -> Judged<'b> {
        let Self { confidence, precision, seed, stamp, seen, .. } = *self;
        let (states, delays) = (self.states.clone(), BTreeMap::new());
        Judged { table, confidence, precision, seed, stamp, states, seen, delays }.with_delays()
    }

    /// The name of a state, by its probe; `None` for no state.
    pub fn name(&self, state: Option<usize>) -> Option<String> {
        self.states.name(state?)
    }

    /// The name of the state seen from, where states were probed.
    pub fn label(&self) -> Option<String> {
        self.name(self.seen)
    }

    /// The state of a batch: `None` when it was not probed, fits none.
    pub fn state(&self, batch: &Batch) -> Option<usize> {
        batch.probe.and_then(|probe| self.states.label(&probe))
    }

    /// Whether a batch counts in the state seen from.
    pub fn counts(&self, batch: &Batch) -> bool {
        batch.rejected.is_none() && (batch.probe.is_none() || self.state(batch) == self.seen)
    }

    /// How many batches count.
    pub fn counted(&self) -> usize {
        self.table.iter().flat_map(|(_, batches)| batches).filter(|b| self.counts(b)).count()
    }

    /// Values of the batches of `key` that count, in the order measured. Each is taken at the same
    /// Δ: what a batch's own Δ was off, M times, is removed.
    pub fn values(&self, key: &Key) -> Vec<f64> {
        let (messages, delay) = match delayed(key) {
            Some((messages, delay_ps)) => (messages as f64, self.delay(delay_ps)),
            None => (0.0, 0.0),
        };
        self.table
            .batches(key)
            .iter()
            .filter(|batch| self.counts(batch) && !batch.samples.is_empty())
            .map(|batch| {
                let off = batch.delay.map_or(0.0, |own| own - delay);
                batch_value(&batch.samples) - messages * off
            })
            .collect()
    }

    /// The estimate of `key`; `None` while there are fewer than two batches.
    pub fn point(&self, key: &Key) -> Option<Point> {
        Point::of(&self.values(key), self.confidence)
    }

    /// Whether `key` has batches enough, and an interval as narrow as asked.
    pub fn converged(&self, key: &Key) -> bool {
        self.point(key).is_some_and(|point| {
            let per_message = [CONTENDED, FLOOR].contains(&key.what());
            let stamp = if per_message { 0.0 } else { self.stamp };
            let read = point.value.abs() + stamp;
            point.batches >= MIN_BATCHES && point.interval.half_width() <= self.precision * read
        })
    }

    /// Δ as it was measured in place, in nanoseconds: the mean over all batches that count; as
    /// asked for where it was not measured.
    pub fn delay(&self, delay_ps: u64) -> f64 {
        self.delays.get(&delay_ps).copied().unwrap_or(delay_ps as f64 / 1e3)
    }

    /// Looks through the table for [`Judged::delay`].
    fn with_delays(mut self) -> Self {
        let mut found: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for (key, batches) in self.table.iter() {
            let Some((_, delay_ps)) = delayed(key) else { continue };
            let counted = batches.iter().filter(|batch| self.counts(batch));
            found.entry(delay_ps).or_default().extend(counted.filter_map(|batch| batch.delay));
        }
        let measured = found.into_iter().filter(|(_, delays)| !delays.is_empty());
        self.delays = measured.map(|(asked, delays)| (asked, batch_value(&delays))).collect();
        self
    }

    /// What the model gets to see of a table of one signature.
    pub fn observations(&self) -> Vec<Observation> {
        self.table
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
        let options = Options { confidence: self.confidence, resamples, seed: self.seed };
        extract(&self.observations(), &options)
    }

    /// The signature of transfers, where the way without bytes takes `reply`.
    ///
    /// # Errors
    /// What is missing.
    pub fn transfers(&self, resamples: usize, reply: &Estimate) -> Result<Signature, ModelError> {
        let options = Options { confidence: self.confidence, resamples, seed: self.seed };
        extract_transfers(&self.observations(), &options, reply)
    }

    /// Whether os, or, g and RTT have intervals as narrow as asked. (L may be near zero, so that
    /// no relative width makes sense for it; nor does it for the or of transfers, which os may
    /// exceed by far: together they count.)
    pub fn parameters_converged(&self, load: Load) -> bool {
        self.signature(QUICK_RESAMPLES).is_ok_and(|signature| {
            let Signature { send_overhead, recv_overhead, gap, rtt, .. } = &signature;
            [send_overhead, gap, rtt].iter().all(|e| within(e, self.precision))
                && part_within(recv_overhead, overheads(&signature, load), self.precision)
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

/// M and Δ in picoseconds, of a key that has both.
pub fn delayed(key: &Key) -> Option<(u64, u64)> {
    Some((key.number("messages")?, key.number("delay_ps")?))
}
