//! How far rounding of the times may have moved a line.

use bandgap_stats::interval::Interval;
use bandgap_stats::line::Influence;
use bandgap_stats::regression::Regression;

/// Bound on the effect of rounding on a line's parameters.
///
/// Times that are rounded alike all deviate in the same direction, and do not scatter. So this is a
/// bound, not a standard deviation.
pub(super) struct Moved {
    pub(super) intercept: f64,
    pub(super) slope: f64,
    pub(super) ratio: f64,
}

impl Moved {
    /// *Formula*: Σ|cᵢ|·sᵢ, where s is half the width of a range and c the effect of one unit of a
    /// time on the intercept, on the slope, or (divided by the slope) on intercept − ρ·slope: the
    /// [`Influence`] for the line's weights.
    pub(super) fn of(x: &[f64], ranges: &[Interval], line: &Regression) -> Moved {
        let ratio = line.intercept / line.slope;
        let mut moved = Moved { intercept: 0.0, slope: 0.0, ratio: 0.0 };
        let Some(influence) = Influence::of(x, &line.weights) else { return moved };
        for ((slope, intercept), range) in
            influence.slope.iter().zip(&influence.intercept).zip(ranges)
        {
            let half = range.half_width();
            moved.intercept += intercept.abs() * half;
            moved.slope += slope.abs() * half;
            moved.ratio += ((intercept - ratio * slope) / line.slope).abs() * half;
        }
        moved
    }
}

/// Adds the bound to an interval. Scatter and rounding are independent: the distance of each end
/// becomes the root of the sum of both squares.
pub(super) fn widened(value: f64, interval: Interval, by: f64) -> Interval {
    Interval {
        low: value - (value - interval.low).hypot(by),
        high: value + (interval.high - value).hypot(by),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bandgap_stats::regression::{ordinary, relative};

    #[test]
    fn no_rounding_moves_a_line_further() {
        let x = [0.0, 10.0, 40.0, 100.0, 300.0];
        let half = [5.0, 5.0, 5.0, 10.0, 20.0];
        let y = [1000.0, 1012.0, 1037.0, 1105.0, 1290.0];
        type Fit = fn(&[f64], &[f64]) -> Option<Regression>;
        let fits: [Fit; 2] = [ordinary, |x, y| {
            let exact: Vec<Interval> = y.iter().map(|&y| Interval { low: y, high: y }).collect();
            relative(x, y, &[0.0; 5], &exact)
        }];
        let range = |(y, half): (&f64, &f64)| Interval { low: y - half, high: y + half };
        let ranges: Vec<Interval> = y.iter().zip(&half).map(range).collect();
        for fit in fits {
            let line = fit(&x, &y).unwrap();
            let moved = Moved::of(&x, &ranges, &line);
            // Every way to be off by half a step up or down.
            let mut most = [0.0_f64; 3];
            for signs in 0..32 {
                let off = |i: usize| if signs >> i & 1 == 1 { half[i] } else { -half[i] };
                let y: Vec<f64> = y.iter().enumerate().map(|(i, y)| y + off(i)).collect();
                let other = fit(&x, &y).unwrap();
                let ratio = |line: &Regression| line.intercept / line.slope;
                let by = [
                    other.intercept - line.intercept,
                    other.slope - line.slope,
                    ratio(&other) - ratio(&line),
                ];
                for (most, by) in most.iter_mut().zip(by) {
                    *most = most.max(by.abs());
                }
            }
            // The bound is reached; in the relative fit the weights move a little too, and a ratio is
            // not quite linear.
            let close = |found: f64, bound: f64, by: f64| (found / bound - 1.0).abs() < by;
            assert!(close(most[0], moved.intercept, 0.02), "{most:?} {}", moved.intercept);
            assert!(close(most[1], moved.slope, 0.05), "{most:?} {}", moved.slope);
            assert!(close(most[2], moved.ratio, 0.15), "{most:?} {}", moved.ratio);
        }
    }

    #[test]
    fn exact_times_widen_nothing() {
        let interval = Interval { low: 1.0, high: 4.0 };
        assert_eq!(widened(2.0, interval, 0.0), interval);
        // Three from scatter and four from steps are five.
        let wide = widened(2.0, Interval { low: -1.0, high: 5.0 }, 4.0);
        assert_eq!((wide.low, wide.high), (-3.0, 7.0));
    }
}
