//! Straight lines by least squares.

use crate::quantile::mean;

/// A line y = intercept + slope·x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Rise per unit of x.
    pub slope: f64,
    /// Value at x = 0.
    pub intercept: f64,
}

impl Line {
    /// Weighted least squares, minimising Σwᵢ(yᵢ − a − b·xᵢ)²; `None` for fewer than two different
    /// x of positive weight.
    ///
    /// *Formula*: slope = Sxy/Sxx, intercept = ȳ − slope·x̄, all about the weighted means. Only the
    /// ratios of the weights matter; weights 1/y² minimise the relative error.
    /// *Assumes* variances of y proportional to 1/w.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn fit(x: &[f64], y: &[f64], weights: &[f64]) -> Option<Line> {
        assert_eq!(x.len(), y.len(), "as many y as x");
        let Influence { slope, intercept } = Influence::of(x, weights)?;
        // Sums about a level, so that a large common level costs no digits.
        let level = mean(y);
        let sum = |of: &[f64]| of.iter().zip(y).map(|(c, y)| c * (y - level)).sum::<f64>();
        Some(Line { slope: sum(&slope), intercept: level + sum(&intercept) })
    }

    /// The line's y at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// How much each y counts in the slope and the intercept of a weighted fit: slope = Σ slopeᵢ·yᵢ and
/// intercept = Σ interceptᵢ·yᵢ.
///
/// With these, a parameter that depends on several fits is a plain sum over measured means, and its
/// variance follows from theirs.
#[derive(Clone, Debug, PartialEq)]
pub struct Influence {
    /// Coefficient of each y in the slope.
    pub slope: Vec<f64>,
    /// Coefficient of each y in the intercept.
    pub intercept: Vec<f64>,
}

impl Influence {
    /// The coefficients for the given x and weights; `None` for fewer than two different x of
    /// positive weight.
    ///
    /// *Formula*: slopeᵢ = wᵢ(xᵢ − x̄)/Sxx, interceptᵢ = wᵢ/Σw − x̄·slopeᵢ.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn of(x: &[f64], weights: &[f64]) -> Option<Influence> {
        assert_eq!(x.len(), weights.len(), "as many weights as x");
        let (total, centre, spread) = spread(x, weights);
        // Without weight the spread is NaN.
        if total.is_nan() || total <= 0.0 || spread.is_nan() || spread <= 0.0 {
            return None;
        }
        let slope: Vec<f64> =
            x.iter().zip(weights).map(|(x, w)| w * (x - centre) / spread).collect();
        let intercept = weights.iter().zip(&slope).map(|(w, slope)| w / total - centre * slope);
        Some(Influence { intercept: intercept.collect(), slope })
    }
}

/// Σw, the weighted mean x̄, and Σw(x − x̄)².
pub(crate) fn spread(x: &[f64], weights: &[f64]) -> (f64, f64, f64) {
    let total: f64 = weights.iter().sum();
    let centre = x.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>() / total;
    let spread = x.iter().zip(weights).map(|(x, w)| w * (x - centre).powi(2)).sum();
    (total, centre, spread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_points_make_an_exact_line() {
        let line = Line::fit(&[1.0, 3.0], &[5.0, 9.0], &[1.0; 2]).unwrap();
        assert_eq!((line.slope, line.intercept), (2.0, 3.0));
        assert_eq!(line.at(10.0), 23.0);
    }

    #[test]
    fn one_place_makes_none() {
        assert!(Line::fit(&[2.0; 3], &[1.0, 2.0, 3.0], &[1.0; 3]).is_none());
        assert!(Line::fit(&[], &[], &[]).is_none());
        assert!(Line::fit(&[1.0, 2.0], &[1.0, 2.0], &[0.0, 0.0]).is_none());
    }

    proptest! {
        #[test]
        fn influence_reproduces_the_fit(
            points in prop::collection::vec((0.0..100.0f64, -50.0..50.0f64, 0.1..10.0f64), 3..12),
        ) {
            let x: Vec<f64> = points.iter().enumerate().map(|(i, p)| p.0 + 100.0 * i as f64).collect();
            let y: Vec<f64> = points.iter().map(|p| p.1).collect();
            let weights: Vec<f64> = points.iter().map(|p| p.2).collect();
            let line = Line::fit(&x, &y, &weights).unwrap();
            let influence = Influence::of(&x, &weights).unwrap();
            let sum = |c: &[f64]| c.iter().zip(&y).map(|(c, y)| c * y).sum::<f64>();
            prop_assert!((sum(&influence.slope) - line.slope).abs() < 1e-9);
            prop_assert!((sum(&influence.intercept) - line.intercept).abs() < 1e-7);
        }

        #[test]
        fn weight_two_is_the_point_twice(a in -9.0..9.0f64, b in -9.0..9.0f64, c in -9.0..9.0f64) {
            let once = Line::fit(&[1.0, 2.0, 4.0], &[a, b, c], &[1.0, 2.0, 1.0]).unwrap();
            let twice = Line::fit(&[1.0, 2.0, 2.0, 4.0], &[a, b, b, c], &[1.0; 4]).unwrap();
            prop_assert!((once.slope - twice.slope).abs() < 1e-9);
            prop_assert!((once.intercept - twice.intercept).abs() < 1e-9);
        }
    }
}
