//! Least relative squares, by reweighting.

use super::Regression;
use super::design::{Fit, clamped, variance};
use crate::interval::Interval;

/// Maximum number of reweightings of a fit; each gains a factor of about the square of the noise.
const REWEIGHTINGS: usize = 50;

/// Steps towards a line through all ranges.
const PROJECTIONS: usize = 200;

/// The line of least relative squares through positive y; `None` for fewer than three points or two
/// different x. `known` is the least relative standard deviation of each y, from its last digit or
/// its repetitions, or 0 if unknown. `ranges` are the possible values of each rounded y; for
/// others, y itself.
///
/// *Formula*: minimises Σwᵢ(yᵢ − a − b·xᵢ)² with wᵢ = 1/(vᵢŷᵢ²), where ŷ is the fitted line itself,
/// by reweighting until the weights stay the same. Weights 1/y² would put the line below the
/// points, since a y that is too low by chance would weigh more. ŷ is limited to y/4..4y. vᵢ =
/// max(v, knownᵢ²), where v is the mean of (y/ŷ − 1)² over the y with known² below v, times n/(n −
/// 2): all y weigh alike if nothing is known, and a rounded y weighs less. In a range, the value
/// nearest to the line counts, and at the end with the same weight as any other: a rounding that
/// all y share is not scatter, and a line through all ranges is found if there is one. Variances
/// are s²(XᵀWX)⁻¹ with s² = Σwr²/(n − 2), with n − 2 degrees of freedom.
/// *Assumes* independent errors with standard deviations proportional to y unless known to be
/// greater.
/// *Source*: McCullagh and Nelder, "Generalized Linear Models" (1989), chapter 8 (constant
/// coefficient of variation); Heitjan, "Inference from Grouped Continuous Data: A Review" (1989),
/// for rounded y.
///
/// # Panics
/// If the slices differ in length.
pub fn relative(x: &[f64], y: &[f64], known: &[f64], ranges: &[Interval]) -> Option<Regression> {
    assert!(y.len() == known.len() && y.len() == ranges.len(), "noise of each y");
    let degrees = x.len() as f64 - 2.0;
    let least = known.iter().map(|noise| noise * noise).fold(f64::INFINITY, f64::min);
    let (mut weights, mut near): (Vec<f64>, _) =
        (y.iter().map(|y| 1.0 / (y * y)).collect(), y.to_vec());
    for _ in 0..REWEIGHTINGS {
        let fit = Fit::of(x, &near, weights.clone())?;
        let scale: Vec<f64> = x.iter().zip(y).map(|(&x, &y)| clamped(fit.at(x), y, 0.0)).collect();
        let errors: Vec<f64> = (0..x.len()).map(|i| fit.residual(i) / scale[i]).collect();
        let usual = variance(&errors, known, x.len() as f64 / degrees).max(least);
        // 1 for all points if no known noise is greater than usual.
        let share = |known: f64| if known * known > usual { usual / (known * known) } else { 1.0 };
        let next = |(scale, known): (&f64, &f64)| scale.powi(-2) * share(*known);
        let next: Vec<f64> = scale.iter().zip(known).map(next).collect();
        let moved = next.iter().zip(&weights).map(|(new, old)| (new / old - 1.0).abs());
        let settled = moved.fold(0.0, f64::max) < 1e-13;
        near = x.iter().zip(ranges).map(|(&x, range)| range.nearest(fit.at(x))).collect();
        if settled {
            break;
        }
        weights = next;
    }
    let even = Fit::of(x, &near, weights.clone())?;
    let even = |(&x, &y)| clamped(even.at(x), y, 0.0).powi(-2);
    let even: Vec<f64> = x.iter().zip(y).map(even).collect();
    let rounded = ranges.iter().any(|range| range.low < range.high);
    for _ in 0..if rounded { PROJECTIONS } else { 0 } {
        let line = Fit::of(x, &near, even.clone())?;
        near = x.iter().zip(ranges).map(|(&x, range)| range.nearest(line.at(x))).collect();
    }
    let line = Fit::of(x, &near, if rounded { even } else { weights.clone() })?;
    let fit = Fit::of(x, &near, weights)?;
    let variance = fit.squares() / degrees;
    Some(Regression {
        intercept: line.intercept,
        slope: line.slope,
        intercept_variance: variance * (1.0 / fit.weight + fit.centre.powi(2) / fit.xx),
        slope_variance: variance / fit.xx,
        covariance: -variance * fit.centre / fit.xx,
        intercept_degrees: degrees,
        slope_degrees: degrees,
        ratio_degrees: degrees,
        r_squared: fit.r_squared(),
        weights: fit.weights,
    })
}
