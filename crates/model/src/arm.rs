//! The right arm of the hinge g'(Δ) = max(g, os + or + Δ).

use crate::linear::{Group, Linear};

/// Slope 1 counts as found within this share.
pub(crate) const SLOPE_TOLERANCE: f64 = 0.05;

/// Over a wide range of delays a slope within that share would hide overheads that change by more
/// than themselves: they may change by this share.
const OFFSET_TOLERANCE: f64 = 0.15;

/// A cost counts as raised above the gap from this ratio on; nearer to the knee a steady state
/// takes ever more messages to settle.
const RAISED: f64 = 1.03;

const ERRORS: f64 = 3.0;

/// The steady-state cost at one Δ.
#[derive(Clone, Debug)]
pub(crate) struct Cost {
    pub delay: f64,
    /// g'(Δ).
    pub terms: Linear,
    pub value: f64,
    /// Smoothed variance of the value.
    pub variance: f64,
}

impl Cost {
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
    /// The far arm: from the longest delay down, as long as the cost falls with slope 1 within 5 %
    /// and os + or stay the same within 15 % (or cannot be told from that), both from delay to delay and to the arm's middle. `costs` are
    /// ascending by delay; only those raised above `gap` can be on the arm.
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
            // Off the arm every shorter delay lies farther off, so one that strays alone is noise.
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

    /// Whether a parameter is read from the cost at `delay`: the gap without one, and the overheads of
    /// the arm. Between them no parameter rests on it, and close to the knee it takes many messages
    /// to settle.
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
    pub(crate) fn overheads(&self, groups: usize) -> Linear {
        let parts: Vec<(Linear, f64)> =
            self.costs.iter().map(|c| (c.terms.clone().shifted(-c.delay), c.weight())).collect();
        Linear::weighted_mean(parts.iter().map(|(terms, weight)| (terms, *weight)), groups)
    }

    /// The arm's slope by weighted least squares; of the step to the left-out delay where the arm
    /// is a single delay, and `None` where there is no such either.
    pub(crate) fn slope(&self, groups: usize) -> Option<Linear> {
        let costs: Vec<&Cost> = match (self.costs.as_slice(), self.left_out) {
            (&[only], Some(left_out)) => vec![left_out, only],
            (several, _) => several.to_vec(),
        };
        let delays: Vec<f64> = costs.iter().map(|c| c.delay).collect();
        let weights: Vec<f64> = costs.iter().map(|c| c.weight()).collect();
        let influence = bandgap_stats::line::Influence::of(&delays, &weights)?;
        let zero = Linear::constant(0.0, groups);
        Some(
            costs
                .iter()
                .zip(&influence.slope)
                .fold(zero, |sum, (cost, weight)| sum.plus(*weight, &cost.terms)),
        )
    }

    /// The idle time g − (os + or) with its variance from the groups' own batches.
    pub(crate) fn idle(&self, gap: &Linear, groups: &[Group]) -> (f64, f64) {
        let idle = gap.clone().plus(-1.0, &self.overheads(groups.len()));
        (idle.value(groups), idle.variance(groups))
    }
}
