use bandgap_campaign::breakdown::{
    BORDERS, TOLERANCE, busy_key, count_key, inserted_key, slot_key,
};
use bandgap_campaign::data::{Batch, Kept, Probe};
use bandgap_campaign::{Key, Table};
use bandgap_comm::{Border, Floor, Yields};
use bandgap_stats::Convergence;

use super::*;
use crate::kind::{Among, Shown, Verdict};
use crate::measured::examples::asked;

const STAMP: f64 = 24.0;
const LATENCY: [f64; 4] = [50.0, 500.0, 150.0, 1000.0];
const INJECTION: [f64; 4] = [900.0, 800.0, 30.0, 70.0];

/// Batches of each point in eight rounds, a little apart from round to round; `delay` is of what is inserted.
#[derive(Default)]
struct Measurement(Table);

impl Measurement {
    fn put(&mut self, key: &Key, value: f64, delay: Option<f64>) {
        for round in 0..8 {
            let samples = vec![value * (1.0 + 0.002 * f64::from(round % 4))];
            let probe = Some([Probe { cache_line: 50.0, pace: 400.0 }; 2]);
            let batch = Batch { samples, probe, delay, round, ..Batch::default() };
            self.0.push(Kept::Batch { key: key.clone(), batch });
        }
    }
}

/// A socket of these truths, `observed` over the sum of which is half a round trip; of 200 ns inserted `back` came back.
fn socket(observed: f64, back: [f64; 4]) -> (BreakdownPlan, Table) {
    let mut all = Measurement::default();
    for (model, truths) in [(Model::Latency, LATENCY), (Model::Injection, INJECTION)] {
        let sum: f64 = truths.iter().sum();
        let whole = if model == Model::Latency { observed * sum } else { sum };
        all.put(&key(model, Stamping::Nothing), whole, None);
        for ((_, part), truth) in model.calls().into_iter().zip(truths) {
            let share = if part == Stamping::Gap { 0.5 } else { 1.0 };
            let stamp = if part == Stamping::Visible { 0.0 } else { STAMP };
            all.put(&key(model, part), truth / share + stamp, None);
            if model == Model::Injection {
                all.put(&count_key(model, part), 1.0, None);
            }
        }
    }
    all.put(&key(Model::Latency, Stamping::Pair), STAMP, None);
    all.put(&key(Model::Injection, Stamping::Arrivals), 1800.0, None);
    for ((border, part), back) in BORDERS.into_iter().zip(back) {
        let at = Model::Latency.calls().iter().position(|(_, of)| *of == part).unwrap();
        let share = if part == Stamping::Gap { 0.5 } else { 1.0 };
        let stamp = if part == Stamping::Visible { 0.0 } else { STAMP };
        let longer = LATENCY[at] / share + stamp + back * 200.0;
        all.put(&inserted_key(part, border, 200.0), longer, Some(200.0));
        let whole = observed * LATENCY.iter().sum::<f64>() + share * back * 200.0;
        all.put(&inserted_key(Stamping::Nothing, border, 200.0), whole, Some(200.0));
    }
    let plan = BreakdownPlan { asked: asked(), divided: Division::Calls, inserted: vec![200.0] };
    (plan, all.0)
}

fn made((plan, table): &(BreakdownPlan, Table)) -> Breakdown {
    let setting = Setting {
        transport: "unix".to_owned(),
        cpus: Some(vec![0, 1]),
        ranks: 2,
        launches: 1,
        ..Setting::default()
    };
    measured(&setting, plan, &plan.judge(table)).unwrap()
}

/// A socket whose models hold.
pub(crate) fn example() -> Breakdown {
    made(&socket(1.0, [1.0; 4]))
}

#[test]
fn what_was_measured_is_components_models_and_their_error() {
    let breakdown = made(&socket(1.0, [1.0; 4]));
    let mean = 1.0 + 0.002 * 1.5;
    for (one, truth) in breakdown.components.iter().zip(LATENCY.into_iter().chain(INJECTION)) {
        // Of injection the stamps are counted by round, and what is removed is their mean.
        let found = one.time.value.0 * 1e9;
        assert!((found - truth * mean).abs() < 0.1, "{} {found}", one.name);
        assert_eq!(one.provenance, Provenance::Measured);
    }
    for model in &breakdown.models {
        let error = model.error.as_ref().unwrap();
        assert!(error.value.0.abs() < 5e-4, "{}", model.name);
        assert_eq!(error.estimator, "modelled / observed - 1, paired by round");
        assert_eq!(model.within, Some(Within::Holds));
        // The paired interval is narrower than what the independent errors of both would make.
        let (low, high) = error.interval().unwrap();
        let (from, to) = model.observed.as_ref().unwrap().interval().unwrap();
        assert!(high - low < 0.1 * (to - from) / model.modelled.value.0, "{low} {high}");
        // All drift alike here: what they sum up to drifts as they do, and not as their quadrature.
        let (from, to) = model.modelled.interval().unwrap();
        let relative = (to - from) / model.modelled.value.0;
        let one = &breakdown.components[1].time;
        let (low, high) = one.interval().unwrap();
        assert!((relative / ((high - low) / one.value.0) - 1.0).abs() < 0.1, "{relative}");
        assert_eq!((model.modelled.samples, one.samples), (8, 8));
    }
    assert_eq!(breakdown.verdict(), Verdict::Good);
}

