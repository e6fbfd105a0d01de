//! Least absolute squares, with a sandwich for noise of any shape.

use super::Regression;
use super::degrees::equivalent;
use super::design::{Fit, clamped};
use crate::line::Influence;

/// The line of least absolute squares; `None` for fewer than three points or two different x.
///
/// *Formula*: coefficients as [`crate::line::Line::fit`]. Variances are the sandwich Σcᵢ²rᵢ²/(1 −
/// hᵢ)² (HC3), where c are the weights of the points in a coefficient and h is the leverage,
/// divided by its bias under a working variance: ŷ⁰, ŷ¹ or ŷ², whichever makes the residuals most
/// likely. Degrees of freedom are those of the t distribution with the same tails as the sandwich
/// under that variance, 1 to n − 2. If the noise grows with y and the largest x decides the fit,
/// little more than the residual there determines the noise, and the interval is wide.
/// *Assumes* independent errors. Their variance may depend on x in any way, but if a few points
/// decide the fit, the working variance must not be far off.
/// *Source*: MacKinnon and White, "Some Heteroskedasticity-Consistent Covariance Matrix Estimators"
/// (1985); Bell and McCaffrey, "Bias Reduction in Standard Errors" (2002), for bias and degrees under
/// a working variance.
///
/// # Panics
/// If the slices differ in length.
pub fn ordinary(x: &[f64], y: &[f64]) -> Option<Regression> {
    let fit = Fit::of(x, y, vec![1.0; x.len()])?;
    let Influence { intercept, slope, .. } = Influence::of(x, &fit.weights)?;
    let deleted: Vec<f64> =
        (0..x.len()).map(|i| (fit.residual(i) / (1.0 - fit.leverage(i))).powi(2)).collect();
    let sandwich = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).zip(&deleted).map(|((a, b), square)| a * b * square).sum()
    };
    let noise = working_noise(&fit);
    let ratio: Vec<f64> =
        intercept.iter().zip(&slope).map(|(a, b)| a * fit.slope - b * fit.intercept).collect();
    let of_intercept = reliability(&fit, &intercept, &noise);
    let of_slope = reliability(&fit, &slope, &noise);
    Some(Regression {
        intercept: fit.intercept,
        slope: fit.slope,
        intercept_variance: sandwich(&intercept, &intercept) / of_intercept.bias,
        slope_variance: sandwich(&slope, &slope) / of_slope.bias,
        covariance: sandwich(&intercept, &slope) / (of_intercept.bias * of_slope.bias).sqrt(),
        intercept_degrees: of_intercept.degrees,
        slope_degrees: of_slope.degrees,
        ratio_degrees: reliability(&fit, &ratio, &noise).degrees,
        r_squared: fit.r_squared(),
        weights: fit.weights,
    })
}

/// How the variance of y depends on y, up to a factor: ŷ⁰, ŷ¹ or ŷ², whichever makes the residuals
/// most likely.
fn working_noise(fit: &Fit) -> Vec<f64> {
    let count = fit.x.len() as f64;
    let least = 1e-9 * fit.y.iter().map(|y| y.abs()).sum::<f64>() / count;
    let scale: Vec<f64> =
        fit.x.iter().zip(fit.y).map(|(&x, &y)| clamped(fit.at(x), y, least)).collect();
    // −2 ln L of normal residuals with variance in proportion to scale^power·(1 − h).
    let unlikely = |power: i32| {
        let square = |(i, scale): (usize, &f64)| {
            fit.residual(i).powi(2) / (1.0 - fit.leverage(i)) / scale.powi(power)
        };
        let squares: f64 = scale.iter().enumerate().map(square).sum();
        count * squares.ln() + scale.iter().map(|s| f64::from(power) * s.ln()).sum::<f64>()
    };
    let power = [0, 1, 2]
        .into_iter()
        .min_by(|&a, &b| unlikely(a).total_cmp(&unlikely(b)))
        .expect("three powers");
    scale.iter().map(|s| s.powi(power)).collect()
}

/// How reliable a sandwich Σaᵢrᵢ² is, with aᵢ = (cᵢ/(1 − hᵢ))².
struct Reliability {
    /// Its mean as a multiple of the variance that it estimates, Σcᵢ²·noiseᵢ.
    bias: f64,
    /// Degrees of freedom, at most n − 2.
    degrees: f64,
}

/// The reliability of a sandwich for errors of variance `noise`, up to a common factor.
///
/// With r = Mε and S = M·diag(noise)·M, the mean is Σaᵢ·Sᵢᵢ and the variance 2·Σaᵢ·aⱼ·Sᵢⱼ². The
/// terms are squares with the weights aᵢ·Sᵢᵢ. They are correlated, so they count as fewer
/// independent squares: their number is divided by the factor by which the correlation increases
/// the variance.
fn reliability(fit: &Fit, influence: &[f64], noise: &[f64]) -> Reliability {
    let limit = fit.x.len() as f64 - 2.0;
    let squares: Vec<f64> =
        influence.iter().enumerate().map(|(i, c)| (c / (1.0 - fit.leverage(i))).powi(2)).collect();
    let (weights, together) = moments(fit, &squares, noise);
    let expected: f64 = influence.iter().zip(noise).map(|(c, v)| c * c * v).sum();
    let mean: f64 = weights.iter().sum();
    if together > 0.0 && expected > 0.0 {
        let alone = weights.iter().map(|w| w * w).sum::<f64>();
        let degrees = equivalent(&weights, (alone / together).min(1.0), limit);
        Reliability { bias: mean / expected, degrees }
    } else {
        Reliability { bias: 1.0, degrees: limit }
    }
}

/// aᵢ·Sᵢᵢ, and Σaᵢ·aⱼ·Sᵢⱼ².
fn moments(fit: &Fit, squares: &[f64], noise: &[f64]) -> (Vec<f64>, f64) {
    // H = u·uᵀ/n + z·zᵀ with u = 1 and z = (x − x̄)/√Sxx.
    let count = fit.x.len() as f64;
    let scale = fit.xx.sqrt();
    let z: Vec<f64> = fit.x.iter().map(|x| (x - fit.centre) / scale).collect();
    let sum = |power: i32| z.iter().zip(noise).map(|(z, v)| z.powi(power) * v).sum::<f64>();
    let (s0, s1, s2) = (sum(0) / count / count, sum(1) / count, sum(2));
    let mut weights = Vec::with_capacity(z.len());
    let mut together = 0.0;
    for i in 0..z.len() {
        for j in 0..=i {
            let hat = 1.0 / count + z[i] * z[j];
            // (H·N·H)ᵢⱼ, N = diag(noise).
            let both = s0 + s1 * (z[i] + z[j]) + s2 * z[i] * z[j];
            let own = if i == j { noise[i] } else { 0.0 };
            let s = own - hat * (noise[i] + noise[j]) + both;
            let times = if i == j { 1.0 } else { 2.0 };
            together += times * squares[i] * squares[j] * s * s;
            if i == j {
                weights.push((squares[i] * s).max(0.0));
            }
        }
    }
    (weights, together)
}
