//! The conditions of a run over one transport, and the set-up of an experiment.

use std::collections::BTreeSet;

use bandgap_record::{
    Batches, Conditions, ExperimentSetup, Library, Number, PlacementSetup, Seconds, State, Verified,
};
use bandgap_units::Ns;

use crate::Measured;
use crate::points::Points;

/// The conditions of a measurement.
pub fn conditions(of: &Measured<'_>) -> Conditions {
    let Measured { setting, judged } = of;
    let (states, table) = (&judged.states, judged.table);
    let seen = judged.seen.and_then(|at| states.states.get(at));
    let mut batches = Batches::default();
    let mut counted = BTreeSet::new();
    for (key, batch) in table.executed().filter(|(_, batch)| !batch.samples.is_empty()) {
        let reason = match &batch.rejected {
            Some(rejected) => rejected.to_string(),
            None if judged.counts(key, batch) => {
                counted.insert(batch.launch);
                batches.used += 1;
                continue;
            }
            None => match judged.state(batch).and_then(|at| states.states.get(at)) {
                None => "between_states".to_owned(),
                Some(state) if state.slowed => "slowed".to_owned(),
                Some(_) => "other_state".to_owned(),
            },
        };
        *batches.rejected.entry(reason).or_default() += 1;
    }
    let verified = table.verified().fold(Verified::default(), |sum, (_, of)| Verified {
        checked: sum.checked + of.checked.compared,
        timed: sum.timed + of.timed.compared + of.timed.summed,
    });
    let time = |ns: f64| Seconds::from(Ns(ns));
    let all = (batches.used + batches.rejected.values().sum::<u64>()).max(1) as f64;
    let state = seen.map(|state| State {
        probe: time(state.cache_line.centre),
        share: Number(state.batches as f64 / all),
        others: states
            .states
            .iter()
            .filter(|other| other.cache_line != state.cache_line && !other.slowed)
            .map(|other| time(other.cache_line.centre))
            .collect(),
    });
    let launches = 0..setting.launches;
    Conditions {
        transport: setting.transport.clone(),
        ranks: setting.ranks as u64,
        launches: setting.launches.into(),
        lost_launches: launches
            .filter(|launch| !counted.contains(launch))
            .map(|launch| u64::from(launch) + 1)
            .collect(),
        batches,
        state,
        verified: (!setting.is_virtual()).then_some(verified),
    }
}

/// The set-up of each measured series, or of the whole experiment if it has no named points.
pub fn setup(of: &Measured<'_>) -> Vec<ExperimentSetup> {
    let setting = of.setting;
    let launcher = |of: &Library| of.launcher.clone().or_else(|| setting.launcher.clone());
    let library = of.judged.table.library.as_ref();
    let library = library.map(|of| Library { launcher: launcher(of), ..of.clone() });
    let whole = ExperimentSetup {
        experiment: setting.experiment.clone(),
        transport: setting.transport.clone(),
        ranks: setting.ranks as u64,
        wait: setting.wait.map(str::to_owned),
        varies: setting.varies,
        placement: PlacementSetup {
            cores: setting.cpus.iter().flatten().map(|&cpu| cpu as u64).collect(),
            hosts: setting.hosts.clone(),
            distance: setting.distance([0, 1]),
            oversubscribed: setting.oversubscribed,
        },
        library,
        ..ExperimentSetup::default()
    };
    let one = |points: Points<'_>| {
        let sizes: BTreeSet<u64> = points.all.iter().map(|(_, of)| of.bytes).collect();
        let all = points.all.iter().filter_map(|(_, of)| of.labels.get("buffers"));
        let buffers: BTreeSet<String> = all.map(ToString::to_string).collect();
        let is_same = buffers.len() == 1 && !setting.is_virtual();
        let shape = points.all.iter().find_map(|(_, of)| of.place("shape"));
        ExperimentSetup {
            experiment: points.name.to_owned(),
            sizes: sizes.into_iter().collect(),
            buffers: buffers.into_iter().next().filter(|_| is_same),
            shape: shape.map(ToString::to_string),
            ..whole.clone()
        }
    };
    let named: Vec<ExperimentSetup> = of.points().into_iter().map(one).collect();
    if named.is_empty() { vec![whole] } else { named }
}
