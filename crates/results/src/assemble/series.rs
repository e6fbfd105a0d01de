//! The record of a series: one operation over many sizes.

use std::collections::BTreeSet;

use bandgap_model::hockney::SizedTimes;
use bandgap_record::{Evidence, Outcome, Quantity, RecordError, Series, SeriesPoint};
use bandgap_units::Ns;

use super::estimated::{ESTIMATOR, Estimated, bandwidth, estimated};
use super::summary::summary;
use super::{AssembleError, findings, hockney, points, states};
use bandgap_campaign::Setting;
use bandgap_campaign::Table;
use bandgap_campaign::judge::Judged;
use bandgap_campaign::series::{Operation, Part, SeriesPlan, Sized, key};

/// What a series task brought, and what it was measured on.
pub(super) struct Measured<'a> {
    pub(super) setting: &'a Setting,
    pub(super) plan: &'a SeriesPlan,
    pub(super) table: &'a Table,
    pub(super) judged: &'a Judged<'a>,
}

impl Measured<'_> {
    /// One series for each operation that was measured, and its fits.
    pub(super) fn results(&self) -> Result<Vec<Outcome>, AssembleError> {
        let operations: BTreeSet<Operation> =
            self.plan.points.iter().map(|point| point.operation).collect();
        let mut results = Vec::new();
        for operation in operations {
            let series = self.series(operation)?;
            if series.points.is_empty() {
                continue;
            }
            let times = self.times(operation);
            let (precision, confidence) = (self.plan.precision, self.plan.confidence);
            let fits = hockney::of_series(&series, &times, precision, confidence)?;
            results.push(Outcome::Series(Box::new(series)));
            results.extend(fits.into_iter().map(|fit| Outcome::Hockney(Box::new(fit))));
        }
        if results.is_empty() { Err(AssembleError::Empty) } else { Ok(results) }
    }

    /// The points whose time is that of one operation.
    fn singles(&self, operation: Operation) -> impl Iterator<Item = Sized> {
        let single = move |p: &Sized| {
            p.operation == operation && (p.messages == 1 || operation.passes_messages())
        };
        self.plan.points.iter().copied().filter(single)
    }

    /// What is fitted: batch values of each size, a barrier's excepted.
    fn times(&self, operation: Operation) -> Vec<SizedTimes> {
        let times = self.singles(operation).map(|single| SizedTimes {
            bytes: u64::from(single.bytes),
            times_ns: self.judged.values(&key(single, Part::Whole)),
        });
        times.filter(|sized| !sized.times_ns.is_empty()).collect()
    }

    fn series(&self, operation: Operation) -> Result<Series, AssembleError> {
        let pair = self.plan.pair.map(|rank| rank as u32);
        let cores = self.setting.cores(self.plan.pair);
        let distance = self.setting.distance(self.plan.pair);
        let state = self
            .judged
            .seen()
            .and_then(|seen| states::states(self.judged).get(seen).cloned())
            .unwrap_or_else(states::only);
        let mut points = Vec::new();
        for single in self.singles(operation) {
            if let Some(point) = self.point(single, distance.clone(), &state.label)? {
                points.push(point);
            }
        }
        points.sort_by_key(|point| point.bytes);
        Ok(Series {
            name: operation.name().to_owned(),
            transport: self.setting.transport.clone(),
            ranks: self.taking_part(operation),
            pair: (!operation.is_of_all()).then_some(pair),
            cores: cores.map(|cores| cores.map(|core| core as u32)),
            launches: self.setting.launches,
            // Wrong bytes end a run.
            verified: !self.setting.is_virtual(),
            state,
            points,
            findings: findings::slowed(self.judged.states(), self.judged.seen())
                .into_iter()
                .collect(),
        })
    }

    /// Number of ranks that take part.
    fn taking_part(&self, operation: Operation) -> u32 {
        if operation.is_of_all() { self.setting.ranks as u32 } else { 2 }
    }

    /// Bytes that one operation moves: of COMMS3, between all ranks together.
    fn moved(&self, single: Sized) -> u64 {
        let ranks = self.setting.ranks as u64;
        let pairs = if single.operation == Operation::Comms3 { ranks * (ranks - 1) } else { 1 };
        u64::from(single.bytes) * pairs
    }

    fn point(
        &self,
        single: Sized,
        distance: Option<String>,
        state: &str,
    ) -> Result<Option<SeriesPoint>, AssembleError> {
        let (judged, virtual_time) = (self.judged, self.setting.is_virtual());
        let whole = key(single, Part::Whole);
        let values = judged.values(&whole);
        let Some(&first) = values.first() else { return Ok(None) };
        let converged = virtual_time || judged.converged(&whole);
        let time = judged
            .point(&whole)
            .map_or_else(|| Estimated::single(first, converged), |p| Estimated::new(&p, converged));
        let send_overhead = estimated(judged, &key(single, Part::Issue), virtual_time);
        let time = time.per(1.0)?;
        let bytes = u64::from(single.bytes);
        let batches = self.table.batches(&whole);
        let counted: Vec<f64> = batches
            .iter()
            .filter(|batch| judged.counts(batch))
            .flat_map(|batch| batch.samples.iter().copied())
            .collect();
        let overlap = send_overhead.as_ref().map(|o| beside(&time, o)).transpose()?;
        Ok(Some(SeriesPoint {
            bytes,
            ranks: self.taking_part(single.operation),
            distance,
            bandwidth: bandwidth(self.moved(single), &time)?,
            rate: (single.operation == Operation::Synch1).then(|| rate(&time)).transpose()?,
            gap: self.gap(single)?,
            overlap,
            send_overhead,
            state: state.to_owned(),
            converged,
            summary: summary(&counted, self.plan.confidence)?,
            batches: batches
                .iter()
                .map(|batch| points::recorded(batch, judged, virtual_time))
                .collect(),
            time,
        }))
    }

    /// g(n): what each further transfer of a burst adds, (T_M − T_1)/(M − 1). Messages are not sent
    /// in bursts: their M is the number of rounds.
    fn gap(&self, single: Sized) -> Result<Option<Quantity>, AssembleError> {
        if single.operation.passes_messages() {
            return Ok(None);
        }
        let many =
            self.plan.points.iter().find(|p| {
                p.operation == single.operation && p.bytes == single.bytes && p.messages > 1
            });
        let Some(many) = many else { return Ok(None) };
        let one = self.judged.point(&key(single, Part::Whole));
        let burst = self.judged.point(&key(*many, Part::Whole));
        let (Some(one), Some(burst)) = (one, burst) else { return Ok(None) };
        let further = f64::from(many.messages - 1);
        let value = (burst.value - one.value) / further;
        let half = burst.interval.half_width().hypot(one.interval.half_width()) / further;
        let batches = one.batches.min(burst.batches) as u64;
        let converged = half <= self.plan.precision * value.abs();
        let evidence = Evidence::new("(T_M − T_1)/(M − 1)", batches, converged);
        let interval = Some((Ns(value - half), Ns(value + half)));
        Ok(Some(Quantity::time(Ns(value), interval, evidence)?))
    }
}

