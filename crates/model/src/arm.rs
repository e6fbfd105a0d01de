//! The right arm of the hinge g'(Δ) = max(g, os + or + Δ).

use bandgap_stats::line::Influence;

use crate::curve::Stretch;
use crate::linear::Linear;

/// Slope 1 counts as found within this share.
pub(crate) const SLOPE_TOLERANCE: f64 = 0.05;

/// Over a wide range of delays, a slope within that share would allow the overheads to change by more
/// than their own size. They may change by this share.
const OFFSET_TOLERANCE: f64 = 0.15;

/// A cost counts as raised above the gap from this ratio on. Closer to the knee, a steady state takes
/// more and more messages to settle.
const RAISED: f64 = 1.03;

const ERRORS: f64 = 3.0;

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
        let variance = run.slope_variance() * run.scatter().unwrap_or(1.0).powi(2);
        Cost { delay, settled, terms: run.slope_terms(), value: run.slope(), variance, run }
    }

    /// g'(Δ) − Δ, which is os + or on the arm.
    fn overheads(&self) -> f64 {
        self.value - self.delay
    }

    fn weight(&self) -> f64 {
        1.0 / self.variance
    }
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
    /// delay and from delay to the arm's middle. `costs` are ascending by delay; only those raised
    /// above `gap` can be on the arm.
    pub(crate) fn far(costs: &'a [Cost], gap: f64) -> Option<Arm<'a>> {
        let raised: Vec<&Cost> =
            costs.iter().filter(|c| c.delay > 0.0 && c.value > RAISED * gap).collect();
        Arm::from_longest(&raised)
    }

    /// As [`Arm::far`], of all delays with Δ = 0 among them: the arm of a processor-bound machine.
    pub(crate) fn whole(costs: &'a [Cost]) -> Option<Arm<'a>> {
        Arm::from_longest(&costs.iter().collect::<Vec<_>>())
    }

    fn from_longest(costs: &[&'a Cost]) -> Option<Arm<'a>> {
        let (&longest, shorter) = costs.split_last()?;
        let mut arm = Arm { costs: vec![longest], left_out: None };
        for (i, &cost) in shorter.iter().enumerate().rev() {
            // Off the arm, every shorter delay is farther off. So a single delay that is off is noise.
            if arm.extends_to(cost) || i > 0 && arm.extends_to(shorter[i - 1]) {
                arm.costs.insert(0, cost);
            } else {
                arm.left_out = Some(cost);
                break;
            }
        }
        Some(arm)
    }

    /// Whether the slope from `cost` to the nearest delay of the arm, and to its middle, is 1.
    fn extends_to(&self, cost: &Cost) -> bool {
        let on_slope = |delay: f64, overheads: f64, variance: f64| {
            let rise = (cost.overheads() - overheads).abs();
            let noise = ERRORS * (variance + cost.variance).sqrt();
            let steep = SLOPE_TOLERANCE * (delay - cost.delay);
            rise <= f64::max(steep.min(OFFSET_TOLERANCE * overheads.abs()), noise)
        };
        let (delay, overheads, variance) = self.middle();
        let nearest = self.costs[0];
        on_slope(delay, overheads, variance)
            && on_slope(nearest.delay, nearest.overheads(), nearest.variance)
    }

    /// Whether a parameter is read from the cost at `delay`: the gap is read without a delay, the
    /// overheads on the arm. No parameter rests on the delays between, and close to the knee a cost
    /// takes many messages to settle.
    pub(crate) fn rests_on(&self, delay: f64) -> bool {
        delay == 0.0 || self.costs.iter().chain(&self.left_out).any(|cost| cost.delay == delay)
    }

    /// Weighted means of Δ and of g' − Δ, and the variance of the latter.
    fn middle(&self) -> (f64, f64, f64) {
        let total: f64 = self.costs.iter().map(|c| c.weight()).sum();
        let mean = |of: fn(&Cost) -> f64| {
            self.costs.iter().map(|c| of(c) * c.weight()).sum::<f64>() / total
        };
        (mean(|c| c.delay), mean(Cost::overheads), 1.0 / total)
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
