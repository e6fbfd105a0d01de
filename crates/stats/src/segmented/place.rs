//! Where a cut may be.

use super::partition::Points;
use crate::interval::assert_confidence;

/// The first and the last place where the points allow the cut `cut` of `starts` to be, as indices
/// of the right segment's first point. The other cuts stay.
///
/// *Formula*: all places k with S(k) − S(cut) ≤ −2·ln(1 − √confidence), from the lowest to the
/// highest; S(k) = Σw(y − line)² of the two segments that meet at k. The bound is the quantile of the
/// likelihood ratio of a threshold, 7.35 at 95 %; it is conservative where the lines differ by much.
/// *Assumes* independent errors of variance 1/w.
/// *Source*: Hansen, "Sample Splitting and Threshold Estimation" (2000), section 3.
///
/// # Panics
/// If the points' slices differ in length, `cut` is not a cut of `starts` (1 and up), or the confidence is
/// not strictly between 0 and 1.
pub fn break_range(
    points: &Points,
    starts: &[usize],
    cut: usize,
    confidence: f64,
) -> (usize, usize) {
    points.check();
    assert_confidence(confidence);
    let place = starts[cut];
    let cuts = points.cuts_around(starts, cut);
    let least = cuts.iter().find(|c| c.0 == place).map_or(0.0, |c| c.1);
    let allowed = least - 2.0 * (1.0 - confidence.sqrt()).ln();
    let inside = |c: &&(usize, f64)| c.1 <= allowed;
    let first = cuts.iter().find(inside).map_or(place, |c| c.0);
    let last = cuts.iter().rev().find(inside).map_or(place, |c| c.0);
    (first.min(place), last.max(place))
}
