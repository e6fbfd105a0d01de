//! From batches of samples to a point with an interval.
//!
//! Successive samples are correlated (they share caches, clock phase and disturbances), batches far
//! less so. Each batch becomes one value, and the interval is computed from these values only.

use crate::interval::{Interval, student_factor};
use crate::outlier::inside_fence;
use crate::quantile::{mean, variance};

/// Samples per batch. *Source*: the LogP paper, "Small-message empirical results".
pub const BATCH: usize = 50;

/// The value of one batch: the mean of the samples inside their fence.
///
/// Never a median: where the clock steps coarsely against the measured time, the median of a batch
/// jumps from step to step, while the mean over unrelated phases resolves far below one step.
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
    /// Batches that entered `value`.
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
        if kept.len() < 2 {
            return None;
        }
        let value = mean(&kept);
        let count = kept.len() as f64;
        let half = student_factor(count - 1.0, confidence) * (variance(&kept) / count).sqrt();
        Some(Point {
            value,
            interval: Interval { low: value - half, high: value + half },
            batches: kept.len(),
            fenced: batch_values.len() - kept.len(),
        })
    }

    /// Half of the interval's width as a share of the value; infinite for the value zero with any
    /// spread.
    #[must_use]
    pub fn relative_half_width(&self) -> f64 {
        let half = self.interval.half_width();
        if half == 0.0 { 0.0 } else { half / self.value.abs() }
    }

    /// Whether the interval's half-width is within `precision` (0.05 is 5 %) of the value.
    #[must_use]
    pub fn converged(&self, precision: f64) -> bool {
        self.relative_half_width() <= precision
    }
}

/// Sees the warm-up end: the last few batches agree.
///
/// *Formula*: (max − min) ≤ tolerance·mean over the last [`WarmUp::WINDOW`] batch values.
/// *Assumes* that a cold machine's batches still differ from each other; a noisy machine may never
/// agree, so the caller bounds the number of batches and reports the missing end.
#[derive(Clone, Debug)]
pub struct WarmUp {
    tolerance: f64,
    recent: [f64; WarmUp::WINDOW],
    seen: usize,
}

impl WarmUp {
    /// How many successive batches have to agree.
    pub const WINDOW: usize = 3;

    /// Starts cold; `tolerance` is relative (0.05 is 5 %).
    #[must_use]
    pub fn new(tolerance: f64) -> WarmUp {
        WarmUp { tolerance, recent: [0.0; WarmUp::WINDOW], seen: 0 }
    }

    /// Takes the next batch value; answers whether the warm-up has ended with it.
    pub fn push(&mut self, batch_value: f64) -> bool {
        self.recent[self.seen % Self::WINDOW] = batch_value;
        self.seen += 1;
        self.ended()
    }

    /// Whether the last batches agree.
    #[must_use]
    pub fn ended(&self) -> bool {
        if self.seen < Self::WINDOW {
            return false;
        }
        let high = self.recent.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let low = self.recent.iter().copied().fold(f64::INFINITY, f64::min);
        high - low <= self.tolerance * mean(&self.recent).abs()
    }

    /// Batches taken so far.
    #[must_use]
    pub fn batches(&self) -> usize {
        self.seen
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
        assert!((point.relative_half_width() - 0.196_324).abs() < 1e-6);
        assert!(point.converged(0.2));
        assert!(!point.converged(0.19));
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

    #[test]
    fn warm_up_ends_when_batches_agree() {
        let mut warm_up = WarmUp::new(0.05);
        let ended: Vec<bool> =
            [400.0, 180.0, 120.0, 102.0, 101.0, 100.0].map(|value| warm_up.push(value)).into();
        // 120, 102, 101 still spread by 18 %; 102, 101, 100 by 2 %.
        assert_eq!(ended, [false, false, false, false, false, true]);
        assert_eq!(warm_up.batches(), 6);
        assert!(!warm_up.push(150.0));
    }
}
