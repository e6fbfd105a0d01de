//! Batches and the distribution of their samples, as they are recorded.

use bandgap_campaign::data;
use bandgap_campaign::judge::Judged;
use bandgap_record::{Convergence, Evidence, Quantity, Seconds};
use bandgap_stats::interval::quantile_interval;
use bandgap_stats::launches::widened;
use bandgap_stats::quantile::{mean, median, quantile_sorted, sorted};
use bandgap_stats::{Interval, Rule};
use bandgap_units::Ns;
use serde::{Deserialize, Serialize};

use crate::error::AssembleError;
use crate::measured::state::State;

/// Samples taken one after another, between two probes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Elapsed times.
    pub samples: Vec<Seconds>,
    /// Label of the machine state it was taken in.
    pub state: String,
    /// The cache-line probe before and after.
    pub probe: Option<[Seconds; 2]>,
    /// The pace before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<[Seconds; 2]>,
    /// Δ measured by itself around the batch; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Seconds>,
    /// Which launch of the processes.
    pub launch: u32,
    /// In which round of that launch: batches of one round, of all points, are neighbours in time. Absent
    /// where there were no rounds, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// Why it counts for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<String>,
}

impl Batch {
    /// A batch as it was measured.
    pub(crate) fn of(batch: &data::Batch, judged: &Judged<'_>) -> Batch {
        let state = if judged.states().states().is_empty() {
            State::only().label
        } else {
            judged.name(judged.state(batch)).unwrap_or_else(|| "unknown".to_owned())
        };
        Batch {
            samples: batch.samples.iter().map(|ns| round(*ns)).collect(),
            state,
            probe: batch.probe.map(|probe| probe.map(|probe| round(probe.cache_line))),
            pace: batch.probe.map(|probe| probe.map(|probe| round(probe.pace))),
            delay: batch.delay.map(round),
            launch: batch.launch,
            round: Some(batch.round),
            rejected: batch.rejected.clone(),
        }
    }

    /// Whether its samples count in the state of this name.
    pub(crate) fn counts_in(&self, state: &str) -> bool {
        self.rejected.is_none() && self.state == state
    }

    /// Times that somebody else measured.
    pub(crate) fn tabled(times_ns: &[f64]) -> Batch {
        Batch {
            samples: times_ns.iter().map(|time| Ns(*time).into()).collect(),
            state: State::only().label,
            ..Batch::default()
        }
    }
}

/// A time to the picosecond: the clock tells no more.
fn round(ns: f64) -> Seconds {
    Seconds::from(Ns((ns * 1e3).round() / 1e3))
}

/// A distribution in a few numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The papers' estimator.
    pub mean: Seconds,
    /// The median with its interval.
    pub median: Quantity,
    /// Smallest sample.
    pub min: Seconds,
    /// 90th percentile.
    pub p90: Seconds,
    /// 99th percentile.
    pub p99: Seconds,
    /// 99.9th percentile.
    pub p999: Seconds,
    /// Largest sample.
    pub max: Seconds,
    /// Number of samples.
    pub samples: u64,
}

impl Summary {
    /// The distribution of samples in nanoseconds, in batches, launch by launch.
    ///
    /// Samples of a batch are no independent ones. So the interval of the median is that of the batches'
    /// medians, and holds the median of all samples; of several launches it holds the variance of theirs.
    pub(crate) fn of_launches(
        launches: &[Vec<&[f64]>],
        confidence: f64,
        rule: Rule,
    ) -> Result<Summary, AssembleError> {
        let samples: Vec<Vec<f64>> = launches.iter().map(|batches| batches.concat()).collect();
        let mut summary = Summary::of(&samples.concat(), confidence, rule)?;
        let medians: Vec<f64> = launches.iter().flatten().map(|batch| median(batch)).collect();
        let value = Ns::from_secs(summary.median.value.0).0;
        let of_batches = quantile_interval(&sorted(&medians), 0.5, confidence);
        let own: Vec<f64> = samples.iter().map(|samples| median(samples)).collect();
        let interval = of_batches.map(|within| {
            let within = within.hull(Interval { low: value, high: value });
            widened(value, within, &own, confidence)
        });
        let estimator = match (&interval, own.len()) {
            (None, _) => "median, of too few batches for an interval",
            (Some(_), 0 | 1) => "median, order-statistic interval over the batches' medians",
            _ => {
                "median, the wider of the order-statistic interval over the batches' medians and the t \
                 interval over the launches'"
            }
        };
        let judge = |interval: &Interval| rule.judge(interval.half_width(), value);
        let convergence = interval.as_ref().map_or(Convergence::No, judge);
        let by = Evidence::new(estimator, summary.samples, convergence);
        let interval = interval.map(|i| (Ns(i.low), Ns(i.high)));
        summary.median = Quantity::time(Ns(value), interval, by)?;
        Ok(summary)
    }

