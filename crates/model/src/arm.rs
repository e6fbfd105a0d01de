//! The right arm of the hinge g'(Δ) = max(g, os + or + Δ), or several such arms.

use std::ops::Range;

use bandgap_stats::line::Influence;

use crate::curve::Stretch;
use crate::linear::Linear;
use crate::scatter::Scatter;

/// A slope within this share of 1 counts as 1.
pub(crate) const SLOPE_TOLERANCE: f64 = 0.05;

/// Over a wide range of delays, a slope within [`SLOPE_TOLERANCE`] would allow the overheads to
/// change by more than their own size. They may change by this share.
const OFFSET_TOLERANCE: f64 = 0.15;

/// A cost counts as raised from this multiple of the gap on. Closer to the knee, a steady state
/// takes more and more messages to settle.
const RAISED: f64 = 1.03;

const ERRORS: f64 = 3.0;

/// Fewest delays of an arm other than the far one. Two are level by chance too easily.
const FEWEST_OF_NEAR: usize = 3;

/// The steady-state cost at one Δ.
#[derive(Clone, Debug)]
pub(crate) struct Cost {
    pub delay: f64,
    /// The steady line; its slope is g'(Δ).
    pub run: Stretch,
    /// Whether further points confirm the slope.
    pub settled: bool,
    pub terms: Linear,
    pub value: f64,
    /// Smoothed variance of the value.
    variance: f64,
}

impl Cost {
    pub(crate) fn of(delay: f64, run: Stretch, settled: bool) -> Cost {
        let variance = run.slope_variance() * run.scatter().map_or(1.0, |s| s.own_factor()).powi(2);
        Cost { delay, settled, terms: run.slope_terms(), value: run.slope(), variance, run }
    }

    fn weight(&self) -> f64 {
        1.0 / self.variance
    }

    /// The level for this value of the cost.
    fn level(&self, value: f64) -> Level {
        Level { delay: self.delay, overheads: value - self.delay, variance: self.variance }
    }
}

/// The quantity that defines an arm: g'(Δ) − Δ at one Δ, which is os + or on the arm.
#[derive(Clone, Copy, Debug)]
struct Level {
    delay: f64,
    overheads: f64,
    variance: f64,
}

impl Level {
    /// Weighted means of Δ and of g' − Δ, and the variance of the latter.
    fn mean(levels: &[Level]) -> Level {
        let total: f64 = levels.iter().map(|level| 1.0 / level.variance).sum();
        let mean = |of: fn(&Level) -> f64| {
            levels.iter().map(|level| of(level) / level.variance).sum::<f64>() / total
        };
        Level {
            delay: mean(|level| level.delay),
            overheads: mean(|level| level.overheads),
            variance: 1.0 / total,
        }
    }

    /// Difference between two levels that noise explains.
    fn noise(&self, other: &Level) -> f64 {
        ERRORS * (self.variance + other.variance).sqrt()
    }

    /// Whether its error is at most 15 %.
    fn is_known(&self) -> bool {
        ERRORS * self.variance.sqrt() <= OFFSET_TOLERANCE * self.overheads.abs()
    }

    /// Whether the two differ by at most 15 %, or by at most their errors.
    fn is_level_with(&self, other: &Level) -> bool {
        let apart = (self.overheads - other.overheads).abs();
        apart <= self.noise(other).max(OFFSET_TOLERANCE * other.overheads.abs())
    }

    /// Whether the slope from `shorter` to this level is 1.
    fn is_on_slope(&self, shorter: &Level) -> bool {
        let rise = (shorter.overheads - self.overheads).abs();
        let steep = SLOPE_TOLERANCE * (self.delay - shorter.delay);
        let tolerated = steep.min(OFFSET_TOLERANCE * self.overheads.abs());
        rise <= tolerated.max(self.noise(shorter))
    }
}

/// The slope of these levels, its standard error, and their scatter about the line; the error is
/// stretched if they scatter beyond noise. `None` for fewer than three levels.
fn rise(levels: &[Level]) -> Option<(f64, f64, Scatter)> {
    if levels.len() < 3 {
        return None;
    }
    let delays: Vec<f64> = levels.iter().map(|level| level.delay).collect();
    let weights: Vec<f64> = levels.iter().map(|level| 1.0 / level.variance).collect();
    let influence = Influence::of(&delays, &weights)?;
    let sum = |of: &[f64]| of.iter().zip(levels).map(|(c, level)| c * level.overheads).sum::<f64>();
    let (slope, intercept) = (sum(&influence.slope), sum(&influence.intercept));
    let variance: f64 =
        influence.slope.iter().zip(levels).map(|(c, level)| c * c * level.variance).sum();
    let off = |level: &Level| level.overheads - intercept - slope * level.delay;
    let scatter = Scatter::of(levels.iter().map(|level| off(level) / level.variance.sqrt()))?;
    Some((slope, variance.sqrt() * scatter.own_factor(), scatter))
}

