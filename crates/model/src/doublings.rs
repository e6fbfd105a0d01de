//! How a time grows with each doubling of the ranks: t(P) = a + b·log₂ P.

use bandgap_stats::launches::widened;
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
    /// not that there is one, or where the intervals of the times leave it open.
    pub is_linear: Option<bool>,
}

/// Residuals up to this share of the rise from the fewest ranks to the most, as a root mean square,
/// count as those of a line.
pub const LINEAR: f64 = 0.05;

/// The time on a number of ranks, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTime {
    /// The number of ranks.
    pub ranks: u32,
    /// The time.
    pub ns: f64,
    /// Half of the width of its interval; `None` where that is not known.
    pub half_width: Option<f64>,
}

/// Fits t(P) = a + b·log₂ P to times in nanoseconds of `ranks` that are powers of two; `None` for
/// fewer than three of them.
///
/// *Formula*: least relative squares ([`regression::relative`]); the t interval of b. With r the
/// residuals, h the half-widths of the times' own intervals (both as root mean squares) and R the
/// rise, it is linear if r + h ≤ 0.05·R, and not if r − h > 0.05·R: errors of that size change r by
/// about h at most.
/// *Assumes* independent errors in proportion to the time.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
#[must_use]
pub fn doublings(times: &[RankTime], confidence: f64) -> Option<Doublings> {
    doublings_over_launches(times, &[], confidence)
}

/// The same with the rises per doubling of several launches' own fits, whose variance the interval of b
/// holds too ([`widened`]).
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
#[must_use]
pub fn doublings_over_launches(
    times: &[RankTime],
    rises: &[f64],
    confidence: f64,
) -> Option<Doublings> {
    let times = || times.iter().filter(|time| time.ranks.is_power_of_two() && time.ns > 0.0);
    let x: Vec<f64> = times().map(|time| f64::from(time.ranks.ilog2())).collect();
    let y: Vec<f64> = times().map(|time| time.ns).collect();
    let line = regression::relative(&x, &y)?;
    let squares: f64 = x.iter().zip(&y).map(|(x, y)| (1.0 - line.at(*x) / y).powi(2)).sum();
    let rms_relative = (squares / x.len() as f64).sqrt();
    let interval = widened(line.slope, line.slope_interval(confidence), rises, confidence);
    let estimator = "least relative squares of a + b·log₂P";
    let (low, high, samples) = (interval.low, interval.high, x.len());
    let off: f64 = x.iter().zip(&y).map(|(x, y)| (line.at(*x) - y).powi(2)).sum();
    let ends = x.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), x| (a.min(*x), b.max(*x)));
    let rise = line.slope * (ends.1 - ends.0);
    let halves: Option<Vec<f64>> = times().map(|time| time.half_width).collect();
    let root = |squares: f64| (squares / x.len() as f64).sqrt();
    let is_linear = halves.filter(|_| low > 0.0).and_then(|halves| {
        let (off, half) = (root(off), root(halves.iter().map(|half| half * half).sum()));
        match LINEAR * rise {
            most if off + half <= most => Some(true),
            most if off - half > most => Some(false),
            _ => None,
        }
    });
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

    /// Times with intervals of ± `half`.
    fn known(times: &[(u32, f64)], half: f64) -> Vec<RankTime> {
        let one = |&(ranks, ns): &(u32, f64)| RankTime { ranks, ns, half_width: Some(half) };
        times.iter().map(one).collect()
    }

    #[test]
    fn times_that_are_not_known_well_enough_decide_nothing() {
        // A rise of 300: 5 % of it is 15.
        let tree = [(2, 110.0), (4, 210.0), (8, 310.0), (16, 410.0)];
        let bent = [(2, 100.0), (4, 150.0), (8, 250.0), (16, 420.0), (32, 600.0)];
        for (times, is_linear) in [(&tree[..], true), (&bent, false)] {
            let with = |half| doublings(&known(times, half), 0.95).unwrap().is_linear;
            assert_eq!(
                [with(0.0), with(3.0), with(60.0)],
                [Some(is_linear), Some(is_linear), None]
            );
            let mut unknown = known(times, 0.0);
            unknown[1].half_width = None;
            assert_eq!(doublings(&unknown, 0.95).unwrap().is_linear, None);
        }
    }

    #[test]
    fn what_doubles_in_steps_is_linear_and_what_grows_with_the_ranks_is_not() {
        let of = |time: &dyn Fn(f64) -> f64| {
            let times = [2_u32, 3, 4, 8, 16].map(|ranks| (ranks, time(f64::from(ranks))));
            doublings(&known(&times, 0.0), 0.95).unwrap()
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
        let bent = doublings(&known(&[(4, 145.0), (8, 151.0), (16, 154.0)], 0.0), 0.95).unwrap();
        assert_ne!(bent.is_linear, Some(true), "{bent:?}");
        let level =
            doublings(&known(&[(2, 80.0), (4, 79.0), (8, 80.0), (16, 80.5)], 0.0), 0.95).unwrap();
        assert_eq!(level.is_linear, None, "{level:?}");
    }

    #[test]
    fn two_numbers_of_ranks_decide_nothing() {
        assert_eq!(doublings(&known(&[(2, 1.0), (4, 2.0), (6, 3.0)], 0.0), 0.95), None);
    }
}
