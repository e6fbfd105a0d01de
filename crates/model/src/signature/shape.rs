//! Which points each line runs through.

use bandgap_stats::quantile::median;
use bandgap_units::Ns;

use super::table::FencedObservations;
use crate::arm::{Among, Arm, Cost};
use crate::curve::{Curve, Stretch};
use crate::error::{ModelError, Result};
use crate::linear::Group;
use crate::regime::{rivals, send_only, steady};
use crate::scatter::{OF_FAR, OF_ONE, Scatter};

/// The line for os: through the smallest M before `limit`, or the issue of a single message if the
/// first reply returns before a second message is issued.
fn send_only_or_single(curve: &Curve, limit: f64, rtt: f64) -> Result<Stretch> {
    send_only(curve, limit).or_else(|found| match curve.points.as_slice() {
        [first, second, ..] if (first.messages, second.messages) == (1.0, 2.0) => {
            Ok(Stretch::single(*first))
        }
        // Without the smallest M, a table does not show how many points lie in the regime.
        _ => Err(ModelError::TooFewSmall(found, rtt)),
    })
}

/// The chosen regimes: which points each line runs through, and the cost at each delay.
pub(super) struct Shape {
    pub(super) send_only: Stretch,
    /// Other lines that the same points allow.
    pub(super) rivals: Vec<Stretch>,
    pub(super) costs: Vec<Cost>,
}

impl Shape {
    /// Chooses twice: the first reply arrives by or before the RTT ends, and or is known only after
    /// the first choice.
    pub(super) fn of(table: &FencedObservations) -> Result<Shape> {
        let rtt = table.rtt.value(&table.groups);
        let first = Shape::within(table, rtt)?;
        let gap = first.costs[0].value;
        let Some(arm) = Arm::far(&first.costs, Among::Raised) else {
            return Err(ModelError::NoDelayAboveIdle(gap));
        };
        let overheads = arm.overheads().value(&table.groups);
        let recv_overhead = (overheads - first.send_only.slope()).clamp(0.0, rtt / 2.0);
        // A line found at first is better than a single message.
        let second = Shape::within(table, rtt - recv_overhead);
        let no_worse = |shape: &Shape| !shape.send_only.is_single() || first.send_only.is_single();
        Ok(second.ok().filter(no_worse).unwrap_or(first))
    }

    /// Stretches the deviations of points that scatter more than their errors explain: about their
    /// own line, by the factor of that line or of all lines, whichever is larger; and if the costs
    /// of an arm scatter about the arm's line, by that factor.
    pub(super) fn widen(&self, groups: &mut [Group]) {
        let all = || self.costs.iter().map(|cost| &cost.run).chain([&self.send_only]);
        let runs = || all().filter(|run| !run.is_single());
        let scatters: Vec<Scatter> = runs().filter_map(Stretch::scatter).collect();
        let common = Scatter::common_factor(&scatters);
        let mut widen = |run: &Stretch, factor: f64| {
            for point in &run.points {
                groups[point.group].widen(factor);
            }
        };
        let factors: Vec<f64> = scatters.iter().map(|line| line.own_factor().max(common)).collect();
        // Two points do not show their scatter: assume that of most lines.
        let usual = if factors.is_empty() { 1.0 } else { median(&factors) };
        for run in runs() {
            let own = run.scatter().map_or(usual, |scatter| scatter.own_factor());
            widen(run, own.max(common));
        }
        let Some(far) = Arm::far(&self.costs, Among::Raised) else { return };
        let mut widen_arm = |arm: &Arm, deviations: f64| {
            let own = arm.scatter().map_or(1.0, |scatter| scatter.factor_beyond(deviations));
            // `common` has already been applied.
            arm.costs.iter().for_each(|cost| widen(&cost.run, (own / common).max(1.0)));
        };
        far.nearer(&self.costs).iter().for_each(|near| widen_arm(near, OF_ONE));
        widen_arm(&far, OF_FAR);
    }

    fn within(table: &FencedObservations, limit: f64) -> Result<Shape> {
        let rtt = table.rtt.value(&table.groups);
        let send_only = send_only_or_single(&table.curves[0], limit, rtt)?;
        let send_overhead = send_only.slope();
        let last_send_only = send_only.points.last().map_or(1.0, |point| point.messages);
        let mut costs = Vec::new();
        for curve in &table.curves {
            // With a delay, the send-only regime is shorter.
            let beyond = if curve.delay == 0.0 {
                last_send_only
            } else {
                last_send_only.min(limit / (send_overhead.max(0.0) + curve.delay))
            };
            let Some((run, settled)) = steady(curve, beyond) else {
                if curve.delay == 0.0 {
                    let found = curve.points.iter().filter(|p| p.messages > beyond).count();
                    return Err(ModelError::TooFewLarge(found, 0.0));
                }
                continue;
            };
            costs.push(Cost::of(curve.delay, run, settled));
        }
        for (quantity, value) in [("a round-trip time", rtt), ("a gap", costs[0].value)] {
            if value <= 0.0 {
                let why = "the times do not rise with the number of messages";
                return Err(ModelError::Unusable(format!("{quantity} of {}: {why}", Ns(value))));
            }
        }
        let rivals = rivals(&table.curves[0], &send_only, limit);
        Ok(Shape { send_only, rivals, costs })
    }
}
