//! From batches of floors to what is recorded: each floor in the main placement state where it
//! was measured there.

use std::collections::BTreeMap;
use std::fmt::Display;

use bandgap_campaign::data::Batch;
use bandgap_campaign::floors::{self, MOST_ROUNDS};
use bandgap_campaign::judge::{Judged, round};
use bandgap_comm::Floor as Measured;
use bandgap_record::{Number, Unit};
use bandgap_stats::rounds::InRound;
use bandgap_stats::{Point, batch_value};
use bandgap_units::Ns;

use super::{Floor, FloorValue, Places};
use crate::measured::{Estimated, Launches, estimator};

/// A floor of so many launches begun; or why this machine does not let it be measured.
pub(crate) fn floor(floor: &Measured, judged: &Judged<'_>, begun: u32) -> Result<Floor, String> {
    let named = |reason: &dyn Display| format!("{}: {reason}", floor.name);
    let batches = judged.table().batches(&floors::key(&floor.name));
    let (counted, state) = counted(batches, judged);
    let sampled = counted.iter().filter(|batch| !batch.samples.is_empty());
    let mut launches = BTreeMap::<u32, Vec<InRound>>::new();
    for batch in sampled {
        let value = unit(floor, batch_value(&batch.samples));
        launches.entry(batch.launch).or_default().push((round(batch), value));
    }
    let point = Point::of_launches(launches.values().map(Vec::as_slice), judged.confidence());
    let Some(point) = point else {
        let all = batches.iter().all(|batch| batch.rejected.is_some());
        let reason = batches.iter().find_map(|batch| batch.rejected.clone()).filter(|_| all);
        let reason = reason.unwrap_or_else(|| "too few batches in one state".to_owned());
        return Err(named(&reason));
    };
    let convergence = judged.rule().judge_point(&point);
    let found = Estimated::new(&point, estimator(&point), convergence);
    let is_rate = floor.yields.bytes().is_some();
    let value = match is_rate {
        true => found.recorded(Unit::BytePerSecond).map(FloorValue::Rate),
        false => found.recorded(Unit::Second).map(FloorValue::Time),
    };
    let value = value.map_err(|error| named(&error))?;
    let si = |value: f64| Number(if is_rate { value } else { Ns(value).as_secs() });
    let places = Places::of(floor.places, &counted).filter(|_| !is_rate);
    let samples = counted.iter().flat_map(|batch| &batch.samples);
    let samples = samples.map(|ns| si(unit(floor, *ns))).collect();
    let (name, meaning) = (floor.name.to_string(), floor.meaning.to_string());
    let measured = batches.iter().map(|batch| batch.launch);
    let seen = launches.into_keys().collect();
    let Launches { lost, mut findings } = Launches::of_points(begun, measured, &[seen]);
    if !convergence.is_enough() && has_all_rounds(batches) {
        findings.push(format!(
            "not converged after {MOST_ROUNDS} rounds, the most that floors get: a longer --time-budget changes \
             nothing."
        ));
    }
    Ok(Floor { name, meaning, value, places, lost_launches: lost, state, samples, findings })
}

/// Whether each launch came to the last round that there may be.
fn has_all_rounds(batches: &[Batch]) -> bool {
    let mut last = BTreeMap::<u32, u32>::new();
    for Batch { launch, round, .. } in batches {
        let last = last.entry(*launch).or_default();
        *last = (*last).max(*round);
    }
    !last.is_empty() && last.values().all(|last| last + 1 >= MOST_ROUNDS)
}

/// Batches of one state and its name: of the main state, or of the state with most of them where
/// that has fewer than two and another has more.
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
    most.filter(|(counted, _)| counted.len() >= 2).unwrap_or(main)
}

/// A time per round as what the floor yields: nanoseconds, or bytes per second.
fn unit(floor: &Measured, ns: f64) -> f64 {
    match floor.yields.bytes() {
        Some(bytes) => bytes as f64 / (ns.max(1e-3) * 1e-9),
        None => ns,
    }
}