/// Whether g' rises with slope 1 over these levels, as far as the noise shows: none differs from
/// their mean by more than 15 %, and their slope is 0 within 5 % of Δ.
fn is_run(levels: &[Level]) -> bool {
    let middle = Level::mean(levels);
    let is_flat =
        |(slope, error, _): (f64, f64, Scatter)| slope.abs() <= SLOPE_TOLERANCE.max(ERRORS * error);
    levels.iter().all(|level| level.is_level_with(&middle)) && rise(levels).is_some_and(is_flat)
}

/// The runs of at least three level delays, ascending: the longest run, and those on both sides of
/// it. `offset` is the index of the first level.
fn level_runs(levels: &[Level], offset: usize) -> Vec<Range<usize>> {
    for count in (FEWEST_OF_NEAR..=levels.len()).rev() {
        // Among several of this length, choose the one at the longest delays.
        let mut runs = (0..=levels.len() - count).rev().map(|from| from..from + count);
        if let Some(run) = runs.find(|run| is_run(&levels[run.clone()])) {
            let mut found = level_runs(&levels[..run.start], offset);
            found.push(offset + run.start..offset + run.end);
            found.extend(level_runs(&levels[run.end..], offset + run.end));
            return found;
        }
    }
    Vec::new()
}

/// Index at which the arm begins that ends at the last of these levels (at least one, ascending by
/// delay). It extends as long as slope 1 holds from delay to delay, and from each delay to the
/// middle of the arm.
fn begin(levels: &[Level]) -> usize {
    let mut first = levels.len() - 1;
    for at in (0..first).rev() {
        let arm = &levels[first..];
        let extends = |to: &Level| Level::mean(arm).is_on_slope(to) && arm[0].is_on_slope(to);
        // Beyond the arm, the deviation grows as delays shorten. So a single delay that is off is
        // noise.
        if extends(&levels[at]) || at > 0 && extends(&levels[at - 1]) {
            first = at;
        } else {
            break;
        }
    }
    first
}

/// The delays that an arm may consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    /// Delays that raise the cost above the gap.
    Raised,
    /// All delays, including Δ = 0: for the arm of a processor-bound machine.
    All,
}

impl Among {
    /// Whether a cost with this value may be on the arm; `gap` is the cost at Δ = 0.
    fn has(self, cost: &Cost, value: f64, gap: f64) -> bool {
        self == Among::All || cost.delay > 0.0 && value > RAISED * gap
    }
}

/// The costs that may be on an arm.
fn candidates(costs: &[Cost], among: Among) -> Vec<&Cost> {
    let gap = costs.first().map_or(0.0, |cost| cost.value);
    confirmed(costs.iter().filter(|cost| among.has(cost, cost.value, gap)).collect(), |cost| cost)
}

/// The costs in a confirmed steady state if enough for an arm; otherwise all.
fn confirmed<T>(mut of: Vec<T>, cost: impl Fn(&T) -> &Cost) -> Vec<T> {
    if of.iter().filter(|one| cost(one).settled).count() >= FEWEST_OF_NEAR {
        of.retain(|one| cost(one).settled);
    }
    of
}

/// The delays on the arm, ascending.
#[derive(Clone, Debug)]
pub(crate) struct Arm<'a> {
    pub costs: Vec<&'a Cost>,
    /// The next shorter delay that also raises the cost, but not with slope 1.
    pub left_out: Option<&'a Cost>,
}