#[test]
fn a_model_that_misses_says_so() {
    for (observed, within) in [(1.04, Within::Holds), (1.10, Within::Off), (0.9, Within::Off)] {
        let breakdown = made(&socket(observed, [1.0; 4]));
        let model = &breakdown.models[0];
        let error = model.error.as_ref().unwrap().value.0;
        assert!((error - (1.0 / observed - 1.0)).abs() < 1e-9, "{error}");
        assert_eq!((&*model.name, model.within), ("latency", Some(within)));
        assert_eq!(breakdown.verdict() == Verdict::Good, within == Within::Holds);
    }
}

/// The same with other batches in place of each.
fn changed(
    (plan, table): &(BreakdownPlan, Table),
    change: impl Fn(&Key, &Batch) -> Vec<Batch>,
) -> (BreakdownPlan, Table) {
    let mut changed = Table::default();
    for (key, batches) in table.iter() {
        for batch in batches.iter().flat_map(|batch| change(key, batch)) {
            changed.push(Kept::Batch { key: key.clone(), batch });
        }
    }
    (plan.clone(), changed)
}

/// The same batch with its samples multiplied.
fn times(batch: &Batch, factor: f64) -> Batch {
    let samples = batch.samples.iter().map(|sample| factor * sample).collect();
    Batch { samples, ..batch.clone() }
}

#[test]
fn a_model_of_which_too_little_is_known_is_undecided() {
    // A component that is apart from round to round by ±15 %.
    let receive = key(Model::Latency, Stamping::Receive);
    let uneven = changed(&socket(1.0, [1.0; 4]), |key, batch| {
        let apart = if batch.round % 2 == 0 { 1.15 } else { 0.85 };
        vec![times(batch, if *key == receive { apart } else { 1.0 })]
    });
    let breakdown = made(&uneven);
    let latency = &breakdown.models[0];
    let (low, high) = latency.error.as_ref().unwrap().interval().unwrap();
    assert!(low < -TOLERANCE && high > TOLERANCE, "{low} {high}");
    assert_eq!(latency.within, Some(Within::Undecided));
    assert_eq!(breakdown.models[1].within, Some(Within::Holds));
}

#[test]
fn batches_that_are_held_up_are_told_and_components_below_zero_are_none() {
    let held_up = |breakdown: &Breakdown| -> Vec<f64> {
        breakdown.measured.as_ref().unwrap().rounds.iter().map(|of| of.held_up.0).collect()
    };
    assert_eq!(held_up(&example()), [1.0, 1.0]);
    let (whole, turn) =
        (key(Model::Injection, Stamping::Nothing), key(Model::Latency, Stamping::Turn));
    let busy = changed(&socket(1.0, [1.0; 4]), |key, batch| match key {
        key if *key == whole => [1.0, 2.0, 3.0].map(|factor| times(batch, factor)).to_vec(),
        // Less than the stamps take: 7.4 ns of 24.
        key if *key == turn => vec![times(batch, 0.1)],
        _ => vec![batch.clone()],
    });
    let breakdown = made(&busy);
    assert_eq!(held_up(&breakdown), [1.0, 2.0]);
    let turn = &breakdown.components[0].time;
    let (low, high) = turn.interval().unwrap();
    assert!(turn.value.0 == 0.0 && low < 0.0 && high == 0.0, "{low} {high}");
}

#[test]
fn an_error_that_launches_leave_open_has_no_interval_and_is_undecided() {
    let whole = key(Model::Latency, Stamping::Nothing);
    let apart = changed(&socket(1.0, [1.0; 4]), |key, batch| {
        let factor = if *key == whole { 1.3 } else { 1.0 };
        vec![batch.clone(), Batch { launch: 1, ..times(batch, factor) }]
    });
    let breakdown = made(&apart);
    let latency = &breakdown.models[0];
    assert_eq!(latency.error.as_ref().unwrap().interval(), None);
    assert_eq!(latency.within, Some(Within::Undecided));
    assert!(breakdown.models[1].error.as_ref().unwrap().interval().is_some());
}

#[test]
fn what_does_not_come_back_is_told_with_its_length() {
    let breakdown = made(&socket(1.0, [1.0, 0.2, 1.0, 1.0]));
    let about = breakdown.measured.as_ref().unwrap();
    let back: Vec<Within> = about.inserted.iter().map(|one| one.comes_back).collect();
    assert_eq!(back, [Within::Holds, Within::Off, Within::Holds, Within::Holds]);
    let whole: Vec<Within> = about.inserted.iter().map(|one| one.whole_comes_back).collect();
    assert_eq!(whole, back);
    let part = &about.inserted[1].part;
    assert!((part.value.0 - 40.1e-9).abs() < 0.2e-9, "{part:?}");
}

