//! Points that no segment explains.

use super::search::{Choice, Cuts, Limits, search};
use crate::interval::{Interval, student_factor};
use crate::line::{Influence, Line};
use crate::quantile::median;
use crate::regression::clamped;

/// A point that is nearer to its line, relative to the line, stays.
const NEAR: f64 = 0.2;

/// The probability that one of several undisturbed points is excluded.
const CHANCE: f64 = 0.01;

/// One in this many points may be excluded.
const ONE_OF: usize = 8;

/// Maximum number of points tried at once: those furthest from their neighbours' lines.
const SUSPECTS: usize = 6;

/// Number of nearest points whose scatter about the line counts as that of the suspect between
/// them.
const AROUND: usize = 6;

/// Fewest points of a line with residuals.
const FEWEST: usize = 3;

/// From this many points on, a suspect must be [`ODD`] times as far off its neighbours as the
/// median point.
const MANY: usize = 30;
const ODD: f64 = 2.5;

/// Indices of the points, ascending, that [`search`] should exclude: each is far off every line,
/// and the criterion is better without it.
///
/// *Formula*: the mean-shift model, in which an excluded point has a level of its own. Points are
/// excluded one after another, or two at once if they hide each other: those whose exclusion lowers
/// the criterion of [`search`] the most, where each excluded point counts ln v + 2·ln ŷ + 2·ln n,
/// for its level and its position. Each must be off the line of the others by more than 20 % and by
/// t standard errors of a prediction, where t is the two-sided quantile of Student's distribution
/// at 1 − 1 %/n; the point's own scatter is at least that of the six points nearest to it. At most
/// one point in eight (rounded up) is excluded, and no two neighbours, since these may be a short
/// segment.
/// *Assumes* the same as [`search`].
/// *Source*: She and Owen, "Outlier Detection Using Nonconvex Penalized Regression" (2011), for the
/// model and its equivalence to an M-estimator with a redescending ψ; Cook and Weisberg, "Residuals
/// and Influence in Regression" (1982), section 2.2, for the test; Fearnhead and Rigaill,
/// "Changepoint Detection in the Presence of Outliers" (2019), for both in one criterion.
///
/// # Panics
/// In the same cases as [`search`].
pub fn outliers(x: &[f64], y: &[f64], limits: Limits<'_>) -> Vec<usize> {
    let mut out = Vec::new();
    while let Some(found) = step(x, y, limits, &out) {
        out.extend(found);
        out.sort_unstable();
    }
    out
}

/// The next points to exclude.
fn step(x: &[f64], y: &[f64], limits: Limits<'_>, out: &[usize]) -> Option<Vec<usize>> {
    let room = y.len().div_ceil(ONE_OF) - out.len();
    let kept = Kept::of(x, y, limits, out);
    let with = kept.search()?;
    let is_apart = |at: &usize| out.iter().all(|out| out.abs_diff(*at) > 1);
    let suspects: Vec<usize> = kept.suspects().filter(is_apart).take(SUSPECTS).collect();
    let pairs = suspects.iter().enumerate().flat_map(|(first, &one)| {
        let others = suspects[first + 1..].iter().filter(move |other| other.abs_diff(one) > 1);
        others.map(move |&other| vec![one, other])
    });
    let singles = suspects.iter().map(|&one| vec![one]);
    let sets = singles.chain(pairs).filter(|set| set.len() <= room);
    let judged = sets.filter_map(|set| {
        let others = Kept::of(x, y, limits, &[out, &set].concat());
        let choice = others.search()?;
        let degrees = others.x.len() as f64 - 2.0 * choice.starts.len() as f64;
        if degrees < 1.0 {
            return None;
        }
        let count = y.len() as f64;
        let most = student_factor(degrees, 1.0 - CHANCE / count);
        let mut criterion = choice.criterion;
        for &at in &set {
            let range = limits.ranges[at];
            let (errors, line) = others.off(&choice, x[at], limits.noise[at], range);
            if errors <= most || (range.nearest(line) - line).abs() <= NEAR * line.abs() {
                return None;
            }
            let noise = choice.noise.max(limits.noise[at]);
            criterion += 2.0 * (noise.ln() + clamped(line, y[at], 0.0).ln() + count.ln());
        }
        (criterion < with.criterion).then_some((criterion, set))
    });
    judged.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, set)| set)
}

/// The points that are not excluded.
struct Kept<'a> {
    limits: Limits<'a>,
    /// Their indices.
    index: Vec<usize>,
    x: Vec<f64>,
    y: Vec<f64>,
    noise: Vec<f64>,
    ranges: Vec<Interval>,
}

