//! From batches of floors to what is recorded: each floor in the main placement state where it
//! was measured there.

use bandgap_campaign::data::Batch;
use bandgap_campaign::floors;
use bandgap_campaign::judge::{Judged, MIN_BATCHES};
use bandgap_comm::Floor as Measured;
use bandgap_record::{Number, RecordError, Unit};
use bandgap_stats::{Point, batch_value};
use bandgap_units::Ns;

use super::{Floor, FloorValue};
use crate::measured::{ESTIMATOR, Estimated};

/// A floor; or why this machine does not let it be measured.
pub(crate) fn floor(
    floor: &Measured,
    judged: &Judged<'_>,
) -> Result<Result<Floor, String>, RecordError> {
    let batches = judged.table().batches(&floors::key(&floor.name));
    let (counted, state) = counted(batches, judged);
    let sampled = counted.iter().filter(|batch| !batch.samples.is_empty());
    let values: Vec<f64> = sampled.map(|batch| unit(floor, batch_value(&batch.samples))).collect();
    let Some(point) = Point::of(&values, judged.confidence()) else {
        let reason = batches.iter().find_map(|batch| batch.rejected.clone());
        let reason = reason.unwrap_or_else(|| "too few batches in one state".to_owned());
        return Ok(Err(format!("{}: {reason}", floor.name)));
    };
    let converged = point.batches >= MIN_BATCHES && point.converged(judged.precision());
    let found = Estimated::new(&point, ESTIMATOR, converged);
    let is_rate = floor.yields.bytes().is_some();
    let value = match is_rate {
        true => FloorValue::Rate(found.recorded(Unit::BytePerSecond)?),
        false => FloorValue::Time(found.recorded(Unit::Second)?),
    };
    let si = |value: f64| Number(if is_rate { value } else { Ns(value).as_secs() });
    let samples = counted.iter().flat_map(|batch| &batch.samples);
    let samples = samples.map(|ns| si(unit(floor, *ns))).collect();
    let (name, meaning) = (floor.name.to_string(), floor.meaning.to_string());
    Ok(Ok(Floor { name, meaning, value, state, samples }))
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

/// A time per round as what the floor yields: nanoseconds, or bytes per second.
fn unit(floor: &Measured, ns: f64) -> f64 {
    match floor.yields.bytes() {
        Some(bytes) => bytes as f64 / (ns.max(1e-3) * 1e-9),
        None => ns,
    }
}
