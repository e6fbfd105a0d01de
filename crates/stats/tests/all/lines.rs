//! Lines with intervals: against numpy and scipy (`tests/reference/regression.py`), and by simulation.

use bandgap_stats::Interval;
use bandgap_stats::regression::{Regression, ordinary, relative};
use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::assert_close;

const X: [f64; 10] = [0.0, 8.0, 60.0, 130.0, 520.0, 1000.0, 4100.0, 8200.0, 33000.0, 65000.0];
const Y: [f64; 10] =
    [1010.0, 1030.0, 1065.0, 1140.0, 1490.0, 2080.0, 5020.0, 9350.0, 34600.0, 64100.0];

/// The relative fit where nothing is known of the y.
fn exact(x: &[f64], y: &[f64]) -> Option<Regression> {
    let ranges: Vec<Interval> = y.iter().map(|&y| Interval { low: y, high: y }).collect();
    relative(x, y, &vec![0.0; y.len()], &ranges)
}

#[test]
fn relative_as_scipy() {
    let fit = exact(&X, &Y).unwrap();
    assert_close(fit.intercept, 1_011.647_765_342_095_7, 1e-10);
    assert_close(fit.slope, 0.998_518_389_697_052_1, 1e-10);
    assert_close(fit.intercept_variance, 114.295_424_154_366_71, 1e-9);
    assert_close(fit.slope_variance, 0.000_131_673_335_170_355_27, 1e-9);
    assert_close(fit.covariance, -0.028_362_641_788_792_52, 1e-9);
    assert_close(fit.r_squared, 0.998_944_599_996_688_4, 1e-9);
    assert_eq!((fit.intercept_degrees, fit.slope_degrees), (8.0, 8.0));
    let ratio = fit.ratio_interval(0.95).unwrap();
    assert_close(ratio.low, 973.529_327_350_874, 1e-7);
    assert_close(ratio.high, 1_054.495_154_712_805_3, 1e-7);
}

#[test]
fn ordinary_as_numpy() {
    let fit = ordinary(&X, &Y).unwrap();
    assert_close(fit.intercept, 1_130.059_381_713_943_4, 1e-11);
    assert_close(fit.slope, 0.978_274_975_297_367_8, 1e-12);
    assert_close(fit.intercept_variance, 15_210.582_905_099_192, 1e-8);
    assert_close(fit.slope_variance, 0.000_596_267_211_555_434_5, 1e-8);
    assert_close(fit.covariance, -2.350_171_167_755_721_3, 1e-8);
    assert_close(fit.intercept_degrees, 4.066_242_015, 1e-6);
    assert_close(fit.slope_degrees, 1.359_762_210, 1e-6);
    assert_close(fit.ratio_degrees, 3.603_049_793, 1e-6);
    let ratio = fit.ratio_interval(0.95).unwrap();
    assert_close(ratio.low, 745.836_009, 1e-6);
    assert_close(ratio.high, 1_618.216_250, 1e-6);
    assert_close(fit.r_squared, 0.999_515_561_456_346_3, 1e-12);
}

#[test]
fn intervals_are_those_of_student() {
    // 1011.6478 ± t(8)·√114.29542, t(8, 95 %) = 2.306004.
    let interval = exact(&X, &Y).unwrap().intercept_interval(0.95);
    assert_close(interval.half_width(), 2.306_004 * 114.295_424_f64.sqrt(), 1e-6);
    assert_close((interval.low + interval.high) / 2.0, 1_011.647_765, 1e-9);
}

#[test]
fn a_ratio_over_a_slope_near_zero_has_no_interval() {
    // Slope 0 on average: any ratio is possible.
    let fit = exact(&[1.0, 2.0, 3.0, 4.0], &[10.0, 11.0, 10.9, 10.1]).unwrap();
    assert_eq!(fit.ratio_interval(0.95), None);
}

#[test]
fn exact_lines_are_found_exactly() {
    let y = X.map(|x| 79_000.0 + 630.0 * x);
    for fit in [ordinary(&X, &y).unwrap(), exact(&X, &y).unwrap()] {
        assert_close(fit.intercept, 79_000.0, 1e-9);
        assert_close(fit.slope, 630.0, 1e-12);
        assert_close(fit.r_squared, 1.0, 1e-12);
        assert_close(fit.at(100.0), 142_000.0, 1e-9);
    }
}

