//! The fits of a series: a line for each of its curves, and one formula over distances.

use std::collections::BTreeMap;

use bandgap_kernels::in_series;
use bandgap_model::ModelError;
use bandgap_model::hockney::{HockneyFit, HockneyOptions, SizedTimes, fit_launches};
use bandgap_model::hops::HopTimes;
use bandgap_stats::Rule;

use super::modelled::MESSAGE_COSTS;
use super::schema::{Series, SeriesPoint};
use crate::Outcome;
use crate::error::AssembleError;
use crate::hockney::assemble::Fitting;
use crate::hops::assemble::hops;
use crate::measured::{Which, unfitted};

/// The times of a curve, by launch.
pub(super) type CurveTimes = BTreeMap<u32, Vec<SizedTimes>>;

/// The fits of a series.
#[derive(Default)]
pub(super) struct Fits {
    /// As they are recorded.
    pub(super) outcomes: Vec<Outcome>,
    /// The Hockney fit of the nearest distance, or of the first curve.
    pub(super) nearest: Option<HockneyFit>,
    /// What there is to say of curves that cannot be fitted.
    pub(super) unfitted: Vec<String>,
}

/// The fits of a series with these times on its curves; none of too few sizes, and none over
/// dimensions, where bytes are no axis.
pub(super) fn fits(
    series: &Series,
    curves: BTreeMap<Which, CurveTimes>,
    (confidence, rule): (f64, Rule),
) -> Result<Fits, AssembleError> {
    let mut fits = Fits::default();
    // What of a message is whose time is no line over the size.
    let is_over_bytes = series.points.iter().all(|point| point.dimension.is_none());
    if !is_over_bytes || series.name == MESSAGE_COSTS {
        return Ok(fits);
    }
    let options = HockneyOptions { confidence, ..HockneyOptions::default() };
    let (name, transport) = (series.name.as_str(), series.transport.as_str());
    let mut distances = BTreeMap::<u32, Vec<HopTimes>>::new();
    let mut nearest = u32::MAX;
    for (which, times) in curves {
        let of_curve = series.points.iter().find(|point| series.which(point) == which);
        let hops = of_curve.and_then(|point| point.hops);
        if let Some(hops) = hops {
            let at = |SizedTimes { bytes, times_ns }| HopTimes { bytes, hops, times_ns };
            for (launch, times) in &times {
                let of = distances.entry(*launch).or_default();
                of.extend(times.iter().cloned().map(at));
            }
        }
        let messages = of_curve.map_or(1, |point| messages(series, point));
        let launches: Vec<&[SizedTimes]> = times.values().map(Vec::as_slice).collect();
        let (notes, lost) = (Vec::new(), Vec::new());
        let mut fitting = Fitting { name, transport, which, messages, rule, notes, lost };
        match fit_launches(&launches, &options) {
            Ok(both) => {
                let ids: Vec<u32> = times.keys().copied().collect();
                fitting = fitting.of_launches(unfitted(series.launches, &ids, &both.lost));
                fits.outcomes.extend(fitting.recorded(&both)?.map(Outcome::from));
                if fits.nearest.is_none() || hops.unwrap_or(0) < nearest {
                    nearest = hops.unwrap_or(0);
                    fits.nearest = Some(both);
                }
            }
            Err(ModelError::TooFewSizes { .. }) => {}
            // The times stay what they are.
            Err(error) => {
                fits.unfitted.push(format!("No line is fitted{}: {error}.", of(&fitting.which)));
            }
        }
    }
    if !distances.is_empty() {
        let breaks = fits.nearest.as_ref().map_or(&[][..], |fit| &fit.breakpoints);
        let ends: Vec<u64> = breaks.iter().map(|point| point.last_below).collect();
        let of = (name, transport, series.launches);
        match hops(of, &distances, &ends, (confidence, rule)) {
            Ok(over) => fits.outcomes.push(over.into()),
            Err(AssembleError::Model(error)) => {
                fits.unfitted.push(format!("The time of a hop is not fitted: {error}."));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(fits)
}

/// Messages that one operation moves at this point: as many as its bandwidth counts.
pub(super) fn messages(series: &Series, point: &SeriesPoint) -> u64 {
    in_series(&series.name).map_or(1, |(_, of)| (of.moves)(point.ranks as usize)).max(1)
}

/// Of which curve, if there are several.
fn of(which: &Which) -> String {
    match which.words() {
        none if none.is_empty() => none,
        words => format!(" to {words}"),
    }
}
