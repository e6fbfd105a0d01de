//! A straight line with intervals, under two assumptions about the noise.
//!
//! [`ordinary`] minimises absolute errors and assumes nothing about how the noise depends on x;
//! [`relative`] minimises relative errors and assumes noise in proportion to y, and so does
//! [`relative_plane`] for two variables.

mod degrees;
mod design;
mod ordinary;
mod plane;
mod relative;

pub(crate) use design::{clamped, variance};
pub use ordinary::ordinary;
pub use plane::{Plane, relative_plane};
pub use relative::relative;

use crate::interval::{Interval, student_factor, t_interval};

/// A fitted line y = intercept + slope·x with its variances and their degrees of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct Regression {
    /// Value at x = 0.
    pub intercept: f64,
    /// Rise per unit of x.
    pub slope: f64,
    /// Variance of the intercept.
    pub intercept_variance: f64,
    /// Variance of the slope.
    pub slope_variance: f64,
    /// Covariance of the two.
    pub covariance: f64,
    /// Degrees of freedom behind the intercept's variance.
    pub intercept_degrees: f64,
    /// Degrees of freedom behind the slope's variance.
    pub slope_degrees: f64,
    /// Degrees of freedom behind the variance of intercept − ρ·slope, ρ being their ratio.
    pub ratio_degrees: f64,
    /// 1 − Σwr²/Σw(y − ȳ)² with ȳ the weighted mean; 1 where all y are the same.
    pub r_squared: f64,
    /// Weight w of each y: 1 for [`ordinary`] and 1/(vŷ²), up to a factor, for [`relative`].
    pub weights: Vec<f64>,
}

impl Regression {
    /// The line's y at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }

    /// The t interval of the intercept.
    ///
    /// # Panics
    /// If the confidence is not strictly between 0 and 1.
    pub fn intercept_interval(&self, confidence: f64) -> Interval {
        t_interval(self.intercept, self.intercept_variance, self.intercept_degrees, confidence)
    }

    /// The t interval of the slope.
    ///
    /// # Panics
    /// If the confidence is not strictly between 0 and 1.
    pub fn slope_interval(&self, confidence: f64) -> Interval {
        t_interval(self.slope, self.slope_variance, self.slope_degrees, confidence)
    }

    /// Fieller's interval of intercept/slope. `None` if the slope may be zero, since the interval
    /// is unbounded then.
    ///
    /// *Formula*: all ρ with (a − ρb)² ≤ t²·(var a − 2ρ·cov + ρ²·var b), a the intercept, b the
    /// slope, t for the degrees of freedom of a − ρb at ρ = a/b.
    /// *Units*: those of x.
    /// *Source*: Fieller, "Some Problems in Interval Estimation" (1954).
    ///
    /// # Panics
    /// If the confidence is not strictly between 0 and 1.
    pub fn ratio_interval(&self, confidence: f64) -> Option<Interval> {
        let t2 = student_factor(self.ratio_degrees, confidence).powi(2);
        let (a, b) = (self.intercept, self.slope);
        // A quadratic in ρ: square·ρ² − 2·half·ρ + constant ≤ 0.
        let square = b * b - t2 * self.slope_variance;
        if square.is_nan() || square <= 0.0 {
            return None;
        }
        let half = a * b - t2 * self.covariance;
        let constant = a * a - t2 * self.intercept_variance;
        let root = (half * half - square * constant).max(0.0).sqrt();
        Some(Interval { low: (half - root) / square, high: (half + root) / square })
    }
}
