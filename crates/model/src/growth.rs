//! How a time grows with the size of a problem: t(N) = a + b·Nᵉ.

use bandgap_stats::interval::student_factor;
use bandgap_stats::launches::widened;
use bandgap_stats::{Interval, regression};

use serde::{Deserialize, Serialize};

/// How a time grows over the sizes that were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// Like N.
    Linear,
    /// Like N².
    Quadratic,
    /// Like some other power of N.
    Power,
    /// The interval of the exponent is too wide to say, or has no end.
    Undecided,
}

/// A fit of t(N) = a + b·Nᵉ.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// What the exponent says.
    pub law: Law,
    /// e.
    pub exponent: f64,
    /// Its interval; `None` where an end of it is none of the exponents that are looked at.
    pub interval: Option<Interval>,
    /// a, in nanoseconds; never negative.
    pub constant: f64,
    /// b, in nanoseconds.
    pub factor: f64,
    /// Root mean square of the relative residuals.
    pub rms_relative: f64,
}

/// How the exponent is estimated.
pub const ESTIMATOR: &str = "least relative squares of a + b·Nᵉ";
/// Exponents that are looked at.
const LEAST: f64 = 0.05;
const MOST: f64 = 4.0;
const STEPS: u32 = 80;
/// Halvings of a bracket.
const HALVINGS: u32 = 60;
/// Fewest sizes: the fit has three parameters.
pub const FEWEST: usize = 4;
/// How near to 1 or 2 the interval of an exponent must come for it to be called linear or quadratic,
/// and the exponent itself.
const NEAR: f64 = 0.25;
const WITHIN: f64 = 0.5;
/// How far the times may be from what is called linear or quadratic: root mean square of the shares.
const MISSED: f64 = 0.1;

/// Fits t(N) = a + b·Nᵉ with a ≥ 0 to times in nanoseconds; `None` for fewer than four sizes, or
/// where the time does not rise.
///
/// *Formula*: for each e the line of least relative squares in Nᵉ, through 0 where a would be
/// negative; the e of least S(e) = Σ(t/t̂ − 1)². The interval of e contains those with
/// S(e) ≤ S·(1 + F), F = t²/(n − 3) and t of Student for n − 3 degrees of freedom (profile
/// likelihood). [`Law::Linear`]: a + b·N misses the times by at most 10 % (root mean square), and by
/// half as much as a + b·N² at most; e is within 0.5 of 1, and its interval comes within 0.25 of it.
/// [`Law::Quadratic`] likewise. [`Law::Power`]: else, an interval
/// that contains neither 1 nor 2. [`Law::Undecided`]: else, and wherever the interval does not end within 0.5 of e on
/// both sides. Exponents from 0.05 to 4 are looked at:
/// where S stays below that on a side, the interval has no end, and the law is undecided.
/// *Assumes* independent errors in proportion to the time.
/// *Source*: Bates and Watts, "Nonlinear Regression Analysis" (1988), 6.1.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
#[must_use]
pub fn growth(sizes: &[f64], times_ns: &[f64], confidence: f64) -> Option<Growth> {
    growth_over_launches(sizes, times_ns, &[], &[], confidence)
}