    /// The distribution of independent samples in nanoseconds.
    pub(crate) fn of(
        samples: &[f64],
        confidence: f64,
        rule: Rule,
    ) -> Result<Summary, AssembleError> {
        if samples.is_empty() {
            return Err(AssembleError::Empty);
        }
        let ordered = sorted(samples);
        let at = |p: f64| Ns(quantile_sorted(&ordered, p));
        let interval = quantile_interval(&ordered, 0.5, confidence);
        let judge = |interval: &Interval| rule.judge(interval.half_width(), at(0.5).0);
        let convergence = interval.as_ref().map_or(Convergence::No, judge);
        let interval = interval.map(|i| (Ns(i.low), Ns(i.high)));
        let count = ordered.len() as u64;
        let by = Evidence::new("median, order-statistic interval over samples", count, convergence);
        Ok(Summary {
            mean: Ns(mean(&ordered)).into(),
            median: Quantity::time(at(0.5), interval, by)?,
            min: at(0.0).into(),
            p90: at(0.9).into(),
            p99: at(0.99).into(),
            p999: at(0.999).into(),
            max: at(1.0).into(),
            samples: count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::examples::RULE;

    #[test]
    fn one_to_a_thousand_and_one() {
        // h = 1000·p exactly, so each quantile is the sample 1 + 1000·p.
        let samples: Vec<f64> = (1..=1001).rev().map(f64::from).collect();
        let summary = Summary::of(&samples, 0.95, RULE).unwrap();
        let Summary { mean, min, p90, p99, p999, max, samples, median } = summary;
        assert_eq!((samples, median.samples), (1001, 1001));
        let median = median.as_time().unwrap().into();
        for (found, expected) in [
            (mean, 501.0),
            (median, 501.0),
            (min, 1.0),
            (p90, 901.0),
            (p99, 991.0),
            (p999, 1000.0),
            (max, 1001.0),
        ] {
            assert!((found.ns().0 - expected).abs() < 1e-9, "{found:?} is not {expected} ns");
        }
        assert!(Summary::of(&[], 0.95, RULE).is_err());
    }

    #[test]
    fn the_median_is_as_uncertain_as_the_medians_of_batches() {
        // Nine batches, each of the same time fifty times: nine values, and not 450.
        let batches: Vec<Vec<f64>> = (1..=9).map(|i| vec![100.0 + f64::from(i); 50]).collect();
        let of = |count: usize| {
            let launch: Vec<&[f64]> = batches[..count].iter().map(Vec::as_slice).collect();
            Summary::of_launches(&[launch], 0.95, RULE).unwrap()
        };
        let ends = |of: &Summary| {
            let (low, high) = of.median.interval().unwrap();
            [low, high].map(|seconds| (seconds * 1e9).round())
        };
        let nine = of(9);
        // Of nine values the second and the eighth.
        assert_eq!((nine.median.as_time().unwrap(), ends(&nine)), (Ns(105.0), [102.0, 108.0]));
        assert_eq!(nine.samples, 450);
        assert_eq!(of(4).median.interval(), None);
    }
}
