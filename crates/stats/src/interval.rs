//! Confidence intervals from independent samples.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

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
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The least interval that contains both.
    #[must_use]
    pub fn hull(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// What of it is nearest to `value`.
    #[must_use]
    pub fn nearest(&self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }

    /// Whether `value` lies inside; the ends count.
    #[must_use]
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
#[must_use]
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
#[must_use]
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
#[must_use]
pub fn mean_interval(samples: &[f64], confidence: f64) -> Option<Interval> {
    assert_confidence(confidence);
    if samples.len() < 2 {
        return None;
    }
    let count = samples.len() as f64;
    Some(t_interval(mean(samples), variance(samples) / count, count - 1.0, confidence))
}

/// The t interval of an estimate with this variance, which has so many degrees of freedom.
pub(crate) fn t_interval(value: f64, variance: f64, degrees: f64, confidence: f64) -> Interval {
    let half = student_factor(degrees, confidence) * variance.sqrt();
    Interval { low: value - half, high: value + half }
}

/// The distribution-free interval of the quantile at probability `p`, as ranks from one among `count` ascending samples.
///
/// *Formula*: the order statistics of ranks l and u (from one), l the largest and u the smallest
/// rank with P(B < l) ≤ α/2 and P(B ≥ u) ≤ α/2, where B is binomial(n, p) and α = 1 − confidence.
/// *Units*: those of the samples.
/// *Assumes* independent samples of one continuous distribution; ties make it conservative.
/// *Source*: David and Nagaraja, "Order Statistics" (2003), section 7.1.
///
/// `None` where the samples are too few for the confidence (the median at 95 % needs six).
///
/// Above [`MANY`] samples the binomial is taken as the normal distribution with its mean and variance.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1, or `p` outside 0..=1.
#[must_use]
pub fn quantile_ranks(count: u64, p: f64, confidence: f64) -> Option<(u64, u64)> {
    assert_confidence(confidence);
    assert!((0.0..=1.0).contains(&p), "a probability lies in 0..=1");
    if count == 0 {
        return None;
    }
    let (lower, upper) = if count > MANY {
        let (n, reach) = (count as f64, normal_factor(confidence));
        let deviation = (n * p * (1.0 - p)).sqrt();
        let lower = (n * p - reach * deviation).floor().max(0.0);
        (lower as u64, (n * p + reach * deviation).ceil() as u64 + 1)
    } else {
        let tail = (1.0 - confidence) / 2.0;
        let below = Binomial::new(p, count).expect("p is a probability");
        // The smallest k with P(B ≤ k) > tail; then P(B < k) ≤ tail, so rank k is the lower end.
        let lower = first_rank(count, |k| below.cdf(k) > tail);
        // The smallest k with P(B ≥ k + 1) ≤ tail; rank k + 1 is the upper end.
        (lower, first_rank(count, |k| below.sf(k) <= tail) + 1)
    };
    (lower >= 1 && upper <= count).then_some((lower, upper))
}

/// Above so many samples the binomial's incomplete beta function no longer converges in all places, and the
/// normal distribution is good to a rank in a thousand of the interval's width.
pub const MANY: u64 = 10_000;

/// The smallest k in 0..=count for which the monotone `holds` is true.
fn first_rank(count: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn mean_interval_of_three() {
        // Mean 2, s = 1, t(2, 95 %) = 4.302653, so half = 4.302653/√3 = 2.484138.
        let interval = mean_interval(&[1.0, 2.0, 3.0], 0.95).unwrap();
        assert!((interval.half_width() - 2.484_138).abs() < 1e-6);
        assert!(mean_interval(&[1.0], 0.95).is_none());
    }

    #[test]
    fn median_interval_ranks() {
        // n = 10, p = 1/2: P(B ≤ 1) = 11/1024 = 1.07 % ≤ 2.5 % < P(B ≤ 2) = 5.5 %, so ranks 2, 9.
        assert_eq!(quantile_ranks(10, 0.5, 0.95), Some((2, 9)));
    }

    #[test]
    fn median_needs_six() {
        // 2·(1/2)^5 = 6.25 % of all fives lie on one side of the median, 3.1 % of all sixes.
        let of = |count| quantile_ranks(count, 0.5, 0.95);
        assert_eq!([of(0), of(5), of(6)], [None, None, Some((1, 6))]);
    }

    proptest! {
        #[test]
        fn median_ranks_hold_the_median(count in 1..300u64) {
            match quantile_ranks(count, 0.5, 0.95) {
                Some((low, high)) => {
                    prop_assert!(1 <= low && 2 * low <= count + 1);
                    prop_assert!(high <= count && 2 * high > count);
                }
                None => prop_assert!(count < 6),
            }
        }
    }

    #[test]
    fn of_many_samples_the_ranks_are_those_of_the_normal_distribution() {
        // n/2 ± 1.96·√n/2 = 500 000 ± 980 of a million; where the two ways meet, they agree.
        assert_eq!(quantile_ranks(1_000_000, 0.5, 0.95), Some((499_020, 500_981)));
        let (exact, normal) =
            (quantile_ranks(MANY, 0.9, 0.95), quantile_ranks(MANY + 1, 0.9, 0.95));
        let ((low, high), (lower, higher)) = (exact.unwrap(), normal.unwrap());
        assert!(low.abs_diff(lower) <= 2 && high.abs_diff(higher) <= 2, "{exact:?} {normal:?}");
        assert_eq!(quantile_ranks(0, 0.5, 0.95), None);
    }

    #[test]
    fn high_quantile_is_not_symmetric() {
        // n = 100, p = 0.9, from scipy's binomial quantiles: ranks 84 and 96 (see
        // tests/reference/intervals.py).
        assert_eq!(quantile_ranks(100, 0.9, 0.95), Some((84, 96)));
    }
}