/// The same with the half-widths of the times' own intervals, none where they are not known, and with the exponents of
/// several launches' own fits, whose variance the interval of e holds too ([`widened`]), before it is asked for the law.
///
/// With h the root mean square of half-widths over times, errors of that size change the shares by which a law misses
/// the times, m, by about h at most. So where m + h ≤ 10 %, and twice that is at most m′ − h of the other law, a law is
/// told however wide the interval of e is: what the times miss is their own shape then, and no scatter.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
#[must_use]
pub fn growth_over_launches(
    sizes: &[f64],
    times_ns: &[f64],
    half_widths: &[f64],
    exponents: &[f64],
    confidence: f64,
) -> Option<Growth> {
    let usable = sizes.len() >= FEWEST
        && sizes.len() == times_ns.len()
        && sizes.iter().chain(times_ns).all(|value| *value > 0.0 && value.is_finite());
    if !usable {
        return None;
    }
    let most = sizes.iter().copied().fold(0.0, f64::max);
    let data = Data { shares: sizes.iter().map(|size| size / most).collect(), times: times_ns };
    let at = |step: u32| LEAST + (MOST - LEAST) * f64::from(step) / f64::from(STEPS);
    let best = (0..=STEPS).min_by(|a, b| data.missed(at(*a)).total_cmp(&data.missed(at(*b))))?;
    let exponent = data.least(at(best.saturating_sub(1)), at((best + 1).min(STEPS)));
    let line = data.line(exponent)?;
    if line.factor <= 0.0 {
        return None;
    }
    let degrees = (sizes.len() - 3) as f64;
    let missed = data.missed(exponent);
    // What rounding leaves does not tell exponents apart.
    let allowed = missed.max(1e-20) * (1.0 + student_factor(degrees, confidence).powi(2) / degrees);
    let ends = [LEAST, MOST].map(|end| data.crossing(exponent, end, allowed));
    let interval = match ends {
        [Some(low), Some(high)] => {
            Some(widened(exponent, Interval { low, high }, exponents, confidence))
        }
        _ => None,
    };
    let off = |law: f64| (data.missed(law) / sizes.len() as f64).sqrt();
    // An interval that merely holds a law's exponent says nothing of the law.
    let is_narrow =
        |Interval { low, high }: Interval| exponent - low <= WITHIN && high - exponent <= WITHIN;
    let scatter = (half_widths.len() == times_ns.len()).then(|| {
        let squares = half_widths.iter().zip(times_ns).map(|(half, time)| (half / time).powi(2));
        (squares.sum::<f64>() / sizes.len() as f64).sqrt()
    });
    // The other law would not do as well, and the exponent does not contradict.
    let follows = |known: Interval, law: f64, other: f64| {
        let told = |scatter: f64| {
            let least = off(law) + scatter;
            least <= MISSED && 2.0 * least <= off(other) - scatter
        };
        (scatter.is_some_and(told) || is_narrow(known) && told(0.0))
            && (exponent - law).abs() <= WITHIN
            && known.low <= law + NEAR
            && known.high >= law - NEAR
    };
    let is_other = |interval: Interval| [1.0, 2.0].iter().all(|law| !interval.contains(*law));
    let law = match interval {
        Some(known) if follows(known, 1.0, 2.0) => Law::Linear,
        Some(known) if follows(known, 2.0, 1.0) => Law::Quadratic,
        Some(known) if is_narrow(known) && is_other(known) => Law::Power,
        _ => Law::Undecided,
    };
    Some(Growth {
        law,
        exponent,
        interval,
        constant: line.constant,
        factor: line.factor / most.powf(exponent),
        rms_relative: (missed / sizes.len() as f64).sqrt(),
    })
}

/// Sizes as shares of the greatest, and their times.
struct Data<'a> {
    shares: Vec<f64>,
    times: &'a [f64],
}

/// t = constant + factor·shareᵉ.
struct Line {
    constant: f64,
    factor: f64,
}

