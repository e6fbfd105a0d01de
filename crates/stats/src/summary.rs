//! What a table shows of a set of samples.

use crate::interval::{Interval, quantile_interval};
use crate::quantile::{mean, quantile_sorted, sorted};

/// Order statistics and the mean of one set of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How many samples.
    pub samples: usize,
    /// The arithmetic mean of all samples; nothing is left out.
    pub mean: f64,
    /// The median.
    pub median: f64,
    /// The median's order-statistic interval; `None` where the samples are too few for it.
    pub median_interval: Option<Interval>,
    /// The smallest sample.
    pub min: f64,
    /// The quantile at 90 %.
    pub p90: f64,
    /// The quantile at 99 %.
    pub p99: f64,
    /// The quantile at 99.9 %.
    pub p99_9: f64,
    /// The largest sample.
    pub max: f64,
}

impl Summary {
    /// Summarises samples; `None` when there are none.
    ///
    /// Quantiles are those of [`quantile_sorted`], the interval that of [`quantile_interval`].
    /// *Assumes*, for the interval only, independent samples.
    ///
    /// # Panics
    /// If the confidence is not strictly between 0 and 1.
    #[must_use]
    pub fn of(samples: &[f64], confidence: f64) -> Option<Summary> {
        if samples.is_empty() {
            return None;
        }
        let ordered = sorted(samples);
        Some(Summary {
            samples: ordered.len(),
            mean: mean(&ordered),
            median: quantile_sorted(&ordered, 0.5),
            median_interval: quantile_interval(&ordered, 0.5, confidence),
            min: ordered[0],
            p90: quantile_sorted(&ordered, 0.9),
            p99: quantile_sorted(&ordered, 0.99),
            p99_9: quantile_sorted(&ordered, 0.999),
            max: ordered[ordered.len() - 1],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_to_a_thousand_and_one() {
        // h = 1000·p exactly, so each quantile is the sample 1 + 1000·p.
        let samples: Vec<f64> = (1..=1001).rev().map(f64::from).collect();
        let summary = Summary::of(&samples, 0.95).unwrap();
        assert_eq!(summary.samples, 1001);
        assert_eq!(summary.mean, 501.0);
        assert_eq!((summary.min, summary.median, summary.max), (1.0, 501.0, 1001.0));
        assert!((summary.p90 - 901.0).abs() < 1e-9);
        assert!((summary.p99 - 991.0).abs() < 1e-9);
        assert!((summary.p99_9 - 1000.0).abs() < 1e-9);
        assert!(Summary::of(&[], 0.95).is_none());
    }

    proptest! {
        #[test]
        fn order_relations(samples in prop::collection::vec(0.0..1e9f64, 1..300)) {
            let summary = Summary::of(&samples, 0.95).unwrap();
            let rising = [
                summary.min, summary.median, summary.p90, summary.p99, summary.p99_9, summary.max,
            ];
            prop_assert!(rising.is_sorted());
            prop_assert!(summary.min <= summary.mean * (1.0 + 1e-12));
            prop_assert!(summary.mean <= summary.max * (1.0 + 1e-12));
            match summary.median_interval {
                Some(interval) => {
                    prop_assert!(interval.contains(summary.median));
                    prop_assert!(summary.min <= interval.low && interval.high <= summary.max);
                }
                None => prop_assert!(samples.len() < 6),
            }
        }
    }
}
