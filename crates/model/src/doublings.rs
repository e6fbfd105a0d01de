//! How a time grows with each doubling of the ranks: t(P) = a + b·log₂ P.

use bandgap_stats::regression;

use crate::signature::Estimate;

/// A fit of t(P) = a + b·log₂ P over powers of two.
#[derive(Clone, Debug, PartialEq)]
pub struct Doublings {
    /// b, the time of each doubling, in nanoseconds.
    pub per_doubling: Estimate,
    /// a, in nanoseconds; it may be negative.
    pub constant: f64,
    /// Root mean square of the relative residuals.
    pub rms_relative: f64,
    /// Whether the residuals are within [`LINEAR`] of the rise; `None` where the interval of b says
    /// not that there is one.
    pub is_linear: Option<bool>,
}

/// Residuals up to this share of the rise from the fewest ranks to the most, as a root mean square,
/// count as those of a line.
pub const LINEAR: f64 = 0.05;

/// Fits t(P) = a + b·log₂ P to times in nanoseconds of `ranks` that are powers of two; `None` for
/// fewer than three of them.
///
/// *Formula*: least relative squares ([`regression::relative`]); the t interval of b.
/// *Assumes* independent errors in proportion to the time.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
#[must_use]
pub fn doublings(times: &[(u32, f64)], confidence: f64) -> Option<Doublings> {
    let times = || times.iter().filter(|(ranks, time)| ranks.is_power_of_two() && *time > 0.0);
    let x: Vec<f64> = times().map(|(ranks, _)| f64::from(ranks.ilog2())).collect();
    let y: Vec<f64> = times().map(|(_, time)| *time).collect();
    let line = regression::relative(&x, &y)?;
    let squares: f64 = x.iter().zip(&y).map(|(x, y)| (1.0 - line.at(*x) / y).powi(2)).sum();
    let rms_relative = (squares / x.len() as f64).sqrt();
    let interval = line.slope_interval(confidence);
    let estimator = "least relative squares of a + b·log₂P";
    let (low, high, samples) = (interval.low, interval.high, x.len());
    let off: f64 = x.iter().zip(&y).map(|(x, y)| (line.at(*x) - y).powi(2)).sum();
    let ends = x.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), x| (a.min(*x), b.max(*x)));
    let rise = line.slope * (ends.1 - ends.0);
    let is_linear = (low > 0.0).then(|| (off / x.len() as f64).sqrt() <= LINEAR * rise);
    Some(Doublings {
        per_doubling: Estimate { value: line.slope, low, high, samples, estimator },
        constant: line.intercept,
        rms_relative,
        is_linear,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_doubles_in_steps_is_linear_and_what_grows_with_the_ranks_is_not() {
        let of = |time: &dyn Fn(f64) -> f64| {
            let times = [2_u32, 3, 4, 8, 16].map(|ranks| (ranks, time(f64::from(ranks))));
            doublings(&times, 0.95).unwrap()
        };
        let tree = of(&|ranks| 10.0 + 79.0 * ranks.log2());
        assert!(
            tree.is_linear == Some(true) && (tree.per_doubling.value - 79.0).abs() < 1e-9,
            "{tree:?}"
        );
        // Three ranks are no power of two, and do not count.
        assert_eq!((tree.per_doubling.samples, tree.constant.round()), (4, 10.0));
        let linear = of(&|ranks| 79.0 * (ranks - 1.0));
        assert_ne!(linear.is_linear, Some(true), "{linear:?}");
        // What hardly rises is not linear for that: it bends, or says nothing.
        let bent = doublings(&[(4, 145.0), (8, 151.0), (16, 154.0)], 0.95).unwrap();
        assert_ne!(bent.is_linear, Some(true), "{bent:?}");
        let level = doublings(&[(2, 80.0), (4, 79.0), (8, 80.0), (16, 80.5)], 0.95).unwrap();
        assert_eq!(level.is_linear, None, "{level:?}");
    }

    #[test]
    fn two_numbers_of_ranks_decide_nothing() {
        assert_eq!(doublings(&[(2, 1.0), (4, 2.0), (6, 3.0)], 0.95), None);
    }
}
