//! Known answers from outside: NIST's certified values, and scipy's (`tests/reference/intervals.py`).

use bandgap_stats::interval::{quantile_ranks, student_factor};
use bandgap_stats::line::Line;
use bandgap_stats::quantile::quantile;
use bandgap_stats::regression::ordinary;

use crate::assert_close;

/// NIST StRD, linear regression, Norris: (y, x) of 36 observations of ozone monitors.
const NORRIS: [(f64, f64); 36] = [
    (0.1, 0.2),
    (338.8, 337.4),
    (118.1, 118.2),
    (888.0, 884.6),
    (9.2, 10.1),
    (228.1, 226.5),
    (668.5, 666.3),
    (998.5, 996.3),
    (449.1, 448.6),
    (778.9, 777.0),
    (559.2, 558.2),
    (0.3, 0.4),
    (0.1, 0.6),
    (778.1, 775.5),
    (668.8, 666.9),
    (339.3, 338.0),
    (448.9, 447.5),
    (10.8, 11.6),
    (557.7, 556.0),
    (228.3, 228.1),
    (998.0, 995.8),
    (888.8, 887.6),
    (119.6, 120.2),
    (0.3, 0.3),
    (0.6, 0.3),
    (557.6, 556.8),
    (339.3, 339.1),
    (888.0, 887.2),
    (998.5, 999.0),
    (778.9, 779.0),
    (10.2, 11.1),
    (117.6, 118.3),
    (228.9, 229.2),
    (668.4, 669.1),
    (449.2, 448.9),
    (0.2, 0.5),
];

#[test]
fn norris() {
    let x: Vec<f64> = NORRIS.iter().map(|point| point.1).collect();
    let y: Vec<f64> = NORRIS.iter().map(|point| point.0).collect();
    let line = Line::fit(&x, &y, &[1.0; 36]).unwrap();
    assert_close(line.intercept, -0.262323073774029, 1e-11);
    assert_close(line.slope, 1.00211681802045, 1e-13);
    let regression = ordinary(&x, &y).unwrap();
    assert_close(regression.intercept, -0.262323073774029, 1e-11);
    assert_close(regression.slope, 1.00211681802045, 1e-13);
    assert_close(regression.r_squared, 0.999993745883712, 1e-13);
}

#[test]
fn relative_weights_as_numpy() {
    let x = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    let y = [21.9, 24.2, 27.7, 36.3, 51.8, 85.0];
    let weights = y.map(|y: f64| 1.0 / (y * y));
    let line = Line::fit(&x, &y, &weights).unwrap();
    assert_close(line.intercept, 19.923_399_303_958_3, 1e-12);
    assert_close(line.slope, 2.019_177_918_485_142, 1e-12);
}

#[test]
fn student_factors_as_scipy() {
    assert_close(student_factor(1.0, 0.95), 12.706_204_736_174_694, 1e-9);
    assert_close(student_factor(2.5, 0.95), 3.574_654_842_003_681_7, 1e-9);
    assert_close(student_factor(19.0, 0.95), 2.093_024_054_408_308_7, 1e-9);
    assert_close(student_factor(7.0, 0.99), 3.499_483_297_350_493, 1e-9);
    assert_close(student_factor(1e6, 0.95), 1.959_966_356_814_107, 1e-8);
}

#[test]
fn quantile_ranks_as_scipy() {
    for (count, p, confidence, low, high) in [
        (10, 0.5, 0.95, 2, 9),
        (100, 0.9, 0.95, 84, 96),
        (1000, 0.99, 0.95, 983, 997),
        (51, 0.5, 0.99, 16, 36),
    ] {
        let found = quantile_ranks(count, p, confidence);
        assert_eq!(found, Some((low, high)), "{count} samples, p = {p}");
    }
}

#[test]
fn quantiles_as_numpy() {
    let samples = [3.1, 4.1, 5.9, 2.6, 5.3, 5.8, 9.7, 9.3, 2.3, 8.4];
    for (p, expected) in [(0.1, 2.57), (0.25, 3.35), (0.5, 5.55), (0.9, 9.34), (0.99, 9.664)] {
        assert_close(quantile(&samples, p), expected, 1e-12);
    }
}
