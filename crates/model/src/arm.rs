//! The right arm of the hinge g'(Δ) = max(g, os + or + Δ), or several of them.

use std::ops::Range;

use bandgap_stats::line::Influence;

use crate::curve::Stretch;
use crate::linear::Linear;
use crate::scatter::Scatter;

/// Slope 1 counts as found within this share.
pub(crate) const SLOPE_TOLERANCE: f64 = 0.05;

/// Over a wide range of delays, a slope within that share would allow the overheads to change by more
/// than their own size. They may change by this share.
const OFFSET_TOLERANCE: f64 = 0.15;

/// A cost counts as raised above the gap from this ratio on. Closer to the knee, a steady state takes
/// more and more messages to settle.
const RAISED: f64 = 1.03;

const ERRORS: f64 = 3.0;

/// Delays of an arm nearer than the far one. Two are level by chance too easily.
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

    /// Its level, with another value of the cost.
    fn level(&self, value: f64) -> Level {
        Level { delay: self.delay, overheads: value - self.delay, variance: self.variance }
    }
}

/// What an arm is chosen by: g'(Δ) − Δ at one Δ, which is os + or on the arm.
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

    /// How far two levels lie apart by noise.
    fn noise(&self, other: &Level) -> f64 {
        ERRORS * (self.variance + other.variance).sqrt()
    }

    /// Whether its error is within 15 %.
    fn is_known(&self) -> bool {
        ERRORS * self.variance.sqrt() <= OFFSET_TOLERANCE * self.overheads.abs()
    }

    /// Whether the two differ by no more than 15 %, or by no more than their errors.
    fn is_level_with(&self, other: &Level) -> bool {
        let apart = (self.overheads - other.overheads).abs();
        apart <= self.noise(other).max(OFFSET_TOLERANCE * other.overheads.abs())
    }

    /// Whether the slope from `shorter` to here is 1.
    fn is_on_slope(&self, shorter: &Level) -> bool {
        let rise = (shorter.overheads - self.overheads).abs();
        let steep = SLOPE_TOLERANCE * (self.delay - shorter.delay);
        let tolerated = steep.min(OFFSET_TOLERANCE * self.overheads.abs());
        rise <= tolerated.max(self.noise(shorter))
    }
}

/// The slope of these levels, its standard error, stretched where they scatter about the line beyond noise, and how
/// much they do; `None` for fewer than three.
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

/// Whether g' rises over these levels one for one, as far as can be told: none is 15 % off their mean, and
/// their slope is 0 within 5 % of Δ. Both within noise.
fn is_run(levels: &[Level]) -> bool {
    let middle = Level::mean(levels);
    let is_flat =
        |(slope, error, _): (f64, f64, Scatter)| slope.abs() <= SLOPE_TOLERANCE.max(ERRORS * error);
    levels.iter().all(|level| level.is_level_with(&middle)) && rise(levels).is_some_and(is_flat)
}

/// The runs of at least three level delays, ascending, of which the first of all is at `offset`: the longest,
/// and those on both sides of it.
fn level_runs(levels: &[Level], offset: usize) -> Vec<Range<usize>> {
    for count in (FEWEST_OF_NEAR..=levels.len()).rev() {
        // Of several, the one at the longest delays.
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

/// Where the arm begins that ends at the last of these levels, which are ascending by delay and at least
/// one: it extends as long as slope 1 holds from delay to delay, and from delay to its middle.
fn begin(levels: &[Level]) -> usize {
    let mut first = levels.len() - 1;
    for at in (0..first).rev() {
        let arm = &levels[first..];
        let extends = |to: &Level| Level::mean(arm).is_on_slope(to) && arm[0].is_on_slope(to);
        // Off the arm, every shorter delay is farther off. So a single delay that is off is noise.
        if extends(&levels[at]) || at > 0 && extends(&levels[at - 1]) {
            first = at;
        } else {
            break;
        }
    }
    first
}

/// Which delays an arm may consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    /// Those that raise the cost above the gap.
    Raised,
    /// All, Δ = 0 among them: the arm of a processor-bound machine.
    All,
}

impl Among {
    /// Whether a cost of this value may be on the arm, where the cost at Δ = 0 is `gap`.
    fn has(self, cost: &Cost, value: f64, gap: f64) -> bool {
        self == Among::All || cost.delay > 0.0 && value > RAISED * gap
    }
}

/// The costs that may be on an arm.
fn candidates(costs: &[Cost], among: Among) -> Vec<&Cost> {
    let gap = costs.first().map_or(0.0, |cost| cost.value);
    confirmed(costs.iter().filter(|cost| among.has(cost, cost.value, gap)).collect(), |cost| cost)
}

/// Those of these whose steady state is confirmed, where they are enough for an arm; else all.
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
    /// The next shorter delay whose cost is raised too, but not with slope 1.
    pub left_out: Option<&'a Cost>,
}

