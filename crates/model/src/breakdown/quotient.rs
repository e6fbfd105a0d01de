//! Intervals of quotients whose two values may have errors in common.

/// How far a quotient may be off. All in shares of its denominator.
///
/// *Formula*: θ is in the interval of p/w if p − θw may be 0 within its own, which has the variances and the
/// covariance of both. *Source*: Fieller, "Some Problems in Interval Estimation" (1954).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Off {
    /// The standard deviation of p − (p/w)·w, the quotient being held: that of the quotient where w is well known.
    pub deviation: f64,
    /// The standard deviation of w.
    pub of_whole: f64,
    /// The covariance of p − (p/w)·w and w.
    pub common: f64,
}

impl Off {
    /// The interval of a quotient, so many standard deviations to either side; `None` where that of the denominator
    /// holds 0, so that the quotient may be anything.
    pub fn ends(&self, quotient: f64, factor: f64) -> Option<(f64, f64)> {
        let square = factor * factor;
        let left = 1.0 - square * self.of_whole * self.of_whole;
        if left.is_nan() || left <= 0.0 {
            return None;
        }
        // Of x²·left + 2x·middle − (f·deviation)² = 0, where x is the distance from the quotient.
        let middle = square * self.common;
        let reach = middle.hypot(left.sqrt() * factor * self.deviation);
        let end = |root: f64| quotient + (root - middle) / left;
        let (low, high) = (end(-reach), end(reach));
        (low.is_finite() && high.is_finite()).then_some((low, high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_where_what_is_left_may_be_nothing() {
        // p = 3 ± 0.4 and w = 10 ± 2, independent: (p − θw)² = 4·(0.16 + 4θ²) at both ends, two deviations.
        let variance: f64 = 0.16 + 4.0 * 0.09;
        let off =
            Off { deviation: variance.sqrt() / 10.0, of_whole: 0.2, common: -0.3 * 4.0 / 100.0 };
        let (low, high) = off.ends(0.3, 2.0).unwrap();
        for end in [low, high] {
            let left: f64 = (3.0 - 10.0 * end).powi(2) - 4.0 * (0.16 + 4.0 * end * end);
            assert!(left.abs() < 1e-12, "{end}: {left}");
        }
        assert!(low < 0.3 && high > 0.3);
        // 10 ± 5: two of them reach to 0.
        assert_eq!(Off { of_whole: 0.5, ..off }.ends(0.3, 2.0), None);
        let exact = Off { deviation: 0.0, of_whole: 0.2, common: 0.0 };
        assert_eq!(exact.ends(0.3, 2.0), Some((0.3, 0.3)));
    }
}
