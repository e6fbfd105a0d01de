//! Which points each line runs through.

use bandgap_stats::quantile::median;

use super::table::Table;
use crate::arm::{Arm, Cost};
use crate::curve::Stretch;
use crate::error::ModelError;
use crate::linear::Group;
use crate::regime::{self, send_only, steady};

/// The regimes chosen: which points each line runs through, and which delays are on the arm.
pub(super) struct Shape {
    pub(super) send_only: Stretch,
    pub(super) steady: Vec<(f64, regime::Steady)>,
    pub(super) costs: Vec<Cost>,
    pub(super) too_short: Vec<f64>,
}

impl Shape {
    /// Chooses twice: the first reply arrives or before RTT ends, and or is known only after a first
    /// choice.
    pub(super) fn of(table: &Table) -> Result<Shape, ModelError> {
        let rtt = table.rtt.value(&table.groups);
        let first = Shape::within(table, rtt)?;
        let gap = first.costs[0].value;
        let Some(arm) = Arm::far(&first.costs, gap) else {
            return Err(ModelError::NoDelayAboveIdle { gap });
        };
        let overheads = arm.overheads(table.groups.len()).value(&table.groups);
        let recv_overhead = (overheads - first.send_only.slope()).clamp(0.0, rtt / 2.0);
        Shape::within(table, rtt - recv_overhead).or(Ok(first))
    }

    /// Stretches the deviations of the points that scatter about their line beyond noise.
    ///
    /// Two points cannot tell; their line takes the median scatter of the others.
    pub(super) fn widen(&self, groups: &mut [Group]) {
        let runs = || self.steady.iter().map(|(_, line)| &line.run).chain([&self.send_only]);
        let scatters: Vec<f64> = runs().filter_map(Stretch::scatter).collect();
        let usual = if scatters.is_empty() { 1.0 } else { median(&scatters) };
        for run in runs() {
            let scatter = run.scatter().unwrap_or(usual);
            for point in &run.points {
                groups[point.group].widen(scatter);
            }
        }
    }

    fn within(table: &Table, limit: f64) -> Result<Shape, ModelError> {
        let groups = table.groups.len();
        let rtt = table.rtt.value(&table.groups);
        let zero = &table.curves[0];
        let send_only =
            send_only(zero, limit).map_err(|found| ModelError::TooFewSmall { found, rtt })?;
        let send_overhead = send_only.slope();
        let last_send_only = send_only.points[send_only.points.len() - 1].messages;
        let mut lines = Vec::new();
        let mut costs = Vec::new();
        let mut too_short = Vec::new();
        for curve in &table.curves {
            // With a delay the send-only regime is shorter.
            let beyond = if curve.delay == 0.0 {
                last_send_only
            } else {
                last_send_only.min(limit / (send_overhead.max(0.0) + curve.delay))
            };
            let Some(line) = steady(curve, beyond) else {
                if curve.delay == 0.0 {
                    let found = curve.points.iter().filter(|p| p.messages > beyond).count();
                    return Err(ModelError::TooFewLarge { delay: 0.0, found });
                }
                too_short.push(curve.delay);
                continue;
            };
            costs.push(Cost {
                delay: curve.delay,
                terms: line.run.slope_terms(groups),
                value: line.run.slope(),
                variance: line.run.slope_variance() * line.run.scatter().unwrap_or(1.0).powi(2),
            });
            lines.push((curve.delay, line));
        }
        for (quantity, value) in [("a round-trip time", rtt), ("a gap", costs[0].value)] {
            if value <= 0.0 {
                return Err(ModelError::NotPositive { quantity, value });
            }
        }
        Ok(Shape { send_only, steady: lines, costs, too_short })
    }
}
