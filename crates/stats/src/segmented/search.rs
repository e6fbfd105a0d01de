//! How many segments there are.

use super::moments::Moments;
use super::partition::{Points, partitions};
use crate::interval::Interval;
use crate::quantile::sorted;
use crate::regression::{clamped, variance};

/// Where segments begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cuts<'a> {
    /// To be found, with at most this many segments.
    Most(usize),
    /// Given: index of each segment's first point; the first is 0.
    At(&'a [usize]),
}

/// Constraints on a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits<'a> {
    /// Fewest points of a segment; at least 3, since two make a line without a residual.
    pub fewest: usize,
    /// Where segments begin.
    pub cuts: Cuts<'a>,
    /// The least relative noise of each y, as known from its repetitions, the clock, or its last
    /// digit. It counts if the points scatter less. Positive.
    pub noise: &'a [f64],
    /// The possible values of each rounded y; y itself if it is not rounded.
    pub ranges: &'a [Interval],
}

/// The best number of segments and its cuts.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Index of each segment's first point; the first is 0.
    pub starts: Vec<usize>,
    /// Relative standard deviation of every y whose least noise is smaller.
    pub noise: f64,
    /// One over the variance of each y.
    pub weights: Vec<f64>,
    /// The fitted values.
    pub fitted: Vec<f64>,
    /// The criterion, which the choice minimises.
    pub(super) criterion: f64,
}

/// Maximum number of passes of a search, each with better weights; the second usually changes
/// nothing.
const PASSES: usize = 4;

/// Reweightings of a candidate's lines; enough for the criterion, not the last digit.
const REWEIGHTINGS: usize = 6;

/// Finds the number of straight segments and their cuts, for positive y with noise in proportion to
/// y; `None` for fewer than `fewest` points.
///
/// *Formula*: over the best cuts for each number K of segments, minimises the Schwarz criterion
/// (BIC) Σ ln vᵢ + (Σeᵢ²/vᵢ − (n − 2K)) + 2·Σ ln ŷᵢ + p·ln n. Here eᵢ = yᵢ/ŷᵢ − 1, vᵢ = max(v,
/// noiseᵢ²), and v is the mean of e² over the y with noise² below v, times n/(n − 2K). In a range,
/// the value nearest to the line counts, so a line through all ranges has no misfit. p = 2K + 2(K −
/// 1): two coefficients per segment, and each cut counted twice, since it is the best of many
/// positions and not a smooth parameter. Cuts are found with weights 1/(vᵢŷᵢ²) of the previous
/// pass's winner (at first with y for ŷ, and the median noise² for v).
/// *Assumes* independent errors with standard deviations proportional to y unless known to be
/// greater; x ascending.
/// *Source*: Schwarz, "Estimating the Dimension of a Model" (1978); Zhang and Siegmund, "A Modified
/// Bayes Information Criterion with Applications to the Analysis of Comparative Genomic
/// Hybridization Data" (2007), for what a cut counts.
///
/// # Panics
/// If the slices differ in length, or `fewest` is below 3.
pub fn search(x: &[f64], y: &[f64], limits: Limits<'_>) -> Option<Choice> {
    assert!(limits.fewest >= 3, "a segment of a search has at least three points");
    assert_eq!([y.len(); 2], [limits.noise.len(), limits.ranges.len()], "noise of each y");
    if y.len() < limits.fewest {
        return None;
    }
    let usual = *sorted(limits.noise).get(y.len() / 2)?;
    let mut noise: Vec<f64> = limits.noise.iter().map(|noise| noise.max(usual)).collect();
    let mut fitted = y.to_vec();
    let mut choice: Option<Choice> = None;
    for _ in 0..PASSES {
        let weights = weights(&fitted, &noise);
        let points = Points { x, y, weights: &weights, fewest: limits.fewest };
        let cuts = match limits.cuts {
            Cuts::Most(most) => partitions(&points, most),
            Cuts::At(starts) => vec![starts.to_vec()],
        };
        let best = cuts
            .into_iter()
            .map(|starts| judge(&points, &noise, limits, starts))
            .min_by(|a, b| a.criterion.total_cmp(&b.criterion))?;
        let settled = choice.is_some_and(|old| old.starts == best.starts);
        noise = limits.noise.iter().map(|least| least.max(best.noise)).collect();
        fitted.clone_from(&best.fitted);
        let weights = self::weights(&fitted, &noise);
        choice = Some(Choice { weights, ..best });
        if settled {
            break;
        }
    }
    choice
}

/// One over the variance of each y.
fn weights(fitted: &[f64], noise: &[f64]) -> Vec<f64> {
    fitted.iter().zip(noise).map(|(fitted, noise)| (fitted * noise).powi(-2)).collect()
}

/// The criterion of these cuts, with the fitted values. `noise` is what the points' weights assume.
fn judge(points: &Points, noise: &[f64], limits: Limits<'_>, starts: Vec<usize>) -> Choice {
    let least = limits.noise;
    let all = points.x.len();
    let mut fitted: Vec<f64> =
        points.weights.iter().zip(noise).map(|(w, noise)| w.powf(-0.5) / noise).collect();
    let mut errors = vec![0.0; all];
    for segment in 0..starts.len() {
        let part = points.segment(&starts, segment);
        let (fitted, errors) = (&mut fitted[part.clone()], &mut errors[part.clone()]);
        let own = |at: usize| (points.x[at], points.y[at], noise[at], limits.ranges[at]);
        reweighted(&part.map(own).collect::<Vec<_>>(), fitted, errors);
    }
    let count = all as f64;
    let coefficients = 2.0 * starts.len() as f64;
    let cuts = starts.len() as f64 - 1.0;
    let degrees = (count - coefficients).max(1.0);
    let variance = variance(&errors, least, count / degrees);
    let each = least.iter().map(|least| variance.max(least * least));
    let misfit: f64 = each.zip(&errors).map(|(v, error)| v.ln() + error * error / v).sum();
    let levels: f64 = fitted.iter().map(|fitted| fitted.ln()).sum();
    let criterion = misfit - degrees + 2.0 * levels + (coefficients + 2.0 * cuts) * count.ln();
    Choice { starts, noise: variance.sqrt(), weights: Vec::new(), fitted, criterion }
}

/// Fits one segment of (x, y, noise, range). `scale` holds the fitted values, as input and output;
/// `errors` becomes the distance of the nearest value in each range from the line, relative to the
/// scale.
fn reweighted(points: &[(f64, f64, f64, Interval)], scale: &mut [f64], errors: &mut [f64]) {
    for _ in 0..REWEIGHTINGS {
        let mut sum = Moments::default();
        for ((x, _, noise, range), scale) in points.iter().zip(scale.iter()) {
            sum = sum.join(Moments::point(*x, range.nearest(*scale), (noise * scale).powi(-2)));
        }
        let fitted = sum.line();
        for ((&(x, y, _, range), scale), error) in points.iter().zip(&mut *scale).zip(&mut *errors)
        {
            let line = fitted.at(x);
            *scale = clamped(line, y, 0.0);
            *error = (range.nearest(line) - line) / *scale;
        }
    }
}
