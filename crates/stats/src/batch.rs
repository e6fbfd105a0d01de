//! From batches of samples to a point with an interval.
//!
//! Successive samples are correlated: they share caches, clock phase and disturbances. Batches are
//! much less so. Each batch becomes one value, and the interval is computed from these values only.

use crate::interval::{Interval, mean_interval};
use crate::outlier::inside_fence;
use crate::quantile::mean;

/// Samples per batch. *Source*: the LogP paper, "Small-message empirical results".
pub const BATCH: usize = 50;

/// The value of one batch: the mean of the samples inside their fence.
///
/// Not a median: where the clock's step is long beside the measured time, the median of a batch jumps
/// from step to step. The mean of many samples resolves much less than one step.
///
/// # Panics
/// If the batch is empty.
#[must_use]
pub fn batch_value(samples: &[f64]) -> f64 {
    mean(&inside_fence(samples))
}

/// An estimate over batch values.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Mean of the batch values inside their fence.
    pub value: f64,
    /// The t interval of `value`.
    pub interval: Interval,
    /// Batches in `value`.
    pub batches: usize,
    /// Batches left out by the fence.
    pub fenced: usize,
}

impl Point {
    /// Estimates the common mean of batch values; `None` for fewer than two.
    ///
    /// *Formula*: x̄ ± t(n − 1, confidence)·s/√n over the values inside the fence.
    /// *Units*: those of the values.
    /// *Assumes* independent batches of one machine state.
    ///
    /// # Panics
    /// If the confidence is not strictly between 0 and 1.
    #[must_use]
    pub fn of(batch_values: &[f64], confidence: f64) -> Option<Point> {
        if batch_values.len() < 2 {
            return None;
        }
        let kept = inside_fence(batch_values);
        Some(Point {
            value: mean(&kept),
            interval: mean_interval(&kept, confidence)?,
            batches: kept.len(),
            fenced: batch_values.len() - kept.len(),
        })
    }

    /// Whether the interval's half-width is within `precision` (0.05 is 5 %) of the value.
    #[must_use]
    pub fn converged(&self, precision: f64) -> bool {
        let half = self.interval.half_width();
        half == 0.0 || half / self.value.abs() <= precision
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_clock_is_resolved_by_the_mean() {
        // Steps of 10 over a true 43: three in ten samples read 50, seven read 40.
        let batch: Vec<f64> = (0..50).map(|i| if i % 10 < 3 { 50.0 } else { 40.0 }).collect();
        assert!((batch_value(&batch) - 43.0).abs() < 1e-12);
    }

    #[test]
    fn interrupt_does_not_move_the_batch() {
        let mut batch = vec![100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 100.0, 101.0, 99.0];
        batch.push(25_000.0);
        assert!((batch_value(&batch) - 100.0).abs() < 1e-12);
    }

    #[test]
    fn point_of_known_values() {
        // Mean 10, s² = 2.5, n = 5: half = t(4, 95 %)·√(2.5/5) = 2.776445·0.707107 = 1.963243.
        let point = Point::of(&[8.0, 9.0, 10.0, 11.0, 12.0], 0.95).unwrap();
        assert_eq!(point.value, 10.0);
        assert!((point.interval.half_width() - 1.963_243).abs() < 1e-6);
        assert!(point.converged(0.196_325));
        assert!(!point.converged(0.196_323));
        assert_eq!((point.batches, point.fenced), (5, 0));
    }

    #[test]
    fn point_leaves_a_disturbed_batch_out() {
        let values = [10.0, 10.1, 9.9, 10.0, 10.2, 9.8, 47.0];
        let point = Point::of(&values, 0.95).unwrap();
        assert_eq!((point.batches, point.fenced), (6, 1));
        assert!((point.value - 10.0).abs() < 1e-12);
        assert!(Point::of(&[1.0], 0.95).is_none());
    }

    #[test]
    fn zero_spread_has_converged() {
        assert!(Point::of(&[0.0; 5], 0.95).unwrap().converged(0.01));
    }
}
