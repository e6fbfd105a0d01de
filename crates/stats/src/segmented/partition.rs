//! Where to cut for a given number of segments.

use std::ops::Range;

use super::moments::Moments;
use crate::interval::assert_confidence;

/// Up to this many points, every cut is considered.
pub const EXACT: usize = 400;

/// Maximum number of rounds of moving one cut after another; each lowers the misfit or is the last.
const ROUNDS: usize = 50;

/// Weighted points sorted by x, and the shortest segment.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    /// Ascending. Equal x may be separated by a cut.
    pub x: &'a [f64],
    /// As many as x.
    pub y: &'a [f64],
    /// Positive, as many as x.
    pub weights: &'a [f64],
    /// Fewest points of a segment; at least 1.
    pub fewest: usize,
}

impl Points<'_> {
    pub(super) fn check(&self) {
        let count = self.x.len();
        assert!(count == self.y.len() && count == self.weights.len(), "as many y and weights as x");
        assert!(self.fewest > 0, "a segment has points");
    }

    fn moments(&self, index: usize) -> Moments {
        Moments::point(self.x[index], self.y[index], self.weights[index])
    }

    /// The positions of cut `cut` between its neighbours, as from [`Points::cuts`].
    pub(super) fn cuts_around(&self, starts: &[usize], cut: usize) -> Vec<(usize, f64)> {
        self.cuts(starts[cut - 1], self.segment(starts, cut).end)
    }

    /// The points of a segment.
    pub(super) fn segment(&self, starts: &[usize], segment: usize) -> Range<usize> {
        starts[segment]..starts.get(segment + 1).copied().unwrap_or(self.x.len())
    }

    /// The misfit of the points `start..end`, cut in two at each position that leaves both sides
    /// with enough points: (first point of the right side, misfit of both).
    fn cuts(&self, start: usize, end: usize) -> Vec<(usize, f64)> {
        let mut right = vec![0.0; end - start];
        let mut sum = Moments::default();
        for index in (start..end).rev() {
            sum = self.moments(index).join(sum);
            right[index - start] = sum.misfit();
        }
        let mut left = Moments::default();
        let mut cuts = Vec::new();
        for index in start..end {
            if index >= start + self.fewest && index + self.fewest <= end {
                cuts.push((index, left.misfit() + right[index - start]));
            }
            left = left.join(self.moments(index));
        }
        cuts
    }

    /// The moments of these points together.
    fn together(&self, part: Range<usize>) -> Moments {
        part.fold(Moments::default(), |sum, i| sum.join(self.moments(i)))
    }
}

/// The best cuts of the points into 1, 2, … `most` straight lines; fewer if there are too few
/// points.
///
/// The lines need not meet at a cut. Element k of the result has the first points of k + 1
/// segments; the first of them is 0.
///
/// *Formula*: minimises Σw(y − aₖ − bₖx)² by dynamic programming, best(k, j) = minᵢ best(k − 1, i) +
/// misfit(i, j).
/// *Assumes* independent errors with variances proportional to 1/w.
/// *Cost*: quadratic up to [`EXACT`] points, and optimal. With more, the points are gathered in
/// [`EXACT`] blocks of neighbours; cuts are first placed between blocks, and then each is moved to
/// its best position between its neighbours until none moves. So a segment shorter than two blocks
/// may be missed.
/// *Source*: Bellman and Roth, "Curve Fitting by Segmented Straight Lines" (1969).
///
/// # Panics
/// If the points' slices differ in length, or `fewest` is 0.
pub fn partitions(points: &Points, most: usize) -> Vec<Vec<usize>> {
    points.check();
    let count = points.x.len();
    let most = most.min(count / points.fewest);
    if most == 0 {
        return Vec::new();
    }
    let blocks = count.min(EXACT);
    let borders: Vec<usize> = (0..=blocks).map(|b| b * count / blocks).collect();
    let mut partitions = on_borders(points, &borders, most);
    if blocks < count {
        for starts in &mut partitions {
            settle(points, starts);
        }
    }
    partitions
}

/// Dynamic programming with cuts only at `borders`.
fn on_borders(points: &Points, borders: &[usize], most: usize) -> Vec<Vec<usize>> {
    let blocks: Vec<Moments> = borders.windows(2).map(|b| points.together(b[0]..b[1])).collect();
    let last = blocks.len();
    // best[k][j]: of the first j blocks in k + 1 segments; from[k][j]: where the last one starts.
    let mut best = vec![vec![f64::INFINITY; last + 1]; most];
    let mut from = vec![vec![0; last + 1]; most];
    for end in 1..=last {
        let mut sum = Moments::default();
        for start in (0..end).rev() {
            sum = blocks[start].join(sum);
            if borders[end] - borders[start] < points.fewest {
                continue;
            }
            let misfit = sum.misfit();
            if start == 0 {
                best[0][end] = misfit;
                continue;
            }
            for k in 1..most {
                let total = best[k - 1][start] + misfit;
                if total < best[k][end] {
                    best[k][end] = total;
                    from[k][end] = start;
                }
            }
        }
    }
    (0..most)
        .take_while(|&k| best[k][last].is_finite())
        .map(|k| {
            let mut starts = vec![0; k + 1];
            let mut end = last;
            for segment in (1..=k).rev() {
                end = from[segment][end];
                starts[segment] = borders[end];
            }
            starts
        })
        .collect()
}

/// Moves each cut to its best position between its neighbours, until none moves.
fn settle(points: &Points, starts: &mut [usize]) {
    for _ in 0..ROUNDS {
        let before = starts.to_vec();
        for cut in 1..starts.len() {
            let cuts = points.cuts_around(starts, cut);
            if let Some(&(index, _)) = cuts.iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
                starts[cut] = index;
            }
        }
        if starts == before {
            break;
        }
    }
}

/// The first and the last position that the points allow for cut `cut` of `starts`, as indices of
/// the right segment's first point. The other cuts stay.
///
/// *Formula*: from the lowest to the highest k with S(k) − S(cut) ≤ −2·ln(1 − √confidence), where
/// S(k) = Σw(y − line)² of the two segments that meet at k. The bound is the quantile of the
/// likelihood ratio of a threshold, 7.35 at 95 %; it is conservative if the lines differ by much.
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
