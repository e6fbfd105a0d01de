//! From batches of floors to what is recorded: each floor in the main placement state where it
//! was measured there, and each layer over its floor.

use bandgap_record::{
    Evidence, Floor as RecordedFloor, FloorValue, Number, Outcome, Quantity, Ratio, RecordError,
};
use bandgap_stats::quantile::sorted;
use bandgap_stats::{Interval, Point, batch_value, interval::quantile_interval, quantile::median};
use bandgap_units::{Ns, Rate};

use super::estimated::ESTIMATOR;
use bandgap_campaign::Key;
use bandgap_campaign::data::{Batch, Table};
use bandgap_campaign::floors::{self, FLOORS, Floor, FloorPlan};
use bandgap_campaign::judge::Judged;

/// What came of a measurement of floors.
pub struct Floors {
    /// Floors, then layers over floors.
    pub results: Vec<Outcome>,
    /// Floors that this machine does not let be measured, with the reason.
    pub unavailable: Vec<String>,
}

/// The results of a floors task.
///
/// # Errors
/// A number cannot be recorded.
pub fn floors(table: &Table, plan: &FloorPlan) -> Result<Floors, RecordError> {
    let judged = Judged::of(table, plan.confidence, plan.precision, plan.seed);
    let mut results = Vec::new();
    let mut unavailable = Vec::new();
    for floor in measured(table) {
        let batches = table.batches(&key(floor));
        let (counted, state) = counted(batches, &judged);
        let values: Vec<f64> = counted
            .iter()
            .filter(|batch| !batch.samples.is_empty())
            .map(|batch| unit(floor, batch_value(&batch.samples)))
            .collect();
        let Some(point) = Point::of(&values, plan.confidence) else {
            let reason = batches.iter().find_map(|batch| batch.rejected.clone());
            let reason = reason.unwrap_or_else(|| "too few batches in one state".to_owned());
            unavailable.push(format!("{}: {reason}", floor.name));
            continue;
        };
        let evidence =
            Evidence::new(ESTIMATOR, point.batches as u64, point.converged(plan.precision));
        let Interval { low, high } = point.interval;
        let is_rate = floor.yields.bytes().is_some();
        let value = if is_rate {
            let bounds = Some((Rate(low), Rate(high)));
            FloorValue::Rate(Quantity::rate(Rate(point.value), bounds, evidence)?)
        } else {
            let bounds = Some((Ns(low), Ns(high)));
            FloorValue::Time(Quantity::time(Ns(point.value), bounds, evidence)?)
        };
        let si = |value: f64| Number(if is_rate { value } else { Ns(value).as_secs() });
        let samples = counted
            .iter()
            .flat_map(|batch| batch.samples.iter().map(|ns| si(unit(floor, *ns))))
            .collect();
        let name = floor.name.to_owned();
        results.push(Outcome::Floor(RecordedFloor { name, value, state, samples }));
    }
    for layer in measured(table) {
        for over in layer.over {
            results.extend(ratio(layer, over, table, &judged, plan)?.map(Outcome::Ratio));
        }
    }
    Ok(Floors { results, unavailable })
}

/// Batches of one state and its name: of the main state, or of the state with most of them where
/// that has fewer than two; or whatever there is, of no state, where no state has two.
fn counted<'a>(batches: &'a [Batch], judged: &Judged<'_>) -> (Vec<&'a Batch>, Option<String>) {
    let of_view = |view: &Judged<'_>| {
        let counted: Vec<&Batch> = batches.iter().filter(|batch| view.counts(batch)).collect();
        (counted, view.label())
    };
    let main = of_view(judged);
    if main.0.len() >= 2 {
        return main;
    }
    let others = (0..judged.states().states().len()).map(|state| of_view(&judged.seen_from(state)));
    let most = others.max_by_key(|(counted, _)| counted.len());
    most.filter(|(counted, _)| counted.len() >= 2).unwrap_or_else(|| {
        (batches.iter().filter(|batch| batch.rejected.is_none()).collect(), None)
    })
}

/// The floors of which there are batches, in the order of [`FLOORS`].
fn measured(table: &Table) -> impl Iterator<Item = &'static Floor> {
    FLOORS.iter().filter(|floor| !table.batches(&key(floor)).is_empty())
}

fn key(floor: &Floor) -> Key {
    floors::key(floor.name)
}

/// A time per round as what the floor yields: nanoseconds, or bytes per second.
fn unit(floor: &Floor, ns: f64) -> f64 {
    match floor.yields.bytes() {
        Some(bytes) => bytes as f64 / (ns.max(1e-3) * 1e-9),
        None => ns,
    }
}

/// Time of a layer over time of its floor: the median over the rounds in which both were measured
/// in the state seen from, so that each ratio compares neighbours in time.
fn ratio(
    layer: &Floor,
    over: &str,
    table: &Table,
    judged: &Judged<'_>,
    plan: &FloorPlan,
) -> Result<Option<Ratio>, RecordError> {
    let below = table.batches(&floors::key(over));
    let ratios: Vec<f64> = table
        .batches(&key(layer))
        .iter()
        .zip(below)
        .filter(|(a, b)| judged.counts(a) && judged.counts(b))
        .map(|(a, b)| batch_value(&a.samples) / batch_value(&b.samples))
        .filter(|ratio| ratio.is_finite())
        .collect();
    if ratios.is_empty() {
        return Ok(None);
    }
    let value = median(&ratios);
    let bounds = quantile_interval(&sorted(&ratios), 0.5, plan.confidence);
    let converged = bounds.as_ref().is_some_and(|b| b.half_width() <= plan.precision * value);
    let evidence = Evidence::new(
        "median over rounds of layer / floor, order-statistic interval",
        ratios.len() as u64,
        converged,
    );
    Ok(Some(Ratio {
        name: layer.name.to_owned(),
        over: over.to_owned(),
        ratio: Quantity::number(value, bounds.map(|b| (b.low, b.high)), evidence)?,
        state: judged.label(),
    }))
}
