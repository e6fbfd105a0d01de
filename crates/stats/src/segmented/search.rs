//! How many segments there are.

use super::moments::Moments;
use super::partition::{Points, partitions};
use crate::regression::clamped;

/// What a search may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Fewest points of a segment; at least 3, since two make a line without a residual.
    pub fewest: usize,
    /// Most segments.
    pub most: usize,
    /// The least relative noise of a y that is believed, as known from its repetitions or from the
    /// clock; noise found smaller counts as this much.
    pub noise: f64,
}

/// One number of segments with its best cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Index of each segment's first point; the first is 0.
    pub starts: Vec<usize>,
    /// Relative residual standard deviation, √(Σ(y/ŷ − 1)²/(n − 2·segments)).
    pub noise: f64,
    /// The criterion; the least one wins.
    pub criterion: f64,
}

/// The outcome of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The best cut for each number of segments from 1 on.
    pub candidates: Vec<Candidate>,
    /// Index of the chosen one.
    pub best: usize,
    /// The fitted values of the chosen one, for weights 1/ŷ².
    pub fitted: Vec<f64>,
}

impl Choice {
    /// The chosen cut.
    #[must_use]
    pub fn chosen(&self) -> &Candidate {
        &self.candidates[self.best]
    }
}

/// Searches passes with better weights; the second usually changes nothing.
const PASSES: usize = 4;

/// Reweightings of a candidate's lines; enough for the criterion, not the last digit.
const REWEIGHTINGS: usize = 6;

/// Finds the number of straight segments and their cuts, for positive y with noise in proportion to
/// y; `None` for fewer than `fewest` points.
///
/// *Formula*: over the best cut for each number K of segments, minimises the Schwarz criterion
/// (BIC) n·ln v + (S/v − (n − 2K)) + 2·Σ ln ŷᵢ + p·ln n. S = Σ(yᵢ/ŷᵢ − 1)² and v = max(S/(n − 2K),
/// noise²). p = 2K + 2(K − 1): two coefficients a segment, and each cut counted twice, since it is
/// the best of many places rather than a smooth parameter. Cuts are found with weights 1/ŷ² of the
/// previous pass's winner (1/y² at first).
/// *Assumes* independent errors with standard deviation in proportion to y; x ascending.
/// *Source*: Schwarz, "Estimating the Dimension of a Model" (1978); Zhang and Siegmund, "A Modified
/// Bayes Information Criterion with Applications to the Analysis of Comparative Genomic
/// Hybridization Data" (2007), for what a cut counts.
///
/// # Panics
/// If the slices differ in length, or `fewest` is below 3.
#[must_use]
pub fn search(x: &[f64], y: &[f64], limits: Limits) -> Option<Choice> {
    assert!(limits.fewest >= 3, "a segment of a search has at least three points");
    let mut weights: Vec<f64> = y.iter().map(|y| 1.0 / (y * y)).collect();
    let mut choice: Option<Choice> = None;
    for _ in 0..PASSES {
        let next = pass(x, y, &weights, limits)?;
        let settled = choice.is_some_and(|old| old.chosen().starts == next.chosen().starts);
        weights = next.fitted.iter().map(|fitted| fitted.powi(-2)).collect();
        choice = Some(next);
        if settled {
            break;
        }
    }
    choice
}

fn pass(x: &[f64], y: &[f64], weights: &[f64], limits: Limits) -> Option<Choice> {
    let (candidates, mut fits): (Vec<Candidate>, Vec<Vec<f64>>) =
        partitions(&Points { x, y, weights, fewest: limits.fewest }, limits.most)
            .into_iter()
            .map(|cut| judge(x, y, weights, cut.starts, limits.noise))
            .unzip();
    let best = (0..candidates.len())
        .min_by(|&a, &b| candidates[a].criterion.total_cmp(&candidates[b].criterion))?;
    let fitted = fits.swap_remove(best);
    Some(Choice { candidates, best, fitted })
}

/// The criterion of one cut, with the fitted values.
fn judge(
    x: &[f64],
    y: &[f64],
    weights: &[f64],
    starts: Vec<usize>,
    least: f64,
) -> (Candidate, Vec<f64>) {
    let count = x.len() as f64;
    let mut fitted: Vec<f64> = weights.iter().map(|w| w.powf(-0.5)).collect();
    let mut squares = 0.0;
    for (segment, &start) in starts.iter().enumerate() {
        let end = starts.get(segment + 1).copied().unwrap_or(x.len());
        squares += reweighted(&x[start..end], &y[start..end], &mut fitted[start..end]);
    }
    let coefficients = 2.0 * starts.len() as f64;
    let cuts = starts.len() as f64 - 1.0;
    let degrees = (count - coefficients).max(1.0);
    let variance = (squares / degrees).max(least * least);
    let levels: f64 = fitted.iter().map(|fitted| fitted.ln()).sum();
    let criterion = count * variance.ln()
        + (squares / variance - degrees)
        + 2.0 * levels
        + (coefficients + 2.0 * cuts) * count.ln();
    (Candidate { starts, noise: (squares / degrees).sqrt(), criterion }, fitted)
}

/// Fits one segment, from and to the scale of noise in `scale`; answers Σ((y − line)/scale)².
fn reweighted(x: &[f64], y: &[f64], scale: &mut [f64]) -> f64 {
    let mut squares = 0.0;
    for _ in 0..REWEIGHTINGS {
        let sum =
            x.iter().zip(y).zip(scale.iter()).fold(Moments::default(), |sum, ((&x, &y), s)| {
                sum.join(Moments::point(x, y, s.powi(-2)))
            });
        let (intercept, slope) = sum.line();
        squares = 0.0;
        for ((scale, &x), &y) in scale.iter_mut().zip(x).zip(y) {
            let line = intercept + slope * x;
            *scale = clamped(line, y, 0.0);
            squares += ((y - line) / *scale).powi(2);
        }
    }
    squares
}
