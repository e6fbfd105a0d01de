//! A weighted straight-line design and its solution.

use crate::line::spread;

/// Leverages count as this at most: beyond it a residual is rounding.
const LEVERAGE: f64 = 1.0 - 1e-9;

/// The fitted value as a scale of noise: within a factor of four of the measured one.
pub(crate) fn clamped(fitted: f64, measured: f64, least: f64) -> f64 {
    fitted.clamp(measured.abs() / 4.0, measured.abs() * 4.0).max(least)
}

/// x with weights, about the weighted mean.
pub(super) struct Design {
    pub(super) weights: Vec<f64>,
    pub(super) weight: f64,
    pub(super) x: f64,
    pub(super) xx: f64,
}

/// A solved line, kept about the means so that no digits are lost.
pub(super) struct Solved {
    pub(super) intercept: f64,
    pub(super) slope: f64,
    pub(super) centre: f64,
    pub(super) level: f64,
    pub(super) weight: f64,
    pub(super) squares: f64,
    pub(super) total: f64,
}

impl Design {
    pub(super) fn of(x: &[f64], weights: Vec<f64>) -> Option<Design> {
        let (weight, centre, xx) = spread(x, &weights);
        let usable = x.len() >= 3 && weight.is_finite() && xx.is_finite() && xx > 0.0;
        usable.then_some(Design { weights, weight, x: centre, xx })
    }

    pub(super) fn solve(&self, x: &[f64], y: &[f64]) -> Solved {
        assert_eq!(x.len(), y.len(), "as many y as x");
        let level = y.iter().zip(&self.weights).map(|(y, w)| y * w).sum::<f64>() / self.weight;
        let points = || x.iter().zip(y).zip(&self.weights).map(|((x, y), w)| (*x, *y, *w));
        let slope = points().map(|(x, y, w)| w * (x - self.x) * (y - level)).sum::<f64>() / self.xx;
        let mut fit = Solved {
            intercept: level - slope * self.x,
            slope,
            centre: self.x,
            level,
            weight: self.weight,
            squares: 0.0,
            total: points().map(|(_, y, w)| w * (y - level).powi(2)).sum(),
        };
        fit.squares = points().map(|(x, y, w)| w * fit.residual_at(x, y).powi(2)).sum();
        fit
    }

    /// How much a y at `x` counts for the line there, for weights of 1.
    pub(super) fn leverage(&self, x: f64) -> f64 {
        (1.0 / self.weight + (x - self.x).powi(2) / self.xx).min(LEVERAGE)
    }

    /// How much a y at `x` counts in intercept and slope, for weights of 1.
    pub(super) fn influence(&self, x: f64) -> (f64, f64) {
        let slope = (x - self.x) / self.xx;
        (1.0 / self.weight - self.x * slope, slope)
    }
}

impl Solved {
    pub(super) fn at(&self, x: f64) -> f64 {
        self.level + self.slope * (x - self.centre)
    }

    pub(super) fn residual_at(&self, x: f64, y: f64) -> f64 {
        (y - self.level) - self.slope * (x - self.centre)
    }

    pub(super) fn r_squared(&self) -> f64 {
        // Equal y leave the rounding of their mean.
        let rounding = self.weight * (1e-14 * self.level).powi(2);
        if self.total > rounding { 1.0 - self.squares / self.total } else { 1.0 }
    }
}
