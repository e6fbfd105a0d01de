//! The value of one point, estimated from its batches.

use std::collections::BTreeMap;

use bandgap_campaign::Key;
use bandgap_campaign::judge::Judged;
use bandgap_model::Estimate;
use bandgap_record::{Convergence, Evidence, Quantity, RecordError, Unit};
use bandgap_stats::{Interval, Point};
use bandgap_units::Ns;

use crate::error::AssembleError;
use crate::measured::batch::{Batch, Summary};

/// How points are estimated.
const ESTIMATOR: &str = "mean of batch means inside the MAD fence, t interval";

/// How points of several launches are estimated.
const OVER_LAUNCHES: &str = "mean of the launches' means of batch means inside the MAD fence, \
                             the wider t interval of launches and batches";

/// How a point is estimated.
pub(crate) fn estimator(point: &Point) -> &'static str {
    if point.launches < 2 { ESTIMATOR } else { OVER_LAUNCHES }
}

/// An estimate, and what it rests on. Times are in nanoseconds, all else in its unit.
pub(crate) struct Estimated {
    value: f64,
    interval: Option<Interval>,
    evidence: Evidence,
}

impl Estimated {
    /// The estimate of a point.
    pub(crate) fn new(point: &Point, estimator: &str, convergence: Convergence) -> Self {
        let evidence = Evidence::new(estimator, point.batches as u64, convergence);
        Self { value: point.value, interval: Some(point.interval), evidence }
    }

    /// A single value, which has no interval of its own.
    pub(crate) fn single(value: f64, estimator: &str, convergence: Convergence) -> Self {
        Self { value, interval: None, evidence: Evidence::new(estimator, 1, convergence) }
    }

    /// It as it is recorded.
    pub(crate) fn recorded(&self, unit: Unit) -> Result<Quantity, RecordError> {
        self.per(1.0, unit)
    }

    /// One part of `parts`: the cost of a message, where the time is that of many.
    pub(crate) fn per(&self, parts: f64, unit: Unit) -> Result<Quantity, RecordError> {
        let si = |value: f64| match unit {
            Unit::Second => Ns(value / parts).as_secs(),
            _ => value / parts,
        };
        let interval = self.interval.map(|i| (si(i.low), si(i.high)));
        Quantity::new(si(self.value), interval, unit, self.evidence.clone())
    }
}

/// A model's estimate as it is recorded.
pub(crate) fn recorded(
    estimate: &Estimate,
    unit: Unit,
    convergence: impl Into<Convergence>,
) -> Result<Quantity, RecordError> {
    let Estimate { value, low, high, samples, estimator } = *estimate;
    let evidence = Evidence::new(estimator, samples as u64, convergence);
    Estimated { value, interval: Some(Interval { low, high }), evidence }.recorded(unit)
}

/// How well `key` is known. In virtual time all has converged.
pub(crate) fn convergence_of(judged: &Judged<'_>, key: &Key, virtual_time: bool) -> Convergence {
    if virtual_time { Convergence::Converged } else { judged.convergence(key) }
}

/// The time of `key`; `None` for fewer than two batches.
pub(crate) fn estimated(judged: &Judged<'_>, key: &Key, virtual_time: bool) -> Option<Quantity> {
    let point = judged.point(key)?;
    let convergence = convergence_of(judged, key, virtual_time);
    Estimated::new(&point, estimator(&point), convergence).recorded(Unit::Second).ok()
}

/// The time of a key with all that is recorded of it.
pub(crate) struct Timed {
    pub(crate) time: Estimated,
    pub(crate) convergence: Convergence,
    pub(crate) summary: Summary,
    pub(crate) batches: Vec<Batch>,
}

