//! The value of a key, and the ratio of two, estimated from the batches that count.

use std::collections::BTreeMap;

use bandgap_campaign::judge::{Judged, launch_of};
use bandgap_campaign::{Key, Setting};
use bandgap_model::Estimate;
use bandgap_record::{Number, Quantity, Spread, Unit};
use bandgap_stats::quantile::{quantile_sorted, sorted};
use bandgap_stats::{BatchEstimate, Convergence, Interval, estimate, ratio};
use bandgap_units::Ns;

use crate::Result;

/// What was measured over one transport.
#[derive(Clone, Copy)]
pub struct Measured<'a> {
    /// What it was measured on.
    pub setting: &'a Setting,
    /// The batches, with the state that counts.
    pub judged: &'a Judged<'a>,
}

/// An estimate before it is recorded. Times are in nanoseconds, all else in its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimated {
    /// The estimate.
    pub value: f64,
    /// Its interval.
    pub interval: Option<Interval>,
    /// Whether it is narrow enough.
    pub convergence: Convergence,
    /// The number of values behind it.
    pub samples: u64,
    /// The estimator in a few words.
    pub estimator: &'static str,
    /// The estimate of each launch by itself, by launch number; `None` for a launch without values. Empty if the estimate
    /// does not come from launches.
    pub launches: Vec<Option<f64>>,
}

/// The estimator of a time.
pub const MEAN: &str = "mean of batch means inside the MAD fence, over launches and rounds";
/// The estimator of a ratio.
pub const RATIO: &str = "geometric mean of ratios by round, over launches and rounds";

impl Estimated {
    /// An estimate that rests on no launches, with its estimator and the number of values behind it.
    pub fn new(
        value: f64,
        interval: Option<Interval>,
        convergence: Convergence,
        (estimator, samples): (&'static str, u64),
    ) -> Estimated {
        Estimated { value, interval, convergence, samples, estimator, launches: Vec::new() }
    }

    /// A point of `stats`.
    pub fn of(
        point: &BatchEstimate,
        estimator: &'static str,
        convergence: Convergence,
    ) -> Estimated {
        let how = (estimator, point.batches as u64);
        Estimated::new(point.value, Some(point.interval), convergence, how)
    }

    /// A model's estimate.
    pub fn of_model(of: &Estimate, convergence: Convergence) -> Estimated {
        let interval = Some(Interval { low: of.low, high: of.high });
        Estimated::new(of.value, interval, convergence, (of.estimator, of.samples.max(1) as u64))
    }

    /// Adds the estimates of each launch by itself.
    pub fn with_launches(self, launches: Vec<Option<f64>>) -> Estimated {
        Estimated { launches, ..self }
    }

    /// A function of each launch's value.
    fn each(&self, of: impl Fn(f64) -> f64) -> Vec<Option<f64>> {
        self.launches.iter().map(|own| own.map(&of).filter(|value| value.is_finite())).collect()
    }

    /// The estimate divided by `parts`.
    pub fn part(self, parts: f64) -> Estimated {
        let ends = |Interval { low, high }| Interval { low: low / parts, high: high / parts };
        let (value, interval) = (self.value / parts, self.interval.map(ends));
        let launches = self.each(|own| own / parts);
        Estimated { value, interval, launches, ..self }
    }

    /// `amount` over this time, in amounts a second; `None` where the time may be 0.
    pub fn turned(&self, amount: f64, estimator: &'static str) -> Option<Estimated> {
        let over = |ns: f64| amount / Ns(ns).as_secs();
        let least = self.interval.map_or(self.value, |interval| interval.low);
        let interval = self.interval.map(|of| Interval { low: over(of.high), high: over(of.low) });
        let (value, launches) = (over(self.value), self.each(over));
        let turned = Estimated { value, interval, estimator, launches, ..*self };
        (amount > 0.0 && least > 0.0).then_some(turned)
    }

    /// The quantity to be recorded; times in seconds.
    ///
    /// # Errors
    /// The estimate is not finite.
    pub fn recorded(&self, unit: Unit) -> Result<Quantity> {
        let si = |value: f64| if unit == Unit::Second { Ns(value).as_secs() } else { value };
        let interval = self.interval.map(|i| (si(i.low), si(i.high)));
        let evidence = (self.estimator, self.samples, self.convergence.is_enough());
        let launches = self.each(si).into_iter().map(|own| own.map(Number)).collect();
        Ok(Quantity { launches, ..Quantity::new(si(self.value), interval, unit, evidence)? })
    }
}

/// A distribution from its number of samples and its quantiles in nanoseconds.
pub(crate) fn spread(samples: u64, ns: impl Fn(f64) -> Option<f64>) -> Option<Spread> {
    let at = |p: f64| Some(Number(Ns(ns(p)?).as_secs()));
    Some(Spread {
        samples,
        min: at(0.0)?,
        median: at(0.5)?,
        p90: at(0.9)?,
        p99: at(0.99)?,
        p999: at(0.999)?,
        max: at(1.0)?,
    })
}

impl Measured<'_> {
    /// The values of a key in batches that count, with launch and round.
    pub fn values(&self, key: &Key) -> Vec<(u32, u64, f64)> {
        let values = self.judged.in_rounds(key);
        values.map(|(round, value)| (launch_of(round), round, value)).collect()
    }

