//! Which points each line runs through.

use bandgap_stats::quantile::median;

use super::table::Table;
use crate::arm::{Arm, Cost};
use crate::curve::{Curve, Point, Stretch};
use crate::error::ModelError;
use crate::linear::{Group, Linear};
use crate::regime::{self, send_only, steady};

/// What os is read from.
pub(super) enum SendOnly {
    /// The line through the smallest M.
    Line(Stretch),
    /// The issue of a single message, where the first reply is back before a second one is issued.
    First(Point),
}

impl SendOnly {
    /// The regime of `curve` before `limit`.
    fn of(curve: &Curve, limit: f64, rtt: f64) -> Result<SendOnly, ModelError> {
        let found = match send_only(curve, limit) {
            Ok(line) => return Ok(SendOnly::Line(line)),
            Err(found) => found,
        };
        // A table without the smallest M does not show how many lie in the regime.
        match curve.points.as_slice() {
            [first, second, ..] if (first.messages, second.messages) == (1.0, 2.0) => {
                Ok(SendOnly::First(*first))
            }
            _ => Err(ModelError::TooFewSmall { found, rtt }),
        }
    }

    pub(super) fn points(&self) -> &[Point] {
        match self {
            SendOnly::Line(line) => &line.points,
            SendOnly::First(point) => std::slice::from_ref(point),
        }
    }

    fn slope(&self) -> f64 {
        match self {
            SendOnly::Line(line) => line.slope(),
            SendOnly::First(point) => point.mean,
        }
    }

    pub(super) fn slope_terms(&self, groups: usize) -> Linear {
        match self {
            SendOnly::Line(line) => line.slope_terms(groups),
            SendOnly::First(point) => Linear::of([(point.group, 1.0)], groups),
        }
    }

    fn is_line(&self) -> bool {
        matches!(self, SendOnly::Line(_))
    }
}

/// The regimes chosen: which points each line runs through, and which delays are on the arm.
pub(super) struct Shape {
    pub(super) send_only: SendOnly,
    pub(super) steady: Vec<(f64, regime::Steady)>,
    pub(super) costs: Vec<Cost>,
    pub(super) too_short: Vec<f64>,
}

impl Shape {
    /// Chooses twice: the first reply arrives or before the RTT ends, and or is known only after the
    /// first choice.
    pub(super) fn of(table: &Table) -> Result<Shape, ModelError> {
        let rtt = table.rtt.value(&table.groups);
        let first = Shape::within(table, rtt)?;
        let gap = first.costs[0].value;
        let Some(arm) = Arm::far(&first.costs, gap) else {
            return Err(ModelError::NoDelayAboveIdle { gap });
        };
        let overheads = arm.overheads(table.groups.len()).value(&table.groups);
        let recv_overhead = (overheads - first.send_only.slope()).clamp(0.0, rtt / 2.0);
        // A line found at first is better than a single message.
        let second = Shape::within(table, rtt - recv_overhead);
        let no_worse = |shape: &Shape| shape.send_only.is_line() || !first.send_only.is_line();
        Ok(second.ok().filter(no_worse).unwrap_or(first))
    }

    /// Stretches the deviations of the points that scatter about their line beyond noise.
    ///
    /// Two points do not show it: their line takes the median scatter of the others.
    pub(super) fn widen(&self, groups: &mut [Group]) {
        let small = match &self.send_only {
            SendOnly::Line(line) => Some(line),
            SendOnly::First(_) => None,
        };
        let runs = || self.steady.iter().map(|(_, line)| &line.run).chain(small);
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
        let send_only = SendOnly::of(zero, limit, rtt)?;
        let send_overhead = send_only.slope();
        let last_send_only = send_only.points().last().map_or(1.0, |point| point.messages);
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
