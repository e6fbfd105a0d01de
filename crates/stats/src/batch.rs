//! From batches of samples to a point with an interval.
//!
//! Successive samples are correlated: they share caches, clock phase and disturbances. Batches are
//! much less so. Each batch becomes one value, and the interval is computed from these values only.

use crate::interval::{Interval, mean_interval};
use crate::launches::over_launches;
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
    /// Launches that the batches are of.
    pub launches: usize,
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
            launches: 1,
        })
    }

    /// The same from batch values launch by launch; of a single launch exactly [`Point::of`].
    ///
    /// *Formula*: the mean of the launches' means, each of the values inside the launch's own fence;
    /// a common fence would leave a whole launch out for being different. The interval is that of all
    /// values together, widened to t(N − 1, confidence)·s/√N over the N means ([`over_launches`]).
    /// *Units*: those of the values.
    /// *Assumes* independent launches.
    ///
    /// # Panics
    /// If the confidence is not strictly between 0 and 1.
    #[must_use]
    pub fn of_launches<'a>(
        launches: impl IntoIterator<Item = &'a [f64]>,
        confidence: f64,
    ) -> Option<Point> {
        let launches: Vec<&[f64]> = launches.into_iter().filter(|of| !of.is_empty()).collect();
        if let [one] = launches[..] {
            return Point::of(one, confidence);
        }
        let kept: Vec<Vec<f64>> = launches.iter().map(|of| inside_fence(of)).collect();
        let (all, means) = (kept.concat(), kept.iter().map(|of| mean(of)).collect::<Vec<f64>>());
        let interval = mean_interval(&all, confidence)?;
        let pooled = (mean(&all), interval);
        let (value, interval) = over_launches(pooled, &means, confidence);
        let fenced = launches.iter().map(|of| of.len()).sum::<usize>() - all.len();
        Some(Point { value, interval, batches: all.len(), fenced, launches: means.len() })
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
    fn launches_that_differ_widen_a_point_and_none_is_fenced_out() {
        // Means 10, 20 and 12: mean 14, s² = 28, half = t(2, 95 %)·√(28/3) = 4.302653·3.055050.
        let launches = [[9.0, 10.0, 11.0], [19.0, 20.0, 21.0], [11.0, 12.0, 13.0]];
        let point = Point::of_launches(launches.iter().map(|of| &of[..]), 0.95).unwrap();
        assert!((point.value - 14.0).abs() < 1e-12);
        assert!((point.interval.half_width() - 13.144_824).abs() < 1e-5, "{point:?}");
        assert_eq!((point.batches, point.fenced, point.launches), (9, 0, 3));
        // A launch at a distance that a common fence would not let pass.
        let near: Vec<Vec<f64>> =
            (0..9).map(|at| (0..6).map(|i| 10.0 + f64::from(at + i) / 10.0).collect()).collect();
        let far = vec![40.0, 40.1, 39.9, 40.0, 40.2, 90.0];
        let all = near.concat().into_iter().chain(far.clone()).collect::<Vec<f64>>();
        assert_eq!(Point::of(&all, 0.95).unwrap().fenced, 6);
        let launches = near.iter().chain([&far]).map(Vec::as_slice);
        // The far launch counts, without the batch that its own fence leaves out.
        let point = Point::of_launches(launches, 0.95).unwrap();
        assert_eq!((point.fenced, point.launches), (1, 10));
        assert!(point.interval.half_width() > 5.0, "{point:?}");
    }

    #[test]
    fn launches_that_agree_are_no_narrower_than_their_batches() {
        let launches = [[8.0, 10.0, 12.0]; 4];
        let (flat, apart) = (launches.concat(), launches.iter().map(|of| &of[..]));
        let found = Point::of_launches(apart, 0.95).unwrap();
        let pooled = Point::of(&flat, 0.95).unwrap();
        assert_eq!((found.value, found.interval), (pooled.value, pooled.interval));
        // One launch is a point as ever, whichever launch it is.
        let one: [&[f64]; 3] = [&[], &flat, &[]];
        assert_eq!(Point::of_launches(one, 0.95), Some(pooled));
        assert_eq!(Point::of_launches([], 0.95), None);
        assert_eq!(Point::of_launches([&[1.0][..]], 0.95), None);
    }
}