    /// The time of `key`; of a single batch without an interval, and `None` where no batch counts.
    pub fn time(&self, key: &Key) -> Option<Estimated> {
        let values = self.values(key);
        let Some(point) = estimate(&values, self.judged.confidence) else {
            let (launch, _, value) = *values.first()?;
            let single = Estimated::new(value, None, self.virtual_or(Convergence::No), (MEAN, 1));
            return Some(single.with_launches(self.by_launch([(launch, value)])));
        };
        Some(self.of_point(&point, MEAN, self.judged.rule_of(key).judge_point(&point)))
    }

    /// An estimate over launches and rounds.
    pub(crate) fn of_point(
        &self,
        point: &BatchEstimate,
        estimator: &'static str,
        judged: Convergence,
    ) -> Estimated {
        let launches = self.by_launch(point.launches.iter().copied());
        Estimated::of(point, estimator, self.virtual_or(judged)).with_launches(launches)
    }

    /// Values indexed by launch number; `None` for a launch without one.
    pub(crate) fn by_launch<T>(&self, of: impl IntoIterator<Item = (u32, T)>) -> Vec<Option<T>> {
        let mut found: BTreeMap<u32, T> = of.into_iter().collect();
        let last = found.last_key_value().map_or(0, |(launch, _)| launch + 1);
        (0..self.setting.launches.max(last)).map(|launch| found.remove(&launch)).collect()
    }

    /// The times of `above` over those of `below`, by round; `None` where fewer than two rounds have both.
    pub fn ratio(&self, above: &Key, below: &Key) -> Option<Estimated> {
        let rounds = self.rounds([above, below]).into_iter();
        let pairs: Vec<_> = rounds.map(|(launch, round, [a, b])| (launch, round, a, b)).collect();
        let point = ratio(&pairs, self.judged.confidence)?;
        let rule = self.judged.rule().without_clock();
        Some(self.of_point(&point, RATIO, rule.judge_point(&point)))
    }

    /// The distribution of a key's samples, in seconds, each divided by `parts`.
    pub fn spread(&self, key: &Key) -> Option<Spread> {
        if self.setting.is_virtual() {
            return None;
        }
        let counted = self.judged.table.batches(key).iter();
        let counted = counted.filter(|batch| self.judged.counts(key, batch));
        let samples: Vec<f64> = counted.flat_map(|batch| batch.samples.iter().copied()).collect();
        if samples.is_empty() {
            return None;
        }
        let ordered = sorted(&samples);
        let ns = |p: f64| Some(quantile_sorted(&ordered, p));
        spread(ordered.len() as u64, ns)
    }

    /// The verdict, which is always "converged" in virtual time on a machine that does not vary.
    pub fn virtual_or(&self, measured: Convergence) -> Convergence {
        if self.setting.is_virtual() && !self.setting.varies {
            Convergence::Converged
        } else {
            measured
        }
    }
}