impl<'a> Arm<'a> {
    /// The far arm: the longest delay, and shorter ones as long as the cost falls with slope 1 within
    /// 5 % and os + or stay the same within 15 %, or within the noise. Both must hold from delay to
    /// delay and from delay to the arm's middle. `costs` are ascending by delay, with Δ = 0 first.
    pub(crate) fn far(costs: &'a [Cost], among: Among) -> Option<Arm<'a>> {
        let costs = candidates(costs, among);
        let levels: Vec<Level> = costs.iter().map(|cost| cost.level(cost.value)).collect();
        let first = (!levels.is_empty()).then(|| begin(&levels))?;
        let left_out = first.checked_sub(1).map(|before| costs[before]);
        Some(Arm { costs: costs[first..].to_vec(), left_out })
    }

    /// The arm over all delays from the first to the second of `ends`; `None` where there are none.
    pub(crate) fn within(costs: &'a [Cost], ends: [f64; 2]) -> Option<Arm<'a>> {
        let on = |cost: &&Cost| (ends[0]..=ends[1]).contains(&cost.delay);
        let costs: Vec<&Cost> = costs.iter().filter(on).collect();
        (!costs.is_empty()).then_some(Arm { costs, left_out: None })
    }

    /// The arms at shorter delays than this one, ascending: level runs of at least three delays that raise
    /// the cost, each as long as can be, on levels that are apart from that of the next longer arm by
    /// more than 15 % and more than their errors.
    pub(crate) fn nearer(&self, costs: &'a [Cost]) -> Vec<Arm<'a>> {
        let mut rest = candidates(costs, Among::Raised);
        rest.retain(|cost| cost.delay < self.costs[0].delay);
        // What is not known to 15 % lies on any level.
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

    /// How much its costs scatter about their line; `None` for fewer than three.
    pub(crate) fn scatter(&self) -> Option<Scatter> {
        let levels: Vec<Level> = self.costs.iter().map(|cost| cost.level(cost.value)).collect();
        rise(&levels).map(|(.., scatter)| scatter)
    }

    /// os + or by the far arm that other values of the costs, one each, would choose, which begins at most one
    /// delay before or after this one; `None` where it is this one.
    pub(crate) fn chosen_again(&self, costs: &[Cost], values: &[f64], among: Among) -> Option<f64> {
        let both = costs.iter().zip(values);
        let on = both.filter(|(cost, value)| among.has(cost, **value, values[0]));
        // A resampled cost has the error of the cost, and as much again.
        let level = |(cost, value): (&Cost, &f64)| {
            let own = cost.level(*value);
            Level { variance: 2.0 * own.variance, ..own }
        };
        let on = confirmed(on.collect(), |(cost, _)| cost);
        let levels: Vec<Level> = on.into_iter().map(level).collect();
        let before = |delay: f64| levels.iter().filter(|level| level.delay < delay).count();
        let own = before(self.costs[0].delay);
        // Of so few values no arm is left.
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

    /// The arm's slope by weighted least squares. If the arm is a single delay, that of the step to the
    /// delay left out; `None` if there is none either.
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