/// Half a round trip over lines; `requester` is what a requester does alone, and requests are 20 ns apart. A computation
/// as long as the software, of 12 ns, makes the loop's transfer longer by `busy`.
fn lines(requester: f64, busy: f64) -> Breakdown {
    let mut all = Measurement::default();
    let mut put = |part, value| all.put(&key(Model::Latency, part), value, None);
    put(Stamping::Nothing, 55.0);
    put(Stamping::Together, 40.0 + 2.0 * STAMP);
    put(Stamping::Lines, 16.0 + 2.0 * STAMP);
    all.put(&busy_key(&key(Model::Latency, Stamping::Lines)), 40.0 + 2.0 * STAMP, None);
    let mut put = |part, value| all.put(&key(Model::Latency, part), value, None);
    put(Stamping::Requester, requester + STAMP);
    put(Stamping::Pair, STAMP);
    all.put(&slot_key(), 50.0, None);
    all.put(&busy_key(&slot_key()), 50.0 + busy, None);
    all.put(&key(Model::Injection, Stamping::Nothing), 20.0, None);
    let floor = Floor::new("ring_lines", "", Yields::HalfRoundTrip, 10);
    let divided = Division::Lines(floor);
    made(&(BreakdownPlan { asked: asked(), divided, inserted: Vec::new() }, all.0))
}

#[test]
fn lines_are_a_transfer_and_software_and_injection_is_not_divided() {
    let breakdown = lines(12.0, 5.0);
    let names: Vec<&str> = breakdown.components.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["slot", "software"]);
    assert_eq!(breakdown.components[1].provenance, Provenance::Derived);
    let [latency] = &breakdown.models[..] else { panic!("one model") };
    // 50 + (40 − 16)/2 · 5/12.
    assert!((latency.error.as_ref().unwrap().value.0).abs() < 1e-6);
    let alone = |requester| lines(requester, 5.0).measured.unwrap().alone.unwrap().value.0;
    assert!((alone(12.0) + 0.4).abs() < 1e-3 && alone(20.0).abs() < 1e-3);
}

#[test]
fn what_of_the_software_is_hidden_is_told_and_is_not_in_the_model() {
    let found = |busy| {
        let breakdown = lines(12.0, busy);
        let hidden = breakdown.measured.unwrap().hidden.unwrap();
        let time = hidden.time.map(|time| time.value.0 * 1e9);
        (breakdown.components[1].time.value.0 * 1e9, hidden.seen, time)
    };
    // 12 ns of software; a computation that takes as long adds so much.
    let (software, seen, hidden) = found(3.0);
    assert!((software - 3.0).abs() < 0.1 && (hidden.unwrap() - 9.0).abs() < 0.1, "{software}");
    assert_eq!(seen, "yes");
    let (software, seen, hidden) = found(14.0);
    assert!((software - 12.0).abs() < 0.1, "{software}");
    assert_eq!((&*seen, hidden), ("longer_than_itself", None));
}

#[test]
fn what_was_measured_can_be_read_back_and_changed() {
    let breakdown = made(&socket(1.0, [1.0; 4]));
    let read: Breakdown =
        serde_json::from_str(&serde_json::to_string(&breakdown).unwrap()).unwrap();
    assert_eq!(read, breakdown);
    let table = read.table().unwrap();
    assert_eq!(table.stack.components.len(), 8);
    let files = breakdown.files(&Among::new([])).unwrap();
    let names: Vec<&str> = files.iter().map(|file| &*file.name).collect();
    for name in ["components.csv", "breakdown.svg", "arrivals.svg", "gnuplot/arrivals.gp"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let quantities = breakdown.quantities();
    assert!(quantities.iter().all(|(_, of)| of.convergence() == Convergence::Converged));
    assert!(
        breakdown
            .measured
            .unwrap()
            .inserted
            .iter()
            .all(|one| one.border != Border::Poll || one.component == "poll")
    );
}

#[test]
fn launches_that_gave_nothing_are_named() {
    let (plan, table) = socket(1.0, [1.0; 4]);
    let setting = Setting {
        transport: "unix".to_owned(),
        cpus: Some(vec![0, 1]),
        ranks: 2,
        launches: 3,
        ..Setting::default()
    };
    let breakdown = measured(&setting, &plan, &plan.judge(&table)).unwrap();
    let lost = &breakdown.measured.as_ref().unwrap().lost_launches;
    assert_eq!(lost.iter().map(|of| of.launch).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn too_little_is_no_breakdown() {
    let (plan, _) = socket(1.0, [1.0; 4]);
    let judged_table = Table::default();
    let nothing = measured(&Setting::default(), &plan, &plan.judge(&judged_table));
    assert!(matches!(nothing, Err(AssembleError::NoRounds)));
}
