//! When an interval is narrow enough: one rule for all measurements.

use crate::batch::BatchEstimate;

/// Fewest batches of a measured point: an interval from fewer says little.
pub const MIN_BATCHES: usize = 5;

/// Verdict of a [`Rule`] on an estimate, ordered from worst to best, so that the minimum is the
/// verdict on what follows from several estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Convergence {
    /// The interval is too wide, or rests on too few batches.
    No,
    /// The interval is wider than requested, but within the same share of the cost of a time stamp:
    /// the clock limits it.
    ClockLimited,
    /// The interval is as narrow as requested.
    Converged,
}

impl Convergence {
    /// Whether more batches would be useless: the estimate has converged, or the clock limits it.
    pub fn is_enough(self) -> bool {
        self != Convergence::No
    }
}

impl From<bool> for Convergence {
    /// The verdict if the clock is no limit.
    fn from(converged: bool) -> Self {
        if converged { Convergence::Converged } else { Convergence::No }
    }
}

/// How narrow an interval must be.
///
/// *Formula*: converged if half-width ≤ precision · value; otherwise limited by the clock if
/// half-width ≤ precision · stamp.
/// *Units*: those of the values; the precision is a share.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rule {
    /// Half-width over value, 0.05 for 5 %.
    pub precision: f64,
    /// Cost of the time stamps around the measured interval; 0 if the clock is no limit.
    pub stamp: f64,
}

impl Rule {
    /// The rule without the limit of the clock: for quantities other than times, and for one of
    /// many operations between two stamps.
    pub fn without_clock(self) -> Rule {
        Rule { stamp: 0.0, ..self }
    }

    /// The rule for one of a few operations between two stamps: each has its share of their cost.
    pub fn for_one_of(self, operations: f64) -> Rule {
        Rule { stamp: self.stamp / operations.max(1.0), ..self }
    }

    /// The verdict on an interval of this half-width. `value` is the estimate; if that may be near
    /// zero, the quantity that it is a part of.
    pub fn judge(&self, half_width: f64, value: f64) -> Convergence {
        if half_width <= self.precision * value.abs() {
            Convergence::Converged
        } else if half_width <= self.precision * self.stamp {
            Convergence::ClockLimited
        } else {
            Convergence::No
        }
    }

    /// The verdict on the mean of repetitions that another tool measured, however few.
    pub fn judge_given(&self, point: &BatchEstimate) -> Convergence {
        self.judge(point.interval.half_width(), point.value)
    }

    /// The verdict on a measured point. It has not converged if it has fewer than [`MIN_BATCHES`]
    /// batches, or if the requested precision is 0.
    pub fn judge_point(&self, point: &BatchEstimate) -> Convergence {
        if self.precision > 0.0 && point.batches >= MIN_BATCHES {
            self.judge_given(point)
        } else {
            Convergence::No
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_one_launch(values: &[f64]) -> Vec<(u32, u64, f64)> {
        (0..).zip(values).map(|(round, value)| (0, round, *value)).collect()
    }

    fn judged(values: &[f64], precision: f64, stamp: f64) -> Convergence {
        Rule { precision, stamp }
            .judge_point(&crate::estimate(&in_one_launch(values), 0.95).unwrap())
    }

    #[test]
    fn an_interval_is_judged_by_the_value_and_then_by_the_stamp() {
        // Half-width t(4, 95 %)·√(2.5/5) = 1.963243 of a mean of 10.
        let wide = [10.0, 8.0, 12.0, 9.0, 11.0];
        assert_eq!(judged(&wide, 0.196_325, 0.0), Convergence::Converged);
        assert_eq!(judged(&wide, 0.196_323, 0.0), Convergence::No);
        // 5 % of 39.3 are 1.965, of 39.2 they are 1.96. The value and the stamp do not add up.
        assert_eq!(judged(&wide, 0.05, 39.3), Convergence::ClockLimited);
        assert_eq!(judged(&wide, 0.05, 39.2), Convergence::No);
        // A stamp that is dear makes nothing of what has converged.
        assert_eq!(judged(&wide, 0.2, 1e6), Convergence::Converged);
        let rule = Rule { precision: 0.05, stamp: 1e6 };
        assert_eq!(rule.without_clock().judge(1.0, 10.0), Convergence::No);
        assert_eq!(rule.judge(1.0, -20.0), Convergence::Converged);
        // 5 % of a stamp of 40 are 2, of a sixteenth of it 0.125.
        let rule = Rule { precision: 0.05, stamp: 40.0 };
        let of = |operations| [0.12, 0.13].map(|half| rule.for_one_of(operations).judge(half, 1.0));
        assert_eq!(of(1.0), [Convergence::ClockLimited; 2]);
        assert_eq!(of(16.0), [Convergence::ClockLimited, Convergence::No]);
    }

    #[test]
    fn a_point_takes_five_batches_and_a_precision() {
        assert_eq!(judged(&[10.0; 4], 0.2, 1e6), Convergence::No);
        // One that was given has no more than it has.
        let rule = Rule { precision: 0.2, stamp: 0.0 };
        let given = |values: &[f64]| {
            rule.judge_given(&crate::estimate(&in_one_launch(values), 0.95).unwrap())
        };
        assert_eq!(given(&[10.0; 4]), Convergence::Converged);
        assert_eq!(given(&[8.0, 12.0]), Convergence::No);
        assert_eq!(judged(&[0.0; 5], 0.01, 0.0), Convergence::Converged);
        assert_eq!(judged(&[10.0; 9], 0.0, 1e6), Convergence::No);
    }

    #[test]
    fn what_follows_from_several_is_known_as_badly_as_the_worst() {
        use Convergence::{ClockLimited, Converged, No};
        assert_eq!([Converged.min(ClockLimited), ClockLimited.min(No)], [ClockLimited, No]);
        assert_eq!([No, ClockLimited, Converged].map(Convergence::is_enough), [false, true, true]);
    }
}