/// 1/t: operations per second.
fn rate(time: &Quantity) -> Result<Quantity, RecordError> {
    let bounds = time.low.zip(time.high).map(|(low, high)| (1.0 / high.0, 1.0 / low.0));
    let bounds = bounds.filter(|(low, high)| low.is_finite() && high.is_finite() && *low > 0.0);
    let evidence = Evidence::new(format!("1 / ({ESTIMATOR})"), time.samples, time.converged);
    Quantity::per_second(1.0 / time.value.0, bounds, evidence)
}

/// t(n) − o(n): how much computation fits beside a transfer. Both come from the same batches, so
/// the wider of the two intervals is taken rather than their sum.
fn beside(time: &Quantity, overhead: &Quantity) -> Result<Quantity, RecordError> {
    let half = |q: &Quantity| q.low.zip(q.high).map_or(0.0, |(low, high)| (high.0 - low.0) / 2.0);
    let seconds = time.value.0 - overhead.value.0;
    let half = half(time).max(half(overhead));
    let ns = |seconds: f64| Ns(seconds * 1e9);
    let converged = time.converged && overhead.converged;
    let evidence = Evidence::new("T(n) − o(n)", time.samples, converged);
    Quantity::time(ns(seconds), Some((ns(seconds - half), ns(seconds + half))), evidence)
}
