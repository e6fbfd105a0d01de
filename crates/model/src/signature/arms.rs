//! The arms of the hinge: os + or of each, and its uncertainty.

use bandgap_units::Ns;

use super::estimator::Estimator;
use super::{ArmFit, Estimate};
use crate::arm::{Among, Arm, Cost, SLOPE_TOLERANCE};
use crate::finding::Finding;
use crate::linear::Linear;

/// os + or, with replicates from resamples that choose the arm again.
///
/// The beginning of the arm is read from the data, as its level is, so it differs from resample to
/// resample. An interval for the delays chosen once would answer another question.
pub(super) struct Overheads {
    terms: Linear,
    /// Change of each replicate of the terms because its resample chooses another arm.
    shifts: Vec<f64>,
}

impl Overheads {
    /// The overheads of `arm`, which was chosen `among` these costs.
    pub(super) fn of(estimator: &Estimator, arm: &Arm, costs: &[Cost], among: Among) -> Overheads {
        let terms = arm.overheads();
        let of_costs: Vec<Vec<f64>> =
            costs.iter().map(|cost| estimator.replicates(&cost.terms).collect()).collect();
        let again = |(at, fixed): (usize, f64)| {
            let values: Vec<f64> = of_costs.iter().map(|replicates| replicates[at]).collect();
            arm.chosen_again(costs, &values, among).map_or(0.0, |again| again - fixed)
        };
        let shifts = estimator.replicates(&terms).enumerate().map(again).collect();
        Overheads { terms, shifts }
    }

    /// `rest` + `factor` · (os + or).
    pub(super) fn estimate(
        &self,
        estimator: &Estimator,
        factor: f64,
        rest: &Linear,
        how: &'static str,
    ) -> Estimate {
        let terms = Linear::sum([(1.0, rest), (factor, &self.terms)]);
        let both = estimator.replicates(&terms).zip(&self.shifts);
        let replicates: Vec<f64> = both.map(|(fixed, shift)| fixed + factor * shift).collect();
        estimator.bounded(estimator.value(&terms), &replicates, &terms, how)
    }
}

/// An arm with these overheads.
pub(super) fn fitted(
    estimator: &Estimator,
    arm: &Arm,
    overheads: Estimate,
    recv_overhead: Estimate,
) -> ArmFit {
    let overheads = Estimate { estimator: "mean of g'(Δ) − Δ", ..overheads };
    let slope = arm.slope().map(|terms| estimator.estimate(&terms, "weighted slope of g'(Δ)"));
    let is_one = |slope: Estimate| {
        let (least, most) = (1.0 - SLOPE_TOLERANCE, 1.0 + SLOPE_TOLERANCE);
        let outside = slope.high < least || slope.low > most;
        (outside || slope.low >= least && slope.high <= most).then_some(!outside)
    };
    let [first, .., last] = [arm.costs[0], arm.costs[arm.costs.len() - 1]];
    ArmFit {
        from_delay: first.delay,
        to_delay: last.delay,
        delays: arm.costs.len(),
        overheads,
        recv_overhead,
        slope,
        // A step from a delay outside the arm can only refute the slope, not confirm it.
        holds: slope.and_then(is_one).filter(|is_one| !is_one || arm.costs.len() >= 2),
    }
}

/// The finding about the far arm, if any.
pub(super) fn finding(arm: &ArmFit) -> Option<Finding> {
    let Estimate { value, low, high, .. } = arm.slope?;
    let known = [("slope", value), ("from", Ns(arm.from_delay).as_secs())];
    match arm.holds {
        Some(false) => Some(Finding::new("arm_slope", "recv_overhead", &known)),
        None => {
            let values = [&known[..], &[("low", low), ("high", high)]].concat();
            Some(Finding::new("arm_undecided", "recv_overhead", &values))
        }
        Some(true) => None,
    }
}