impl Data<'_> {
    fn line(&self, exponent: f64) -> Option<Line> {
        let x: Vec<f64> = self.shares.iter().map(|share| share.powf(exponent)).collect();
        let line = regression::relative(&x, self.times)?;
        if line.intercept >= 0.0 {
            return Some(Line { constant: line.intercept, factor: line.slope });
        }
        // Σ(t/(b·x) − 1)² is least at b = Σ(t/x)²/Σ(t/x).
        let per = || x.iter().zip(self.times).map(|(x, time)| time / x);
        let factor = per().map(|of| of * of).sum::<f64>() / per().sum::<f64>();
        Some(Line { constant: 0.0, factor })
    }

    /// S(e).
    fn missed(&self, exponent: f64) -> f64 {
        let Some(line) = self.line(exponent) else { return f64::INFINITY };
        let off = |(share, time): (&f64, &f64)| {
            (time / (line.constant + line.factor * share.powf(exponent)) - 1.0).powi(2)
        };
        self.shares.iter().zip(self.times).map(off).sum()
    }

    /// The exponent of least S between two, by golden section.
    fn least(&self, mut low: f64, mut high: f64) -> f64 {
        let golden = (5f64.sqrt() - 1.0) / 2.0;
        for _ in 0..HALVINGS {
            let (a, b) = (high - golden * (high - low), low + golden * (high - low));
            if self.missed(a) <= self.missed(b) { high = b } else { low = a }
        }
        (low + high) / 2.0
    }

    /// Where S passes `allowed` on the way from the best exponent to `end`; `None` where it does not.
    fn crossing(&self, best: f64, end: f64, allowed: f64) -> Option<f64> {
        if self.missed(end) <= allowed {
            return None;
        }
        let (mut inside, mut outside) = (best, end);
        for _ in 0..HALVINGS {
            let middle = (inside + outside) / 2.0;
            if self.missed(middle) <= allowed { inside = middle } else { outside = middle }
        }
        Some(inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [f64; 5] = [64.0, 128.0, 256.0, 512.0, 1024.0];

    fn of(time: impl Fn(f64) -> f64) -> Growth {
        growth(&SIZES, &SIZES.map(time), 0.95).unwrap()
    }

    #[test]
    fn exact_laws_are_found_with_their_numbers() {
        for (exponent, law) in
            [(1.0, Law::Linear), (2.0, Law::Quadratic), (1.5, Law::Power), (0.5, Law::Power)]
        {
            let found = of(|n: f64| 5000.0 + 3.0 * n.powf(exponent));
            assert_eq!(found.law, law);
            assert!((found.exponent - exponent).abs() < 1e-4, "{found:?}");
            assert!((found.constant / 5000.0 - 1.0).abs() < 1e-3, "{found:?}");
            assert!((found.factor / 3.0 - 1.0).abs() < 1e-3, "{found:?}");
        }
    }

    #[test]
    fn an_exponent_whose_interval_contains_1_is_no_other_power() {
        // Rows of a matrix given to all, on 16 nodes of the simulated iPSC/860, in µs.
        let times = [313.48, 366.68, 561.718, 974.997, 1801.558];
        let found = growth(&SIZES, &times, 0.95).unwrap();
        assert!(found.interval.is_none_or(|of| of.low < 1.0 && of.high > 1.0), "{found:?}");
        assert_ne!(found.law, Law::Power, "{found:?}");
    }

    #[test]
    fn a_matrix_with_its_ring_is_quadratic_over_these_sizes() {
        // (N/4 + 2)² doubles at 0.41 µs a byte.
        let found = of(|n| 156e3 + 410.0 * 8.0 * (n / 4.0 + 2.0).powi(2));
        assert_eq!(found.law, Law::Quadratic, "{found:?}");
        // And without a start-up time the constant stays at 0.
        let found = of(|n| 3.0 * n * n - 100.0);
        assert_eq!((found.law, found.constant), (Law::Quadratic, 0.0), "{found:?}");
    }

    #[test]
    fn an_interval_that_merely_contains_1_is_no_line() {
        // Guard rings on a 4 × 4 mesh of the simulated iPSC/860, in µs: the smallest are bound by
        // overheads. A line misses them by less than 10 %, and N² by more than twice as much.
        let times = [547.5, 602.8, 1022.7, 1862.4, 3541.7];
        let found = growth(&SIZES, &times, 0.95).unwrap();
        assert!(found.interval.unwrap().high > 1.9, "{found:?}");
        assert_eq!(found.law, Law::Undecided, "{found:?}");
        // Without the smallest it ends near e.
        let found = growth(&SIZES[1..], &times[1..], 0.95).unwrap();
        assert!(found.interval.unwrap().half_width() < WITHIN, "{found:?}");
        assert_eq!(found.law, Law::Linear, "{found:?}");
    }

    #[test]
    fn an_interval_without_an_end_decides_nothing() {
        // Exponents at the least and at the greatest that are looked at, and beyond: S passes no
        // bound on one side, though the other end is near.
        for exponent in [0.05, 0.03, 4.0, 4.2] {
            let found = of(|n: f64| n.powf(exponent));
            assert_eq!(
                (found.law, found.interval),
                (Law::Undecided, None),
                "{exponent}: {found:?}"
            );
        }
        // Between them it has both.
        let found = of(|n: f64| n.powf(3.0));
        assert!(found.law == Law::Power && found.interval.is_some(), "{found:?}");
    }

    #[test]
    fn the_shape_of_exact_times_is_no_scatter() {
        // On a 4 × 4 mesh of the simulated iPSC/860, in µs: guard rings, rows given to all, and shifts.
        let guard = [684.0, 684.0, 1052.68, 1892.36, 3571.72];
        let row = [416.48, 470.88, 785.76, 1415.52, 2675.04];
        let shift = [1238.72, 3967.68, 14463.68, 55608.0, 218_505.92];
        let with = |times: &[f64], share: f64| {
            let halves: Vec<f64> = times.iter().map(|time| share * time).collect();
            let sizes = &SIZES[SIZES.len() - times.len()..];
            growth_over_launches(sizes, times, &halves, &[], 0.95).unwrap().law
        };
        // The shortest messages go by another protocol.
        let laws = [&guard[1..], &row[1..], &shift].map(|times| with(times, 0.0));
        assert_eq!(laws, [Law::Linear, Law::Linear, Law::Quadratic]);
        // If they scattered by a fifth they could be the other.
        assert_eq!(with(&guard[1..], 0.2), Law::Undecided);
        // Powers between stay what they are.
        let between = SIZES.map(|size| 5000.0 + 3.0 * size.powf(1.5));
        assert_eq!(with(&between, 0.0), Law::Power);
    }

    #[test]
    fn scatter_leaves_it_undecided() {
        let scattered = [1.0, 1.6, 0.7, 1.5, 0.8];
        let times: Vec<f64> =
            SIZES.iter().zip(scattered).map(|(n, by)| (100.0 + 0.05 * n) * by).collect();
        let law = growth(&SIZES, &times, 0.95).map(|found| found.law);
        assert!(matches!(law, None | Some(Law::Undecided)), "{law:?}");
        assert!(growth(&SIZES[..3], &[1.0, 2.0, 3.0], 0.95).is_none());
    }

    #[test]
    fn launches_whose_exponents_differ_leave_the_law_undecided() {
        let times = SIZES.map(|size| 3e5 + 2.0 * size * size);
        let of =
            |exponents: &[f64]| growth_over_launches(&SIZES, &times, &[], exponents, 0.95).unwrap();
        assert_eq!((of(&[]), of(&[1.5])), (growth(&SIZES, &times, 0.95).unwrap(), of(&[])));
        // Half-width t(2, 95 %)·s/√3 = 2.484 s.
        let [near, far] = [of(&[1.99, 2.0, 2.01]), of(&[2.6, 2.8, 2.4])];
        assert_eq!((near.law, near.exponent), (Law::Quadratic, of(&[]).exponent));
        assert!((near.interval.unwrap().half_width() - 0.02484).abs() < 1e-3, "{near:?}");
        assert!((far.interval.unwrap().half_width() - 0.4968).abs() < 1e-3, "{far:?}");
        let shifted = SIZES.map(|size| size.powf(1.5));
        let alone = growth(&SIZES, &shifted, 0.95).unwrap();
        let wide = growth_over_launches(&SIZES, &shifted, &[], &[1.0, 1.5, 2.0], 0.95).unwrap();
        assert_eq!((alone.law, wide.law), (Law::Power, Law::Undecided));
        // Neither 1 nor 2 is in 3 ± 0.745, but who knows which power it is?
        let cubes = SIZES.map(|size| size.powi(3));
        let wide = growth_over_launches(&SIZES, &cubes, &[], &[2.7, 3.0, 3.3], 0.95).unwrap();
        assert_eq!(wide.law, Law::Undecided, "{wide:?}");
    }
}
