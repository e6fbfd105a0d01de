//! From several launches of one measurement to an estimate that holds the variance between them.
//!
//! Batches of a launch share its processes, and so where lines and pages lie. They are no independent
//! samples of what another launch would give: only launches are.

use crate::interval::{Interval, mean_interval};
use crate::quantile::mean;

/// The interval of an estimate, widened to hold the variance between launches.
///
/// *Formula*: each end is at least t(N − 1, confidence)·s/√N off the estimate, s² the unbiased variance
/// of the N launches' own values. So it is never narrower than `pooled`, the interval of all batches
/// without regard to launches.
/// *Units*: those of the values.
/// *Assumes* launches that are independent and alike; s holds the variance within launches too.
/// *Source*: a mean of groups has the variance of groups' means over their number, as in the one-way
/// layout with random effects (Scheffé, "The Analysis of Variance" (1959), 7.2).
///
/// With fewer than two values it is `pooled`.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
pub fn widened(value: f64, pooled: Interval, launches: &[f64], confidence: f64) -> Interval {
    let Some(between) = mean_interval(launches, confidence) else { return pooled };
    let half = between.half_width();
    pooled.hull(Interval { low: value - half, high: value + half })
}

/// The mean of the launches' own values, each of the same weight, with its interval: `pooled` moved
/// from `value` to it, and [`widened`].
///
/// With fewer than two launches it is `value` and `pooled`.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
pub fn over_launches(
    (value, pooled): (f64, Interval),
    launches: &[f64],
    confidence: f64,
) -> (f64, Interval) {
    if launches.len() < 2 {
        return (value, pooled);
    }
    let centre = mean(launches);
    let by = centre - value;
    let moved = Interval { low: pooled.low + by, high: pooled.high + by };
    (centre, widened(centre, moved, launches, confidence))
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOLED: Interval = Interval { low: 9.0, high: 13.0 };

    #[test]
    fn an_end_is_as_far_off_as_the_farther_of_pooled_and_between() {
        // Mean 11, s = 1, t(2, 95 %)/√3 = 2.484138: farther than 1 below 10, not than 3 above.
        let (value, interval) = over_launches((10.0, POOLED), &[10.0, 11.0, 12.0], 0.95);
        assert_eq!(value, 11.0);
        assert!((interval.low - (11.0 - 2.484_138)).abs() < 1e-6, "{interval:?}");
        assert_eq!(interval.high, 14.0);
        // The estimate stays where a fit put it.
        let interval = widened(10.0, POOLED, &[10.0, 11.0, 12.0], 0.95);
        assert!((interval.low - (10.0 - 2.484_138)).abs() < 1e-6, "{interval:?}");
        assert_eq!(interval.high, 13.0);
    }

    #[test]
    fn a_single_launch_changes_nothing() {
        for launches in [&[][..], &[4.0]] {
            assert_eq!(over_launches((10.0, POOLED), launches, 0.95), (10.0, POOLED));
            assert_eq!(widened(10.0, POOLED, launches, 0.95), POOLED);
        }
    }
}