impl<'a> Arm<'a> {
    /// The far arm: the longest delay, and shorter ones as long as the cost falls with slope 1
    /// within 5 % and os + or stay the same within 15 %, or within the noise. Both must hold from
    /// delay to delay and from each delay to the arm's middle. `costs` are ascending by delay, with
    /// Δ = 0 first.
    pub(crate) fn far(costs: &'a [Cost], among: Among) -> Option<Arm<'a>> {
        let costs = candidates(costs, among);
        let levels: Vec<Level> = costs.iter().map(|cost| cost.level(cost.value)).collect();
        let first = (!levels.is_empty()).then(|| begin(&levels))?;
        let left_out = first.checked_sub(1).map(|before| costs[before]);
        Some(Arm { costs: costs[first..].to_vec(), left_out })
    }

    /// The arms at shorter delays than this one, ascending: level runs of at least three delays
    /// that raise the cost, each as long as possible. Their levels differ from that of the next
    /// longer arm by more than 15 % and by more than their errors.
    pub(crate) fn nearer(&self, costs: &'a [Cost]) -> Vec<Arm<'a>> {
        let mut rest = candidates(costs, Among::Raised);
        rest.retain(|cost| cost.delay < self.costs[0].delay);
        // A level that is not known within 15 % fits any arm.
        rest.retain(|cost| cost.level(cost.value).is_known());
        let levels: Vec<Level> = rest.iter().map(|cost| cost.level(cost.value)).collect();
        let mut found: Vec<Arm<'a>> = Vec::new();
        for run in level_runs(&levels, 0).into_iter().rev() {
            let arm = Arm { costs: rest[run].to_vec(), left_out: None };
            let [level, next] = [&arm, found.last().unwrap_or(self)].map(Arm::level);
            if !level.is_level_with(&next) {
                found.push(arm);
            }
        }
        found.reverse();
        found
    }

    /// Scatter of the costs about their line; `None` for fewer than three.
    pub(crate) fn scatter(&self) -> Option<Scatter> {
        let levels: Vec<Level> = self.costs.iter().map(|cost| cost.level(cost.value)).collect();
        rise(&levels).map(|(.., scatter)| scatter)
    }

    /// os + or of the far arm that these values of the costs would choose, one value for each cost;
    /// that arm begins at most one delay before or after this one. `None` if it is this arm.
    pub(crate) fn chosen_again(&self, costs: &[Cost], values: &[f64], among: Among) -> Option<f64> {
        let both = costs.iter().zip(values);
        let on = both.filter(|(cost, value)| among.has(cost, **value, values[0]));
        // A resampled cost has twice the variance of the cost: its own and that of the resampling.
        let level = |(cost, value): (&Cost, &f64)| {
            let own = cost.level(*value);
            Level { variance: 2.0 * own.variance, ..own }
        };
        let on = confirmed(on.collect(), |(cost, _)| cost);
        let levels: Vec<Level> = on.into_iter().map(level).collect();
        let before = |delay: f64| levels.iter().filter(|level| level.delay < delay).count();
        let own = before(self.costs[0].delay);
        // With too few values, no arm is left.
        let last = levels.len().checked_sub(1).filter(|last| own <= *last)?;
        let first = begin(&levels).clamp(own.saturating_sub(1), (own + 1).min(last));
        let arm = &levels[first..];
        let is_same = arm.iter().map(|at| at.delay).eq(self.costs.iter().map(|cost| cost.delay));
        (!is_same).then(|| Level::mean(arm).overheads)
    }

    /// The weighted mean over the arm.
    fn level(&self) -> Level {
        let levels = self.costs.iter().map(|cost| cost.level(cost.value));
        Level::mean(&levels.collect::<Vec<Level>>())
    }

    /// os + or: the weighted mean of g'(Δ) − Δ over the arm.
    pub(crate) fn overheads(&self) -> Linear {
        let total: f64 = self.costs.iter().map(|c| c.weight()).sum();
        let part = |c: &&Cost| (c.weight() / total, c.terms.clone().shifted(-c.delay));
        let parts: Vec<(f64, Linear)> = self.costs.iter().map(part).collect();
        Linear::sum(parts.iter().map(|(weight, terms)| (*weight, terms)))
    }

    /// The arm's slope by weighted least squares. For a single delay, the slope from the delay left
    /// out to it; `None` if there is no such delay.
    pub(crate) fn slope(&self) -> Option<Linear> {
        let costs: Vec<&Cost> = match (self.costs.as_slice(), self.left_out) {
            (&[only], Some(left_out)) => vec![left_out, only],
            (several, _) => several.to_vec(),
        };
        let delays: Vec<f64> = costs.iter().map(|c| c.delay).collect();
        let weights: Vec<f64> = costs.iter().map(|c| c.weight()).collect();
        let influence = Influence::of(&delays, &weights)?;
        let parts = influence.slope.iter().copied().zip(costs.iter().map(|cost| &cost.terms));
        Some(Linear::sum(parts))
    }
}