impl Timed {
    /// The time of `key`, of a single batch too; `None` where no batch counts.
    pub(crate) fn of(
        judged: &Judged<'_>,
        key: &Key,
        virtual_time: bool,
    ) -> Result<Option<Timed>, AssembleError> {
        let Some(&first) = judged.values(key).first() else { return Ok(None) };
        let convergence = convergence_of(judged, key, virtual_time);
        let time = match judged.point(key) {
            Some(point) => Estimated::new(&point, estimator(&point), convergence),
            None => Estimated::single(first, ESTIMATOR, convergence),
        };
        let batches = judged.table().batches(key);
        let counted = batches.iter().filter(|batch| judged.counts(batch));
        let mut launches = BTreeMap::<u32, Vec<&[f64]>>::new();
        for batch in counted.filter(|batch| !batch.samples.is_empty()) {
            launches.entry(batch.launch).or_default().push(&batch.samples);
        }
        let launches: Vec<Vec<&[f64]>> = launches.into_values().collect();
        let summary = Summary::of_launches(&launches, judged.confidence(), judged.rule_of(key))?;
        let batches = batches.iter().map(|it| Batch::of(it, judged)).collect();
        Ok(Some(Timed { time, convergence, summary, batches }))
    }
}

/// n/t(n), with the interval of the time turned over where that is possible; `None` for no bytes.
pub(crate) fn bandwidth(bytes: u64, time: &Quantity) -> Result<Option<Quantity>, RecordError> {
    if bytes == 0 || time.value.0 <= 0.0 {
        return Ok(None);
    }
    let estimator = format!("n / ({})", time.estimator);
    turned(bytes as f64, time, Unit::BytePerSecond, estimator).map(Some)
}

/// The relative half-width of the ratio of both: theirs add in quadrature. *Assumes* that the two scatter independently, and
/// by little. `None` where one of them has no interval.
pub(crate) fn relative_of_both(above: &Quantity, below: &Quantity) -> Option<f64> {
    let relative = |of: &Quantity| {
        let (low, high) = of.interval()?;
        Some((high - low) / 2.0 / of.value.0)
    };
    Some(relative(above)?.hypot(relative(below)?))
}

/// Half of the width of its interval; 0 where it has none.
pub(crate) fn half_width(of: &Quantity) -> f64 {
    of.interval().map_or(0.0, |(low, high)| (high - low) / 2.0)
}

/// How many of something there are in a second where `count` take this time, with its interval turned
/// over where that is possible.
pub(crate) fn turned(
    count: f64,
    time: &Quantity,
    unit: Unit,
    estimator: String,
) -> Result<Quantity, RecordError> {
    let positive = time.interval().filter(|(low, _)| *low > 0.0);
    let ends = positive.map(|(low, high)| (count / high, count / low));
    let evidence = Evidence::new(estimator, time.samples, time.convergence());
    Quantity::new(count / time.value.0, ends, unit, evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_batch_has_no_interval_and_so_has_its_bandwidth() {
        let time =
            Estimated::single(250.0, ESTIMATOR, Convergence::No).recorded(Unit::Second).unwrap();
        assert_eq!((time.interval(), time.samples), (None, 1));
        let rate = bandwidth(500, &time).unwrap().unwrap();
        // 500 B in 250 ns.
        assert!((rate.value.0 / 2e9 - 1.0).abs() < 1e-9);
        assert_eq!(rate.interval(), None);
        assert!(!rate.converged);
    }

    #[test]
    fn the_widths_of_a_ratio_add_in_quadrature() {
        let of = |value: f64, half: Option<f64>| {
            let ends = half.map(|half| (value - half, value + half));
            Quantity::number(value, ends, Evidence::new("mean", 9, true)).unwrap()
        };
        // 3 % and 4 % make 5 %.
        let both = |below| relative_of_both(&of(200.0, Some(6.0)), &of(100.0, below));
        assert!((both(Some(4.0)).unwrap() - 0.05).abs() < 1e-12);
        assert_eq!(both(None), None);
    }

    #[test]
    fn a_time_that_may_be_zero_has_a_bandwidth_without_interval() {
        let bounds = Some((Ns(-50.0), Ns(550.0)));
        let time = Quantity::time(Ns(250.0), bounds, Evidence::new("mean", 2, false)).unwrap();
        let rate = bandwidth(500, &time).unwrap().unwrap();
        assert!((rate.value.0 / 2e9 - 1.0).abs() < 1e-9);
        assert_eq!(rate.interval(), None);
        assert_eq!(bandwidth(0, &time).unwrap(), None);
    }
}