impl<'a> Kept<'a> {
    fn of(x: &[f64], y: &[f64], limits: Limits<'a>, out: &[usize]) -> Kept<'a> {
        let index: Vec<usize> = (0..y.len()).filter(|at| !out.contains(at)).collect();
        let part = |column: &[f64]| index.iter().map(|&at| column[at]).collect();
        let ranges = index.iter().map(|&at| limits.ranges[at]).collect();
        Kept { limits, x: part(x), y: part(y), noise: part(limits.noise), ranges, index }
    }

    /// Runs [`search`] on these points. Given cuts refer to all points; `None` if a segment has too
    /// few points left for a line.
    fn search(&self) -> Option<Choice> {
        let starts: Vec<usize>;
        let cuts = match self.limits.cuts {
            Cuts::Most(most) => Cuts::Most(most),
            Cuts::At(all) => {
                let own = |start: usize| self.index.partition_point(|at| *at < start);
                let ends = all.iter().skip(1).copied().chain([self.limits.noise.len()]);
                let is_spent = |(start, end): (&usize, usize)| {
                    let left = own(end) - own(*start);
                    left < FEWEST && left < end - start
                };
                if all.iter().zip(ends).any(is_spent) {
                    return None;
                }
                starts = all.iter().map(|start| own(*start)).collect();
                Cuts::At(&starts)
            }
        };
        let (noise, ranges) = (&self.noise, &self.ranges);
        search(&self.x, &self.y, Limits { cuts, noise, ranges, ..self.limits })
    }

    /// Points that are off both lines, through two neighbours on the left and on the right, by more
    /// than the relevant share; the furthest first. At the end of a line, the line on the other
    /// side counts.
    fn suspects(&self) -> impl Iterator<Item = usize> {
        let count = self.x.len();
        let off = |at: usize| {
            let pairs = [(at.wrapping_sub(2), at.wrapping_sub(1)), (at + 1, at + 2)];
            let inside = pairs.into_iter().filter(|&(a, b)| a < count && b < count);
            let lines = inside.filter_map(|(a, b)| {
                Line::fit(&[self.x[a], self.x[b]], &[self.y[a], self.y[b]], &[1.0; 2])
            });
            // A line below 0 is infinitely far, since every y is positive.
            let ratios = lines.map(|line| self.y[at] / line.at(self.x[at]).max(f64::MIN_POSITIVE));
            ratios.map(|ratio| ratio.ln().abs()).fold(f64::INFINITY, f64::min)
        };
        let far: Vec<f64> = (0..count).map(off).collect();
        // Among few points, a single outlier makes many others look odd.
        let odd = if count < MANY { NEAR } else { NEAR.max(ODD * median(&far)) };
        let named = far.into_iter().zip(self.index.iter().copied());
        let mut all: Vec<(f64, usize)> = named.filter(|(off, _)| *off > odd).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.into_iter().map(|(_, at)| at)
    }

    /// How many standard errors a point with this noise and range is off the nearer of the adjacent
    /// lines, and that line's value there.
    fn off(&self, choice: &Choice, x: f64, noise: f64, range: Interval) -> (f64, f64) {
        let at = self.x.partition_point(|own| *own < x);
        let segment = |point: usize| choice.starts.partition_point(|start| *start <= point) - 1;
        let beside = [segment(at.saturating_sub(1)), segment(at.min(self.x.len() - 1))];
        let of = |segment: usize| {
            let end = choice.starts.get(segment + 1).copied().unwrap_or(self.x.len());
            let part = choice.starts[segment]..end;
            let weights = &choice.weights[part.clone()];
            let influence = Influence::of(&self.x[part.clone()], weights)?;
            let shares = |x: f64| {
                let both = influence.slope.iter().zip(&influence.intercept);
                both.map(move |(slope, own)| own + x * slope)
            };
            let line_at = |x: f64| -> f64 {
                shares(x).zip(&self.y[part.clone()]).map(|(share, y)| share * y).sum()
            };
            let line = line_at(x);
            let of_line: f64 = shares(x).zip(weights).map(|(c, w)| c * c / w).sum();
            let from = at.saturating_sub(AROUND / 2).clamp(part.start, part.end);
            let near = from..(from + AROUND).min(part.end);
            let count = near.len().max(1) as f64;
            let squares = near.map(|at| (self.y[at] / line_at(self.x[at]) - 1.0).powi(2));
            let around = (squares.sum::<f64>() / count).sqrt();
            let own = clamped(line, range.nearest(line), 0.0) * choice.noise.max(noise).max(around);
            Some(((range.nearest(line) - line).abs() / (of_line + own * own).sqrt(), line))
        };
        let lines = beside.into_iter().filter_map(of);
        lines.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, range.low))
    }
}
