//! Least relative squares, by reweighting.

use super::Regression;
use super::design::{Fit, clamped};

/// Reweightings until a fit counts as settled; each gains a factor of about the noise's square.
const REWEIGHTINGS: usize = 50;

/// The line of least relative squares through positive y; `None` for fewer than three points or two
/// different x.
///
/// *Formula*: minimises Σwᵢ(yᵢ − a − b·xᵢ)² with wᵢ = 1/ŷᵢ², ŷ the fitted line itself, by
/// reweighting until the weights stay the same. Weights 1/y² would put the line below the points, since
/// a y that is too low by chance would weigh more. ŷ counts as y/4 at least and 4y at most. Variances
/// are s²(XᵀWX)⁻¹, s² = Σwr²/(n − 2), with n − 2 degrees of freedom.
/// *Assumes* independent errors, their standard deviation in proportion to y.
/// *Source*: McCullagh and Nelder, "Generalized Linear Models" (1989), chapter 8 (constant
/// coefficient of variation).
///
/// # Panics
/// If the slices differ in length.
#[must_use]
pub fn relative(x: &[f64], y: &[f64]) -> Option<Regression> {
    let mut fit = Fit::of(x, y, y.iter().map(|y| 1.0 / (y * y)).collect())?;
    for _ in 0..REWEIGHTINGS {
        let weight = |(&x, &y)| clamped(fit.at(x), y, 0.0).powi(-2);
        let weights: Vec<f64> = x.iter().zip(y).map(weight).collect();
        let moved = weights.iter().zip(&fit.weights).map(|(new, old)| (new / old - 1.0).abs());
        if moved.fold(0.0, f64::max) < 1e-13 {
            break;
        }
        fit = Fit::of(x, y, weights)?;
    }
    let degrees = x.len() as f64 - 2.0;
    let variance = fit.squares() / degrees;
    Some(Regression {
        intercept: fit.intercept,
        slope: fit.slope,
        intercept_variance: variance * (1.0 / fit.weight + fit.centre.powi(2) / fit.xx),
        slope_variance: variance / fit.xx,
        covariance: -variance * fit.centre / fit.xx,
        intercept_degrees: degrees,
        slope_degrees: degrees,
        ratio_degrees: degrees,
        r_squared: fit.r_squared(),
    })
}
