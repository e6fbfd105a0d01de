//! Confidence intervals from independent samples.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::quantile::{mean, variance};

/// A closed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Half of the width.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The value inside the interval that is nearest to `value`.
    pub fn nearest(&self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }

    /// Whether `value` lies inside; the ends count.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

pub(crate) fn assert_confidence(confidence: f64) {
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence lies strictly between 0 and 1");
}

/// The two-sided Student t factor: the interval is value ± factor·standard error.
///
/// `degrees` may be fractional (Welch–Satterthwaite).
///
/// # Panics
/// If the confidence is not strictly between 0 and 1, or `degrees` is not positive.
pub fn student_factor(degrees: f64, confidence: f64) -> f64 {
    assert_confidence(confidence);
    assert!(degrees > 0.0, "degrees of freedom are positive");
    if degrees > 1e4 {
        // The incomplete beta function's inverse loses digits here; the expansion about the normal
        // (Abramowitz and Stegun 26.7.5, first term) is good to 1e-8.
        let normal = normal_factor(confidence);
        return normal + normal * (normal * normal + 1.0) / (4.0 * degrees);
    }
    let student = StudentsT::new(0.0, 1.0, degrees).expect("positive degrees of freedom");
    student.inverse_cdf(0.5 + confidence / 2.0)
}

/// The two-sided normal factor, the limit of [`student_factor`] for many degrees of freedom.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
pub fn normal_factor(confidence: f64) -> f64 {
    assert_confidence(confidence);
    Normal::standard().inverse_cdf(0.5 + confidence / 2.0)
}

/// The t interval of the mean.
///
/// *Formula*: x̄ ± t(n − 1, confidence)·s/√n, s² the unbiased variance.
/// *Units*: those of the samples.
/// *Assumes* independent samples. If they are correlated, give the means of batches.
///
/// `None` for fewer than two samples.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
pub fn mean_interval(samples: &[f64], confidence: f64) -> Option<Interval> {
    assert_confidence(confidence);
    if samples.len() < 2 {
        return None;
    }
    let count = samples.len() as f64;
    Some(t_interval(mean(samples), variance(samples) / count, count - 1.0, confidence))
}

/// The t interval of an estimate with this variance and these degrees of freedom.
pub(crate) fn t_interval(value: f64, variance: f64, degrees: f64, confidence: f64) -> Interval {
    let half = student_factor(degrees, confidence) * variance.sqrt();
    Interval { low: value - half, high: value + half }
}

/// The interval of an estimate, widened to include the variance between launches.
///
/// *Formula*: each end is at least t(N − 1, confidence)·s/√N away from the estimate, where s² is
/// the unbiased variance of the N launches' own values. So the interval is never narrower than
/// `pooled`, the interval of all batches regardless of launches.
/// *Units*: those of the values.
/// *Assumes* that launches are independent and alike; s includes the variance within launches.
/// *Source*: the variance of a mean of groups is the variance of the groups' means over their
/// number, as in the one-way layout with random effects (Scheffé, "The Analysis of Variance"
/// (1959), 7.2).
///
/// With fewer than two values it is `pooled`.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
pub fn widened(value: f64, pooled: Interval, launches: &[f64], confidence: f64) -> Interval {
    let Some(between) = mean_interval(launches, confidence) else { return pooled };
    let half = between.half_width();
    Interval { low: pooled.low.min(value - half), high: pooled.high.max(value + half) }
}

/// The mean of the launches' own values, equally weighted, with its interval: `pooled`, moved from
/// `value` to that mean and [`widened`].
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

    #[test]
    fn mean_interval_of_three() {
        // Mean 2, s = 1, t(2, 95 %) = 4.302653, so half = 4.302653/√3 = 2.484138.
        let interval = mean_interval(&[1.0, 2.0, 3.0], 0.95).unwrap();
        assert!((interval.half_width() - 2.484_138).abs() < 1e-6);
        assert!(mean_interval(&[1.0], 0.95).is_none());
    }

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
