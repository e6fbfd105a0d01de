//! How a time grows with the number of ranks or the size of a problem: t(x) = a + b·f(x).

use bandgap_stats::interval::widened;
use bandgap_stats::{Interval, Regression, regression};
use derive_more::Display;

use crate::hockney::off_the_line;
use crate::signature::Estimate;

/// A law of growth.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq)]
#[display(rename_all = "lowercase")]
pub enum Law {
    /// With ⌈log₂ x⌉, the rounds of a tree.
    Logarithmic,
    /// With x.
    Linear,
    /// With x².
    Quadratic,
}

impl Law {
    /// All laws.
    pub const ALL: [Law; 3] = [Law::Logarithmic, Law::Linear, Law::Quadratic];

    /// f(x).
    pub fn of(self, x: f64) -> f64 {
        match self {
            Law::Logarithmic => x.log2().ceil(),
            Law::Linear => x,
            Law::Quadratic => x * x,
        }
    }
}

/// The only one of the candidate laws that the times follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// f in a + b·f(x).
    pub law: Law,
    /// b, in nanoseconds; its interval is above 0.
    pub slope: Estimate,
    /// a, in nanoseconds.
    pub intercept: f64,
}

/// Largest root mean square of the relative residuals, and how many times larger that of every
/// other law must be.
const MISSED: f64 = 0.1;
const TIMES: f64 = 2.0;

/// The only one of `laws` that the times over x follow; `None` if no law or several fit.
///
/// *Formula*: least relative squares of a + b·f(x) for each law ([`regression::relative`]). Times
/// follow the law with the least root mean square r of relative residuals if r is at most 10 %,
/// every other law has at least 2·r, and the interval of b is above 0. That is the t interval; with
/// several `launches`, whose points are also in `points`, it is [`widened`] by the slopes of the
/// same law over each launch.
/// *Units*: nanoseconds.
/// *Assumes* independent errors proportional to the time; launches that are independent and alike.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
pub fn growth(
    points: &[(f64, f64)],
    launches: &[Vec<(f64, f64)>],
    laws: &[Law],
    confidence: f64,
) -> Option<Growth> {
    let usable =
        |&(x, time): &(f64, f64)| x > 0.0 && x.is_finite() && time > 0.0 && time.is_finite();
    if !points.iter().all(usable) {
        return None;
    }
    let mut fits: Vec<(f64, Law, Regression)> = laws
        .iter()
        .map(|law| {
            let line = line(*law, points)?;
            let off = |(x, time): &(f64, f64)| {
                off_the_line(*time, line.at(law.of(*x))).map_or(f64::INFINITY, |off| off.powi(2))
            };
            let rms = (points.iter().map(off).sum::<f64>() / points.len() as f64).sqrt();
            Some((rms, *law, line))
        })
        .collect::<Option<_>>()?;
    fits.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (best, others) = fits.split_first()?;
    let (rms_relative, law, line_of_all) = best;
    // A difference of the size of rounding does not count.
    let is_clear = |(rms, ..): &(f64, Law, Regression)| *rms > (TIMES * rms_relative).max(1e-9);
    if *rms_relative > MISSED || !others.iter().all(is_clear) {
        return None;
    }
    let each = launches.iter().filter(|_| launches.len() > 1);
    let own: Vec<f64> = each.filter_map(|points| Some(line(*law, points)?.slope)).collect();
    let value = line_of_all.slope;
    let Interval { low, high } =
        widened(value, line_of_all.slope_interval(confidence), &own, confidence);
    let (samples, estimator) = (points.len(), "least relative squares of a + b·f(x)");
    let slope = Estimate { value, low, high, samples, estimator };
    (low > 0.0).then_some(Growth { law: *law, slope, intercept: line_of_all.intercept })
}

fn line(law: Law, points: &[(f64, f64)]) -> Option<Regression> {
    let (x, times): (Vec<f64>, Vec<f64>) =
        points.iter().map(|(x, time)| (law.of(*x), *time)).unzip();
    let exact: Vec<Interval> = times.iter().map(|&at| Interval { low: at, high: at }).collect();
    regression::relative(&x, &times, &vec![0.0; x.len()], &exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAWS: [Law; 3] = Law::ALL;

    fn points(time: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        [2.0, 4.0, 8.0, 16.0, 32.0].map(|x| (x, time(x))).to_vec()
    }

    #[test]
    fn exact_laws_are_found_with_their_numbers() {
        for law in LAWS {
            let found = growth(&points(|x| 50.0 + 3.0 * law.of(x)), &[], &LAWS, 0.95).unwrap();
            assert_eq!(found.law, law);
            assert!((found.slope.value - 3.0).abs() < 1e-6, "{found:?}");
        }
        // Three ranks take a tree as many rounds as four.
        assert_eq!(Law::Logarithmic.of(3.0), 2.0);
    }

    #[test]
    fn what_follows_no_law_or_hardly_rises_has_none() {
        let none = |points: &[(f64, f64)]| assert_eq!(growth(points, &[], &LAWS, 0.95), None);
        none(&points(|x| 50.0 + x.powf(1.5)));
        none(&points(|x| 80.0 + if x == 4.0 { 1.0 } else { 0.0 }));
        none(&points(|x| 500.0 - x));
        none(&points(|x| if x.log2() % 2.0 == 0.0 { 100.0 } else { 900.0 }));
        none(&points(|_| 0.0));
        none(&[(2.0, 5.0), (4.0, 6.0)]);
    }

    #[test]
    fn launches_whose_slopes_differ_widen_the_interval() {
        let whole = points(|x| 100.0 + 5.0 * x);
        let of = |slopes: [f64; 3]| {
            let launches = slopes.map(|slope| points(|x| 100.0 + slope * x));
            growth(&whole, &launches, &LAWS, 0.95)
        };
        // Half-width t(2, 95 %)·s/√3 = 2.484138 s.
        let found = of([4.0, 5.0, 6.0]).unwrap();
        assert!((found.slope.high - 5.0 - 2.484_138).abs() < 1e-6, "{found:?}");
        assert_eq!(of([2.0, 5.0, 8.0]), None, "it may not rise");
        // A single launch says nothing of others.
        let one = growth(&whole, std::slice::from_ref(&whole), &LAWS, 0.95);
        assert_eq!(one, growth(&whole, &[], &LAWS, 0.95));
    }

    #[test]
    fn shapes_of_an_exact_machine_are_told() {
        // On a 4 × 4 mesh of the simulated iPSC/860, in µs: guard rings, rows given to all, and shifts.
        let law = |times: &[f64]| {
            let sizes = [64.0, 128.0, 256.0, 512.0, 1024.0].into_iter().skip(5 - times.len());
            let points: Vec<(f64, f64)> = sizes.zip(times.iter().copied()).collect();
            growth(&points, &[], &[Law::Linear, Law::Quadratic], 0.95).map(|found| found.law)
        };
        let guard = [684.0, 684.0, 1052.68, 1892.36, 3571.72];
        let row = [416.48, 470.88, 785.76, 1415.52, 2675.04];
        let shift = [1238.72, 3967.68, 14463.68, 55608.0, 218_505.92];
        assert_eq!([law(&guard[1..]), law(&row)], [Some(Law::Linear); 2]);
        assert_eq!(law(&shift), Some(Law::Quadratic));
        // The shortest messages go by another protocol.
        assert_eq!(law(&guard), None);
    }
}
