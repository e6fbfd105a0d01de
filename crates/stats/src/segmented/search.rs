//! How many segments there are.

use super::moments::Moments;
use super::partition::{Points, partitions};
use crate::quantile::sorted;
use crate::regression::clamped;

/// What a search may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits<'a> {
    /// Fewest points of a segment; at least 3, since two make a line without a residual.
    pub fewest: usize,
    /// Most segments.
    pub most: usize,
    /// The least relative noise of each y, as known from its repetitions, the clock, or its last digit.
    /// If less noise is found, this counts. Positive.
    pub noise: &'a [f64],
}

/// The number of segments whose best cut wins, and that cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Index of each segment's first point; the first is 0.
    pub starts: Vec<usize>,
    /// Relative standard deviation of each y whose least noise is smaller.
    pub noise: f64,
    /// One over the variance of each y.
    pub weights: Vec<f64>,
}

/// One number of segments with its best cut.
struct Candidate {
    starts: Vec<usize>,
    /// As in [`Choice`].
    noise: f64,
    /// The least one wins.
    criterion: f64,
    /// ŷ.
    fitted: Vec<f64>,
}

/// Searches passes with better weights; the second usually changes nothing.
const PASSES: usize = 4;

/// Reweightings of a candidate's lines; enough for the criterion, not the last digit.
const REWEIGHTINGS: usize = 6;

/// Rounds to find the points whose noise is to be estimated.
const NOISE_ROUNDS: usize = 20;

/// Finds the number of straight segments and their cuts, for positive y with noise in proportion to
/// y; `None` for fewer than `fewest` points.
///
/// *Formula*: over the best cut for each number K of segments, minimises the Schwarz criterion
/// (BIC) Σ ln vᵢ + (Σeᵢ²/vᵢ − (n − 2K)) + 2·Σ ln ŷᵢ + p·ln n. eᵢ = yᵢ/ŷᵢ − 1, vᵢ = max(v, noiseᵢ²), and v
/// is the mean of e² over the y whose noise² is below v, times n/(n − 2K). p = 2K + 2(K − 1): two
/// coefficients a segment, and each cut counted twice, since it is the best of many places and not a
/// smooth parameter. Cuts are found with weights 1/(vᵢŷᵢ²) of the previous pass's winner (at
/// first with y for ŷ, and the median noise² for v).
/// *Assumes* independent errors, their standard deviation in proportion to y where it is not known
/// to be greater; x ascending.
/// *Source*: Schwarz, "Estimating the Dimension of a Model" (1978); Zhang and Siegmund, "A Modified
/// Bayes Information Criterion with Applications to the Analysis of Comparative Genomic
/// Hybridization Data" (2007), for what a cut counts.
///
/// # Panics
/// If the slices differ in length, or `fewest` is below 3.
#[must_use]
pub fn search(x: &[f64], y: &[f64], limits: Limits<'_>) -> Option<Choice> {
    assert!(limits.fewest >= 3, "a segment of a search has at least three points");
    assert_eq!(y.len(), limits.noise.len(), "as much noise as y");
    let usual = *sorted(limits.noise).get(y.len() / 2)?;
    let mut noise: Vec<f64> = limits.noise.iter().map(|noise| noise.max(usual)).collect();
    let mut fitted = y.to_vec();
    let mut choice: Option<Choice> = None;
    for _ in 0..PASSES {
        let weights = weights(&fitted, &noise);
        let points = Points { x, y, weights: &weights, fewest: limits.fewest };
        let best = partitions(&points, limits.most)
            .into_iter()
            .map(|cut| judge(&points, &noise, limits.noise, cut.starts))
            .min_by(|a, b| a.criterion.total_cmp(&b.criterion))?;
        let settled = choice.is_some_and(|old| old.starts == best.starts);
        fitted = best.fitted;
        noise = limits.noise.iter().map(|least| least.max(best.noise)).collect();
        let weights = self::weights(&fitted, &noise);
        choice = Some(Choice { starts: best.starts, noise: best.noise, weights });
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

/// The criterion of one cut, with the fitted values. `noise` is what the points' weights assume.
fn judge(points: &Points, noise: &[f64], least: &[f64], starts: Vec<usize>) -> Candidate {
    let all = points.x.len();
    let mut fitted: Vec<f64> =
        points.weights.iter().zip(noise).map(|(w, noise)| w.powf(-0.5) / noise).collect();
    let mut errors = vec![0.0; all];
    for segment in 0..starts.len() {
        let part = points.segment(&starts, segment);
        let (fitted, errors) = (&mut fitted[part.clone()], &mut errors[part.clone()]);
        let (x, y) = (&points.x[part.clone()], &points.y[part.clone()]);
        reweighted(x, y, &noise[part], fitted, errors);
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
    Candidate { starts, noise: variance.sqrt(), criterion, fitted }
}

/// The variance of errors, as a mean over the points whose own variance is not known to be greater.
/// `correction` is for the coefficients that were fitted.
fn variance(errors: &[f64], least: &[f64], correction: f64) -> f64 {
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
        // From above: fewer points, and those that are left out had the greatest noise.
        if next >= variance {
            break;
        }
        variance = next;
    }
    variance
}

/// Fits one segment, from and to the scale of noise in `scale`, and sets (y − line)/scale.
fn reweighted(x: &[f64], y: &[f64], noise: &[f64], scale: &mut [f64], errors: &mut [f64]) {
    for _ in 0..REWEIGHTINGS {
        let mut sum = Moments::default();
        for (((&x, &y), noise), scale) in x.iter().zip(y).zip(noise).zip(scale.iter()) {
            sum = sum.join(Moments::point(x, y, (noise * scale).powi(-2)));
        }
        let fitted = sum.line();
        for (((scale, error), &x), &y) in scale.iter_mut().zip(errors.iter_mut()).zip(x).zip(y) {
            let line = fitted.at(x);
            *scale = clamped(line, y, 0.0);
            *error = (y - line) / *scale;
        }
    }
}