#[test]
fn a_fit_is_the_same_in_every_unit() {
    // A power of two, so that nothing is rounded otherwise; and noise that grows with y.
    let unit = 2_f64.powi(-40);
    let off = [0.03, -0.04, 0.05, -0.02, -0.05, 0.04, 0.02, -0.03, 0.05, -0.05];
    let y: [f64; 10] = std::array::from_fn(|i| Y[i] * (1.0 + off[i]));
    let [one, other] = [y, y.map(|y| y * unit)].map(|y| ordinary(&X, &y).unwrap());
    assert_close(other.intercept, unit * one.intercept, 1e-12);
    assert_close(other.slope, unit * one.slope, 1e-12);
    assert_close(other.slope_variance, unit * unit * one.slope_variance, 1e-12);
    assert_close(other.intercept_degrees, one.intercept_degrees, 1e-9);
    assert_close(other.slope_degrees, one.slope_degrees, 1e-9);
    assert_close(other.r_squared, one.r_squared, 1e-12);
    assert!(one.r_squared < 0.9999);
}

#[test]
fn degrees_of_freedom_are_those_of_the_residuals_at_most() {
    // Three points leave one.
    let three = ordinary(&[0.0, 1.0, 3.0], &[1.0, 2.5, 3.0]).unwrap();
    let degrees = [three.intercept_degrees, three.slope_degrees, three.ratio_degrees];
    assert_eq!(degrees.map(|degrees| (1e6 * degrees).round()), [1e6; 3]);
}

#[test]
fn a_level_line_is_explained_whole() {
    let fit = exact(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0]).unwrap();
    assert_close(fit.intercept, 5.0, 1e-15);
    assert_eq!((fit.slope, fit.r_squared), (0.0, 1.0));
}

#[test]
fn two_points_or_one_place_have_no_line() {
    assert_eq!(exact(&[1.0, 2.0], &[1.0, 2.0]), None);
    assert_eq!(ordinary(&[1.0, 2.0], &[1.0, 2.0]), None);
    assert_eq!(ordinary(&[2.0, 2.0, 2.0], &[1.0, 2.0, 3.0]), None);
}

/// Shares of intervals of intercept and slope that hold the truth, over sizes from 1 to 2²⁰ and
/// times 1000 + x/10, with the given noise.
fn coverage(
    fit: fn(&[f64], &[f64]) -> Option<Regression>,
    noise: fn(f64) -> f64,
    trials: u64,
) -> [f64; 2] {
    let x: Vec<f64> = (0..41).map(|i| f64::from(i).exp2().sqrt().round()).collect();
    let normal = Normal::new(0.0, 1.0).expect("a standard deviation");
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut held = [0_u64; 2];
    for _ in 0..trials {
        let y: Vec<f64> = x
            .iter()
            .map(|x| {
                let time = 1000.0 + 0.1 * x;
                time + noise(time) * normal.sample(&mut generator)
            })
            .collect();
        let fit = fit(&x, &y).expect("different x");
        let holds = |interval: Interval, truth| u64::from(interval.contains(truth));
        held[0] += holds(fit.intercept_interval(0.95), 1000.0);
        held[1] += holds(fit.slope_interval(0.95), 0.1);
    }
    held.map(|held| held as f64 / trials as f64)
}

#[test]
fn relative_intervals_hold_under_relative_noise() {
    // The standard deviation of each share is √(0.95·0.05/4000) = 0.34 %.
    for share in coverage(exact, |time| 0.05 * time, 4000) {
        assert!((0.937..=0.963).contains(&share), "{share}");
    }
}

#[test]
fn ordinary_intervals_hold_under_any_noise() {
    // Textbook standard errors hold the intercept in 100 % and the slope in 30 % of the first case.
    // The last is noise that no power of the time describes. In both, two or three long messages
    // carry the intercept, whose own residuals are not independent of it: 97.5 % are held. The
    // standard deviation of each share is √(0.95·0.05/4000) = 0.34 %.
    let cases: [fn(f64) -> f64; 4] = [
        |time| 0.05 * time,
        |_| 50.0,
        |time| 2.0 * time.sqrt(),
        |time| if time > 30_000.0 { 0.1 * time } else { 0.02 * time },
    ];
    for noise in cases {
        for share in coverage(ordinary, noise, 4000) {
            assert!((0.94..=0.985).contains(&share), "{share}");
        }
    }
}
