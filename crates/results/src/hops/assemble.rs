//! Fits over distances as they are recorded.

use std::collections::BTreeMap;

use bandgap_campaign::signature::judge;
use bandgap_model::Estimate;
use bandgap_model::hops::{HopTimes, HopsSegment as Fitted, fit_launches};
use bandgap_record::{Convergence, Quantity, RecordError, Seconds, Unit};
use bandgap_stats::Rule;
use bandgap_units::Ns;

use super::schema::{Hops, HopsPlane, HopsSegment};
use crate::error::AssembleError;
use crate::hockney::Residuals;
use crate::measured::{recorded, unfitted};

/// The series of these points, launch by launch of so many begun, with segments that end at `ends`.
///
/// # Errors
/// The times cannot be fitted, as those of one distance, or a number cannot be recorded.
pub(crate) fn hops(
    (name, transport, begun): (&str, &str, u32),
    times: &BTreeMap<u32, Vec<HopTimes>>,
    ends: &[u64],
    (confidence, rule): (f64, Rule),
) -> Result<Hops, AssembleError> {
    let launches: Vec<&[HopTimes]> = times.values().map(Vec::as_slice).collect();
    let fit = fit_launches(&launches, ends, confidence)?;
    let ids: Vec<u32> = times.keys().copied().collect();
    let launches = unfitted(begun, &ids, &fit.lost);
    let mut distances: Vec<u32> = times.values().flatten().map(|of| of.hops).collect();
    distances.sort_unstable();
    distances.dedup();
    let segments = fit.segments.iter().map(|of| segment(of, &rule));
    Ok(Hops {
        name: name.to_owned(),
        transport: transport.to_owned(),
        distances,
        segments: segments.collect::<Result<_, RecordError>>()?,
        lost_launches: launches.lost,
        findings: launches
            .findings
            .into_iter()
            .chain(fit.findings.iter().map(ToString::to_string))
            .chain(fit.segments.iter().filter_map(marked))
            .collect(),
    })
}

/// That the parameters of a segment count as not converged, where its times do not follow the plane.
fn marked(of: &Fitted) -> Option<String> {
    let has_parameters =
        [&of.startup, &of.per_byte, &of.per_hop].iter().any(|found| found.is_some());
    (of.misfit && has_parameters).then(|| {
        format!(
            "From {} the parameters count as not converged (*), whatever their intervals: the times do not \
             follow the fit.",
            of.range
        )
    })
}

fn segment(of: &Fitted, rule: &Rule) -> Result<HopsSegment, RecordError> {
    let parameter = |estimate: &Option<Estimate>, rule: &Rule| match estimate {
        Some(found) => {
            // An interval is of how the points scatter about a plane that they follow.
            let convergence = match of.misfit {
                true => Convergence::No,
                false => judge(found, rule),
            };
            recorded(found, Unit::Second, convergence).map(Some)
        }
        None => Ok::<Option<Quantity>, RecordError>(None),
    };
    // What a byte and a hop take is read from many of them.
    let slopes = rule.without_clock();
    Ok(HopsSegment {
        from_bytes: of.range.from,
        to_bytes: of.range.to,
        points: of.points as u64,
        t_startup: parameter(&of.startup, rule)?,
        t_byte: parameter(&of.per_byte, &slopes)?,
        h: parameter(&of.per_hop, &slopes)?,
        residuals: of.residuals.map(Residuals::from),
        plane: of.plane.map(|plane| {
            let [intercept, per_byte, per_hop] = plane.map(|ns| Seconds::from(Ns(ns)));
            HopsPlane { intercept, per_byte, per_hop }
        }),
    })
}
