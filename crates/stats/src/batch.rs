//! Reduces batches of samples to a point with an interval.
//!
//! Successive samples are correlated: they share caches, clock phase and disturbances. Batches are
//! much less correlated. Each batch becomes one value, and the interval is computed from these
//! values only.

use crate::interval::Interval;
use crate::outlier::inside_fence;
use crate::quantile::mean;

/// Samples per batch. *Source*: the LogP paper, "Small-message empirical results".
pub const BATCH: usize = 50;

/// The value of one batch: the mean of the samples inside their fence.
///
/// Not a median: if the clock's step is not short compared with the measured time, the median of a
/// batch jumps from step to step. The mean of many samples resolves much less than one step.
///
/// # Panics
/// If the batch is empty.
pub fn batch_value(samples: &[f64]) -> f64 {
    mean(&inside_fence(samples))
}

/// An estimate over batch values.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchEstimate {
    /// The estimate.
    pub value: f64,
    /// Confidence interval of the estimate.
    pub interval: Interval,
    /// Number of batches behind `value`.
    pub batches: usize,
    /// The value of each launch by itself, by its number; of one that has several values their mean inside their fence.
    pub launches: Vec<(u32, f64)>,
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
}
