//! Least relative squares, by reweighting.

use super::Regression;
use super::design::{Design, clamped};

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
    assert_eq!(x.len(), y.len(), "as many y as x");
    let mut weights: Vec<f64> = y.iter().map(|y| 1.0 / (y * y)).collect();
    let mut design = Design::of(x, weights.clone())?;
    let mut fit = design.solve(x, y);
    for _ in 0..REWEIGHTINGS {
        let mut moved: f64 = 0.0;
        for ((weight, &x), &y) in weights.iter_mut().zip(x).zip(y) {
            let new = clamped(fit.at(x), y, 0.0).powi(-2);
            moved = moved.max((new / *weight - 1.0).abs());
            *weight = new;
        }
        if moved < 1e-13 {
            break;
        }
        design = Design::of(x, weights.clone())?;
        fit = design.solve(x, y);
    }
    let degrees = x.len() as f64 - 2.0;
    let variance = fit.squares / degrees;
    Some(Regression {
        intercept: fit.intercept,
        slope: fit.slope,
        intercept_variance: variance * (1.0 / design.weight + design.x.powi(2) / design.xx),
        slope_variance: variance / design.xx,
        covariance: -variance * design.x / design.xx,
        intercept_degrees: degrees,
        slope_degrees: degrees,
        ratio_degrees: degrees,
        residual: variance.sqrt(),
        r_squared: fit.r_squared(),
        points: x.len(),
    })
}
