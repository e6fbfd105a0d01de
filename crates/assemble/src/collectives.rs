//! What the algorithms of operations of all ranks cost by the models.

use bandgap_campaign::Described;
use bandgap_campaign::signature::judge;
use bandgap_comm::collectives::{Algorithm, Barrier, Broadcast, Sum};
use bandgap_model::collectives::{
    CostCurve, FittedMessages, MeasuredCost, MeasuredMessages, PointToPoint, barrier, broadcast,
    sum,
};
use bandgap_model::hockney::{HockneyFit, HockneyOptions, SizedTimes, fit};
use bandgap_stats::Convergence;
use bandgap_units::{Bytes, Ns};

use crate::estimate::{Estimated, Measured};
use crate::points::{Curve, Points, number};

/// The series of single messages, whose point is half of a round trip.
pub const MESSAGES: [&str; 2] = ["echo", "comms1"];
/// The series of what of a message is whose time. With that of single messages it gives LogGP's costs.
pub const MESSAGE_COSTS: &str = "message_costs";

/// What single messages cost, as far as the run knows it.
pub(crate) struct Costs {
    hockney: Option<FittedMessages>,
    loggp: Option<MeasuredMessages>,
}

impl Costs {
    /// By single messages between the nearest ranks, and by whose time they are.
    pub(crate) fn of(of: &Measured<'_>, all: &[Points<'_>]) -> Costs {
        let named = |name: &str| all.iter().find(|points| points.name == name);
        let messages = MESSAGES.into_iter().find_map(named).and_then(nearest);
        let Some(messages) = messages else { return Costs { hockney: None, loggp: None } };
        let loggp = named(MESSAGE_COSTS).and_then(|costs| {
            let curves = costs.along(&["bytes"]);
            let of_variant = |name: &str| {
                let is_its = |curve: &&Curve<'_>| curve.which.get("variant") == Some(&name.into());
                cost_curve(of, curves.iter().find(is_its)?)
            };
            Some(MeasuredMessages {
                message: cost_curve(of, &messages)?,
                send: of_variant("send")?,
                receive: of_variant("receive")?,
                gap: of_variant("gap")?,
            })
        });
        let hockney = fitted(of, &messages).and_then(|fit| FittedMessages::of(&fit));
        Costs { hockney, loggp }
    }

    /// What a collective costs in Hockney's terms and in LogGP's; `None` of others.
    pub(crate) fn estimates(
        &self,
        of: &Measured<'_>,
        name: &str,
        point: &Described,
    ) -> [Option<Estimated>; 2] {
        let Some(by) = formula(name, point) else { return [None, None] };
        let rule = of.judged.rule();
        let hockney = self.hockney.as_ref().map(|messages| {
            let found = messages.estimate(of.judged.confidence, |on| by(on));
            Estimated::of_model(&found, of.virtual_or(judge(&found, &rule)))
        });
        let loggp = self.loggp.as_ref().map(|messages| {
            let (found, is_known) = messages.estimate(|on| by(on));
            let judged = if is_known { judge(&found, &rule) } else { Convergence::No };
            Estimated::of_model(&found, of.virtual_or(judged))
        });
        [hockney, loggp]
    }
}

/// The curve of the nearest ranks.
pub(crate) fn nearest<'a>(points: &Points<'a>) -> Option<Curve<'a>> {
    let hops = |curve: &Curve<'_>| number(curve.points[0].1.1, "hops");
    points.along(&["bytes"]).into_iter().min_by_key(hops)
}

/// The line of a curve; of several launches with the variance between them.
pub(crate) fn fitted(of: &Measured<'_>, curve: &Curve<'_>) -> Option<HockneyFit> {
    let times = of.sized(curve);
    let launches: Vec<&[SizedTimes]> = times.values().map(Vec::as_slice).collect();
    let confidence = of.judged.confidence;
    fit(&launches, &HockneyOptions { confidence, ..HockneyOptions::default() }).ok()
}

/// The times of a curve over the length.
fn cost_curve(of: &Measured<'_>, curve: &Curve<'_>) -> Option<CostCurve> {
    CostCurve::new(curve.points.iter().filter_map(|(_, (key, point))| {
        let found = of.time(key)?;
        let half_width = found.interval.map(|interval| Ns(interval.half_width()));
        Some(MeasuredCost { bytes: Bytes(point.bytes), time: Ns(found.value), half_width })
    }))
}

/// The formula of an algorithm's time.
type Formula = Box<dyn Fn(&dyn PointToPoint) -> Ns>;

/// What the operation at a point costs by its algorithm; `None` of one that has no formula.
fn formula(name: &str, point: &Described) -> Option<Formula> {
    let by = point.place("variant").or_else(|| point.labels.get("variant"))?.to_string();
    let (ranks, bytes) = (number(point, "ranks")? as usize, Bytes(point.bytes));
    Some(match name {
        "broadcast" => {
            let by = Broadcast::from_name(&by)?;
            Box::new(move |on| broadcast(by, on, ranks, bytes))
        }
        "global_sum" | "all_reduce" => {
            let by = Sum::from_name(&by)?;
            Box::new(move |on| sum(by, on, ranks, bytes))
        }
        "barrier" => {
            let by = Barrier::from_name(&by)?;
            Box::new(move |on| barrier(by, on, ranks))
        }
        _ => return None,
    })
}
