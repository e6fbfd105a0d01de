//! A straight line by weighted least squares, with the quantities that its intervals need.

use crate::line::spread;

/// Greatest leverage: beyond it a residual is rounding.
const LEVERAGE: f64 = 1.0 - 1e-9;

/// The fitted value as a scale of noise: within a factor of four of the measured one.
pub(crate) fn clamped(fitted: f64, measured: f64, least: f64) -> f64 {
    fitted.clamp(measured.abs() / 4.0, measured.abs() * 4.0).max(least)
}

/// Iterations to find the points whose noise is estimated.
const NOISE_ROUNDS: usize = 20;

/// The variance of relative errors: a mean over those points whose own variance is not known to be
/// greater. `correction` accounts for the fitted coefficients.
pub(crate) fn variance(errors: &[f64], least: &[f64], correction: f64) -> f64 {
    let mean = |above: f64| {
        let (mut sum, mut count) = (0.0, 0.0);
        for (error, least) in errors.iter().zip(least) {
            if least * least <= above {
                sum += error * error;
                count += 1.0;
            }
        }
        if count > 0.0 { correction * sum / count } else { 0.0 }
    };
    let mut variance = mean(f64::INFINITY);
    for _ in 0..NOISE_ROUNDS {
        let next = mean(variance);
        // The sequence falls: each step leaves out the points with the greatest known noise.
        if next >= variance {
            break;
        }
        variance = next;
    }
    variance
}

/// A line, stored relative to the weighted means so that no digits are lost.
pub(super) struct Fit<'a> {
    pub(super) x: &'a [f64],
    pub(super) y: &'a [f64],
    pub(super) weights: Vec<f64>,
    /// Σw.
    pub(super) weight: f64,
    /// Weighted means of x and y.
    pub(super) centre: f64,
    level: f64,
    /// Σw(x − x̄)².
    pub(super) xx: f64,
    pub(super) slope: f64,
    pub(super) intercept: f64,
}

impl<'a> Fit<'a> {
    pub(super) fn of(x: &'a [f64], y: &'a [f64], weights: Vec<f64>) -> Option<Fit<'a>> {
        assert_eq!(x.len(), y.len(), "as many y as x");
        let (weight, centre, xx) = spread(x, &weights);
        let usable = x.len() >= 3 && weight.is_finite() && xx.is_finite() && xx > 0.0;
        if !usable {
            return None;
        }
        let level = y.iter().zip(&weights).map(|(y, w)| y * w).sum::<f64>() / weight;
        let products =
            x.iter().zip(y).zip(&weights).map(|((x, y), w)| w * (x - centre) * (y - level));
        let slope = products.sum::<f64>() / xx;
        let intercept = level - slope * centre;
        Some(Fit { x, y, weights, weight, centre, level, xx, slope, intercept })
    }

    pub(super) fn at(&self, x: f64) -> f64 {
        self.level + self.slope * (x - self.centre)
    }

    /// y − line.
    pub(super) fn residual(&self, point: usize) -> f64 {
        (self.y[point] - self.level) - self.slope * (self.x[point] - self.centre)
    }

    /// Leverage: how much a y counts for the line at its own x, for weights of 1.
    pub(super) fn leverage(&self, point: usize) -> f64 {
        (1.0 / self.weight + (self.x[point] - self.centre).powi(2) / self.xx).min(LEVERAGE)
    }

    /// Σw(y − line)².
    pub(super) fn squares(&self) -> f64 {
        self.weights.iter().enumerate().map(|(i, w)| w * self.residual(i).powi(2)).sum()
    }

    /// 1 − Σw(y − line)²/Σw(y − ȳ)²; 1 where all y are the same.
    pub(super) fn r_squared(&self) -> f64 {
        let deviations =
            self.y.iter().zip(&self.weights).map(|(y, w)| w * (y - self.level).powi(2));
        let total: f64 = deviations.sum();
        // Equal y leave the rounding of their mean.
        let rounding = self.weight * (1e-14 * self.level).powi(2);
        if total > rounding { 1.0 - self.squares() / total } else { 1.0 }
    }
}
