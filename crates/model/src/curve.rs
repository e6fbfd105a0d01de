//! One curve of the signature: elapsed time over M at one Δ.

use bandgap_stats::Line;
use bandgap_stats::line::Influence;
use bandgap_stats::quantile::{median, variance};

use crate::linear::{Group, Linear};
use crate::scatter::Scatter;

/// One M of a curve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CurvePoint {
    pub messages: f64,
    pub group: usize,
    pub mean: f64,
    /// Standard error of the mean, from the curve's smoothed variance.
    pub error: f64,
    /// The larger of `error` and the standard error from the point's own batches.
    pub larger_error: f64,
}

/// The points of one Δ, M ascending.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub delay: f64,
    pub points: Vec<CurvePoint>,
}

/// A straight line through neighbouring points of a curve.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    pub points: Vec<CurvePoint>,
    /// Weight of each point in the line.
    influence: Influence,
}

impl Stretch {
    /// A line through the points, weighted by their errors; `None` for fewer than two M.
    pub(crate) fn through(points: &[CurvePoint]) -> Option<Stretch> {
        let messages: Vec<f64> = points.iter().map(|p| p.messages).collect();
        let weights: Vec<f64> = points.iter().map(|p| p.error.powi(-2)).collect();
        Some(Stretch { points: points.to_vec(), influence: Influence::of(&messages, &weights)? })
    }

    /// The time of a single message, taken as a slope.
    pub(crate) fn single(point: CurvePoint) -> Stretch {
        let influence = Influence { slope: vec![1.0], intercept: vec![0.0] };
        Stretch { points: vec![point], influence }
    }

    /// Whether this is the time of a single message.
    pub(crate) fn is_single(&self) -> bool {
        self.points.len() == 1
    }

    fn sum(&self, coefficients: &[f64]) -> f64 {
        coefficients.iter().zip(&self.points).map(|(c, p)| c * p.mean).sum()
    }

    pub(crate) fn slope(&self) -> f64 {
        self.sum(&self.influence.slope)
    }

    pub(crate) fn intercept(&self) -> f64 {
        self.sum(&self.influence.intercept)
    }

    pub(crate) fn at(&self, messages: f64) -> f64 {
        self.intercept() + self.slope() * messages
    }

    /// Smoothed variance of the slope.
    pub(crate) fn slope_variance(&self) -> f64 {
        self.influence.slope.iter().zip(&self.points).map(|(c, p)| (c * p.error).powi(2)).sum()
    }

    /// Distance of `point` from the line, and the standard error of that distance.
    pub(crate) fn distance(&self, point: &CurvePoint) -> (f64, f64) {
        let mut predicted = 0.0;
        let mut variance = point.error.powi(2);
        for (i, known) in self.points.iter().enumerate() {
            let weight = self.influence.intercept[i] + point.messages * self.influence.slope[i];
            predicted += weight * known.mean;
            variance += (weight * known.error).powi(2);
        }
        ((point.mean - predicted).abs(), variance.sqrt())
    }

    /// Scatter of the points about the line; `None` for two points.
    pub(crate) fn scatter(&self) -> Option<Scatter> {
        Scatter::of(self.points.iter().map(|p| (p.mean - self.at(p.messages)) / p.larger_error))
    }

    pub(crate) fn slope_terms(&self) -> Linear {
        self.terms(&self.influence.slope)
    }

    pub(crate) fn intercept_terms(&self) -> Linear {
        self.terms(&self.influence.intercept)
    }

    fn terms(&self, coefficients: &[f64]) -> Linear {
        Linear::of(self.points.iter().map(|p| p.group).zip(coefficients.iter().copied()))
    }
}

impl Curve {
    /// Sorts the points and smooths their variances.
    ///
    /// The variance of few batches scatters by tens of per cent, and weights from it would favour
    /// points with a small variance by chance. A power of the elapsed time, fitted to all points of
    /// the curve, gives steadier weights: power 0 is a clock's constant jitter, 2 a share of the
    /// time. Only weights and tests use the smoothed variances; intervals use each point's own
    /// batches.
    pub(crate) fn new(delay: f64, messages_and_groups: &[(u64, usize)], groups: &[Group]) -> Curve {
        let mut order = messages_and_groups.to_vec();
        order.sort_unstable();
        let relative: Vec<f64> = order
            .iter()
            .map(|&(_, g)| {
                variance(&groups[g].batches) / groups[g].mean.powi(2).max(f64::MIN_POSITIVE)
            })
            .collect();
        let typical = median(&relative);
        // Exact data has no variance; any small value gives relative weights.
        let floor = (typical / 100.0).max(1e-12);
        let logs: Vec<f64> =
            order.iter().map(|&(_, g)| groups[g].mean.max(f64::MIN_POSITIVE).ln()).collect();
        let log_relative: Vec<f64> = relative.iter().map(|r| r.max(floor).ln()).collect();
        let degrees: Vec<f64> = order.iter().map(|&(_, g)| groups[g].degrees()).collect();
        let total: f64 = degrees.iter().sum();
        let centre =
            |values: &[f64]| values.iter().zip(&degrees).map(|(v, d)| v * d).sum::<f64>() / total;
        // Relative variance ∝ elapsed^(power − 2).
        let power = match Line::fit(&logs, &log_relative, &degrees) {
            Some(line) if order.len() >= 4 => line.slope.clamp(-2.0, 0.0),
            _ => 0.0,
        };
        let level = centre(&log_relative) - power * centre(&logs);
        let points = order
            .iter()
            .zip(&logs)
            .map(|(&(messages, group), log)| {
                let variance = (level + power * log).exp() * groups[group].mean.powi(2);
                let own = self::variance(&groups[group].batches);
                let error = |variance: f64| {
                    let error = (variance / groups[group].batches.len() as f64).sqrt();
                    error.max(f64::MIN_POSITIVE.sqrt())
                };
                CurvePoint {
                    messages: messages as f64,
                    group,
                    mean: groups[group].mean,
                    error: error(variance),
                    larger_error: error(variance.max(own)),
                }
            })
            .collect();
        Curve { delay, points }
    }
}
