//! Least absolute squares, with a sandwich for noise of any shape.

use super::Regression;
use super::degrees::equivalent;
use super::design::{Design, Solved, clamped};

/// The line of least absolute squares; `None` for fewer than three points or two different x.
///
/// *Formula*: coefficients as [`crate::line::Line::fit`]. Variances are the sandwich
/// Σcᵢ²rᵢ²/(1 − hᵢ)² (HC3), c a coefficient's weights on the points and h the leverage, divided by
/// its bias under a working variance: ŷ⁰, ŷ¹ or ŷ², whichever makes the residuals most likely.
/// Degrees of freedom are those of the t distribution with the tails that the sandwich has under the
/// same variance, 1 to n − 2. Where the noise grows with y and the largest x decides the fit, the noise
/// is known from little more than the residual there, and the interval is wide.
/// *Assumes* independent errors. Their variance may depend on x in any way, but where a few points
/// decide the fit the working variance must not be far off.
/// *Source*: MacKinnon and White, "Some Heteroskedasticity-Consistent Covariance Matrix Estimators"
/// (1985); Bell and McCaffrey, "Bias Reduction in Standard Errors" (2002), for bias and degrees under
/// a working variance.
///
/// # Panics
/// If the slices differ in length.
#[must_use]
pub fn ordinary(x: &[f64], y: &[f64]) -> Option<Regression> {
    let design = Design::of(x, vec![1.0; x.len()])?;
    let fit = design.solve(x, y);
    let count = x.len() as f64;
    let influence: Vec<(f64, f64)> = x.iter().map(|&x| design.influence(x)).collect();
    let mut sums = Sandwich::default();
    for ((&x, &y), &influence) in x.iter().zip(y).zip(&influence) {
        let deleted = fit.residual_at(x, y) / (1.0 - design.leverage(x));
        sums.add(influence, deleted * deleted);
    }
    let noise = working_noise(x, y, &design, &fit);
    // Of intercept·a + slope·b.
    let reliable = |a: f64, b: f64| {
        let influence: Vec<f64> = influence.iter().map(|both| both.0 * a + both.1 * b).collect();
        reliability(x, &design, &influence, &noise)
    };
    let (intercept, slope) = (reliable(1.0, 0.0), reliable(0.0, 1.0));
    let ratio = reliable(fit.slope, -fit.intercept);
    Some(Regression {
        intercept: fit.intercept,
        slope: fit.slope,
        intercept_variance: sums.intercept / intercept.bias,
        slope_variance: sums.slope / slope.bias,
        covariance: sums.both / (intercept.bias * slope.bias).sqrt(),
        intercept_degrees: intercept.degrees,
        slope_degrees: slope.degrees,
        ratio_degrees: ratio.degrees,
        residual: (fit.squares / (count - 2.0)).sqrt(),
        r_squared: fit.r_squared(),
        points: x.len(),
    })
}

#[derive(Default)]
struct Sandwich {
    intercept: f64,
    slope: f64,
    both: f64,
}

impl Sandwich {
    fn add(&mut self, (intercept, slope): (f64, f64), variance: f64) {
        self.intercept += intercept * intercept * variance;
        self.slope += slope * slope * variance;
        self.both += intercept * slope * variance;
    }
}

/// With more points than this, residuals count as independent of each other in [`reliability`].
const FULL_DEGREES: usize = 300;

/// How the variance of y goes with y, up to a factor: as ŷ⁰, ŷ¹ or ŷ², whichever makes the residuals
/// most likely.
fn working_noise(x: &[f64], y: &[f64], design: &Design, fit: &Solved) -> Vec<f64> {
    let count = x.len() as f64;
    let least = 1e-9 * y.iter().map(|y| y.abs()).sum::<f64>() / count;
    let scale: Vec<f64> = x.iter().zip(y).map(|(&x, &y)| clamped(fit.at(x), y, least)).collect();
    // −2 ln L of normal residuals with variance in proportion to scale^power·(1 − h).
    let unlikely = |power: i32| {
        let squares: f64 = (0..x.len())
            .map(|i| {
                let residual = fit.residual_at(x[i], y[i]);
                residual * residual / (1.0 - design.leverage(x[i])) / scale[i].powi(power)
            })
            .sum();
        count * squares.ln() + scale.iter().map(|s| f64::from(power) * s.ln()).sum::<f64>()
    };
    let power = [0, 1, 2]
        .into_iter()
        .min_by(|&a, &b| unlikely(a).total_cmp(&unlikely(b)))
        .expect("three powers");
    scale.iter().map(|s| s.powi(power)).collect()
}

/// How far to trust a sandwich Σaᵢrᵢ², aᵢ = (cᵢ/(1 − hᵢ))².
struct Reliability {
    /// Its mean as a multiple of the variance that it estimates, Σcᵢ²·noiseᵢ.
    bias: f64,
    /// Degrees of freedom, at most n − 2.
    degrees: f64,
}

/// Of a sandwich for errors of variance `noise`, up to a common factor.
///
/// With r = Mε and S = M·diag(noise)·M, the mean is Σaᵢ·Sᵢᵢ and the variance 2·Σaᵢ·aⱼ·Sᵢⱼ². The
/// terms are squares of weights aᵢ·Sᵢᵢ. They are correlated, so they count for fewer: in the ratio in
/// which the correlation makes the variance greater.
fn reliability(x: &[f64], design: &Design, influence: &[f64], noise: &[f64]) -> Reliability {
    let limit = x.len() as f64 - 2.0;
    let squares =
        || x.iter().zip(influence).map(|(&x, c)| (c / (1.0 - design.leverage(x))).powi(2));
    let (weights, together) = if x.len() > FULL_DEGREES {
        let weights: Vec<f64> = squares().zip(noise).map(|(a, v)| a * v).collect();
        let alone = weights.iter().map(|w| w * w).sum::<f64>();
        (weights, alone)
    } else {
        moments(x, design, &squares().collect::<Vec<f64>>(), noise)
    };
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
fn moments(x: &[f64], design: &Design, squares: &[f64], noise: &[f64]) -> (Vec<f64>, f64) {
    // H = u·uᵀ/n + z·zᵀ with u = 1 and z = (x − x̄)/√Sxx.
    let count = x.len() as f64;
    let scale = design.xx.sqrt();
    let z: Vec<f64> = x.iter().map(|x| (x - design.x) / scale).collect();
    let sum = |power: i32| z.iter().zip(noise).map(|(z, v)| z.powi(power) * v).sum::<f64>();
    let (s0, s1, s2) = (sum(0) / count / count, sum(1) / count, sum(2));
    let mut weights = Vec::with_capacity(x.len());
    let mut together = 0.0;
    for i in 0..x.len() {
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
