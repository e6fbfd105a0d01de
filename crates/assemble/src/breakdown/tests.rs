use bandgap_campaign::Key;
use bandgap_campaign::breakdown::{
    ALL_STAMPS, AWAITED_PAIR, BYTES, PAIR, WHOLE_TIME, count_key, inserted_key, key,
};
use bandgap_campaign::data::{Batch, Kept};
use bandgap_campaign::plan::Asked;
use bandgap_record::{Value, read_component_table};
use bandgap_results::Outcome;

use super::*;
use crate::tests::Synthetic;
use crate::tests::division::{CALLS, LINES, PLACES};

pub(crate) const RULE: Rule = Rule { precision: 0.05, stamp: 0.0 };

/// A stack with every field that a table can have.
pub(crate) const STACK: &str = "name,category,layer,side,time_ns,spread_ns,provenance,latency,rate
n,parameter,,,4,,,,
send,cpu,llp,initiator,430,6,measured,1,1/n
send,cpu,hlp,target,,,,,-0.125
receive,cpu,llp,target,1290,8,,1,
observed,observed,,,,,,1800,
observed_spread,observed_spread,,,,,,4,
";

pub(crate) fn table(text: &str) -> ComponentTable {
    read_component_table(text.as_bytes()).unwrap()
}

#[track_caller]
pub(crate) fn only(made: &Made) -> &Breakdown {
    let [Outcome::Breakdown(of), ..] = &made.results[..] else { panic!("{made:?}") };
    of
}

pub(crate) fn given(table: &ComponentTable) -> Breakdown {
    only(&table_breakdown(table, RULE, 0.95).unwrap()).clone()
}

#[test]
fn intervals_are_propagated_to_the_error() {
    let breakdown = given(&table(STACK));
    let latency = &breakdown.models[0];
    let (low, high) = latency.modelled.interval().unwrap();
    // 430 + 1290, ±1.96·√(6² + 8²).
    assert!((latency.modelled.value.0 - 1720e-9).abs() < 1e-15);
    assert!((high - low - 2.0 * 1.95996 * 10e-9).abs() < 1e-12, "{low} {high}");
    // 1720/1800 − 1 = −4.44 %; its deviation is √((10/1800)² + (1720·4/1800²)²) = 0.595 %.
    let error = latency.error.as_ref().unwrap();
    let (low, high) = error.interval().unwrap();
    assert!((error.value.0 + 0.04444).abs() < 1e-5);
    assert!((high - low - 2.0 * 1.95996 * 0.005946).abs() < 1e-5, "{low} {high}");
    assert_eq!(latency.within, Some(Within::Undecided));
    // 430/4 − 430/8: its own layer has all of it, and the other one less than nothing.
    let layers = breakdown.models[1].by("layer");
    assert_eq!(layers.iter().map(|part| part.share.0).collect::<Vec<_>>(), [-1.0, 2.0]);
}

/// "Breaking Band": c, the bound of section 4.2, and what the insights of section 6 say.
#[test]
fn parameters_the_bound_and_the_insights_are_values() {
    let of = |text: &str, name: &str| {
        let preset = bandgap_record::component_preset("thunderx2-connectx4").unwrap();
        let table = if text.is_empty() { preset } else { table(text) };
        let made = table_breakdown(&table, RULE, 0.95).unwrap();
        let rows = made.results.iter().find_map(Outcome::as_rows).unwrap().clone();
        let row = rows.rows.iter().find(|row| row.place == [name.into()]).unwrap();
        rows.cell(row, "value").unwrap().clone()
    };
    for (name, value) in [
        ("c", 64.0),
        ("least_p", 7.306),
        ("insight_1_post", 201.98 / 264.97),
        ("insight_2_node", 0.724),
        ("insight_2_wire_of_network", 274.81 / 382.81),
        ("insight_3_io_of_target", 378.45 / 664.74),
        ("insight_4_receive_over_send", 286.29 / 59.82),
    ] {
        assert!((of("", name).value.0 / value - 1.0).abs() < 1e-4, "{name}");
    }
    // √((4/100)² + (3/50)²) of 2.
    let ratio = of(
        "name,category,layer,side,time_ns,spread_ns,rx_progress,tx_progress
receive,cpu,hlp,target,100,4,1,
send,cpu,hlp,initiator,50,3,,1",
        "insight_4_receive_over_send",
    );
    let half = 1.95996 * 2.0 * 0.04_f64.hypot(0.06);
    assert!((ratio.half_width().unwrap() - half).abs() < 1e-5 && ratio.value.0 == 2.0);
}

#[test]
fn a_model_holds_is_off_or_undecided() {
    for (observed, within) in [
        ("1720", Within::Holds),
        ("1800", Within::Undecided),
        ("1640", Within::Undecided),
        ("1900", Within::Off),
        ("1500", Within::Off),
    ] {
        let breakdown = given(&table(&STACK.replace("1800", observed)));
        assert_eq!(breakdown.models[0].within, Some(within), "{observed}");
    }
    // Without any spread the value decides.
    let bare = STACK.replace(",6,", ",,").replace(",8,", ",,").replace(",4,\n", ",,\n");
    let breakdown = given(&table(&bare));
    assert_eq!(breakdown.models[0].within, Some(Within::Holds));
    assert!(breakdown.models[0].error.as_ref().unwrap().interval().is_none());
}

#[test]
fn what_a_table_lacks_for_a_model_is_a_note() {
    let half = "name,category,layer,side,time_ns\nllp_post,cpu,llp,initiator,175.42\n\
                hlp_post,cpu,hlp,initiator,26.56\npost_prog,cpu,hlp,initiator,59.82\n\
                busy_posts,cpu,llp,initiator,3.17\n";
    let made = table_breakdown(&table(half), RULE, 0.95).unwrap();
    let injection = only(&made).models.iter().find(|model| model.name == "injection").unwrap();
    assert!((injection.modelled.value.0 - 264.97e-9).abs() < 1e-15);
    let lacking = ["llp_injection", "llp_latency", "latency"].map(Value::from);
    assert!(made.notes.iter().map(|note| &note.values["model"]).eq(&lacking));
    assert_eq!(made.codes(), ["model_lacks"; 3]);
}

const STAMP: f64 = 24.0;
const LATENCY: [f64; 4] = [50.0, 500.0, 150.0, 1000.0];
const INJECTION: [f64; 2] = [1730.0, 70.0];

/// Batches of each point in eight rounds, a little apart from round to round; `delay` is of what is inserted.
#[derive(Default)]
struct Measurement(Synthetic);

impl Measurement {
    fn new() -> Measurement {
        let mut own = Synthetic::new();
        own.setting.launches = 1;
        Measurement(own)
    }

    fn put(&mut self, key: &Key, value: f64, delay: Option<f64>) {
        for round in 0..8 {
            let samples = vec![value * (1.0 + 0.002 * f64::from(round % 4))];
            let batch = Batch { samples, delay, round, ..Batch::default() };
            self.0.table.push(Kept::Batch { key: key.clone(), batch });
        }
    }
}

fn plan(inserted: Vec<f64>) -> BreakdownPlan {
    let asked =
        Asked { precision: 0.05, confidence: 0.95, budget: 0.0, seed: 1, stamp: 0.0, check: false };
    BreakdownPlan { asked, bytes: BYTES, inserted }
}

fn latency() -> &'static division::Model {
    &CALLS.models[0]
}

fn injection() -> &'static division::Model {
    &CALLS.models[1]
}

/// A socket of these truths, `observed` over the sum of which is half a round trip; of 200 ns inserted `back` came back.
fn socket(observed: f64, back: [f64; 4]) -> Measurement {
    let mut all = Measurement::new();
    let sum: f64 = LATENCY.iter().sum();
    all.put(&key(latency(), WHOLE_TIME), observed * sum, None);
    all.put(&key(latency(), PAIR), STAMP, None);
    for ((part, truth), back) in latency().parts.iter().zip(LATENCY).zip(back) {
        // What is timed, with its stamps and its share.
        let timed = truth / part.share + part.stamps * STAMP;
        all.put(&key(latency(), part.name), timed, None);
        let longer = |of: &str| inserted_key(latency(), of, part.name, 200.0);
        all.put(&longer(part.name), timed + back * 200.0, Some(200.0));
        all.put(&longer(WHOLE_TIME), observed * sum + part.share * back * 200.0, Some(200.0));
    }
    all.put(&key(injection(), WHOLE_TIME), INJECTION.iter().sum(), None);
    for (part, truth) in injection().parts.iter().zip(INJECTION) {
        all.put(&key(injection(), part.name), truth + STAMP, None);
        all.put(&count_key(injection(), part.name), 1.0, None);
    }
    all
}

fn made(all: &Measurement) -> Made {
    all.0.made(|of| breakdown(of, &plan(vec![200.0]), &CALLS)).unwrap()
}

/// A socket whose models hold.
pub(crate) fn example() -> Breakdown {
    only(&made(&socket(1.0, [1.0; 4]))).clone()
}

#[test]
fn what_was_measured_is_components_models_and_their_error() {
    let made = made(&socket(1.0, [1.0; 4]));
    let breakdown = only(&made);
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
    let beside = breakdown.measured.as_ref().unwrap();
    let stamp = beside.stamp.as_ref().unwrap().value.0;
    assert!((stamp * 1e9 - STAMP * mean).abs() < 1e-6);
    assert_eq!(made.codes(), Vec::<&str>::new());
}

#[test]
fn a_model_that_misses_says_so() {
    for (observed, within) in [(1.04, Within::Holds), (1.10, Within::Off), (0.9, Within::Off)] {
        let made = made(&socket(observed, [1.0; 4]));
        let model = &only(&made).models[0];
        let error = model.error.as_ref().unwrap().value.0;
        assert!((error - (1.0 / observed - 1.0)).abs() < 1e-6, "{error}");
        assert_eq!((&*model.name, model.within), ("latency", Some(within)));
    }
}

/// The same with each batch replaced by others.
fn changed(mut of: Measurement, change: impl Fn(&Key, &Batch) -> Vec<Batch>) -> Measurement {
    let old = std::mem::take(&mut of.0.table);
    for (key, batches) in old.iter() {
        for batch in batches.iter().flat_map(|batch| change(key, batch)) {
            of.0.table.push(Kept::Batch { key: key.clone(), batch });
        }
    }
    of
}

/// The same batch with its samples multiplied.
fn times(batch: &Batch, factor: f64) -> Batch {
    let samples = batch.samples.iter().map(|sample| factor * sample).collect();
    Batch { samples, ..batch.clone() }
}

#[test]
fn a_model_of_which_too_little_is_known_is_undecided() {
    // A component that is apart from round to round by ±15 %.
    let receive = key(latency(), "receive");
    let made = made(&changed(socket(1.0, [1.0; 4]), |key, batch| {
        let apart = if batch.round % 2 == 0 { 1.15 } else { 0.85 };
        vec![times(batch, if *key == receive { apart } else { 1.0 })]
    }));
    let [latency, injection] = &only(&made).models[..] else { panic!("two models") };
    let (low, high) = latency.error.as_ref().unwrap().interval().unwrap();
    assert!(low < -TOLERANCE && high > TOLERANCE, "{low} {high}");
    assert_eq!(latency.within, Some(Within::Undecided));
    assert_eq!(injection.within, Some(Within::Holds));
}

#[test]
fn batches_that_are_held_up_are_told_and_components_below_zero_are_none() {
    let (whole, turn) = (key(injection(), WHOLE_TIME), key(latency(), "turn"));
    let made = made(&changed(socket(1.0, [1.0; 4]), |key, batch| match key {
        key if *key == whole => [1.0, 2.0, 3.0].map(|factor| times(batch, factor)).to_vec(),
        // Less than the stamps take: 7.4 ns of 24.
        key if *key == turn => vec![times(batch, 0.1)],
        _ => vec![batch.clone()],
    }));
    let held_up = made.notes.iter().find(|note| note.code == "held_up").unwrap();
    let named = ["model", "times"].map(|name| &held_up.values[name]);
    assert_eq!(named, [&"injection".into(), &Value::from(2.0)]);
    let turn = &only(&made).components[0].time;
    let (low, high) = turn.interval().unwrap();
    assert!(turn.value.0 == 0.0 && low < 0.0 && high == 0.0, "{low} {high}");
    // The model is the sum of the components, as what is read from the run makes of them.
    let all = only(&made);
    let sum: f64 = all.components[..4].iter().map(|one| one.time.value.0).sum();
    assert!((all.models[0].modelled.value.0 / sum - 1.0).abs() < 1e-12, "{sum}");
}

#[test]
fn an_error_that_launches_leave_open_is_undecided() {
    let whole = key(latency(), WHOLE_TIME);
    let made = made(&changed(socket(1.0, [1.0; 4]), |key, batch| {
        let factor = if *key == whole { 1.3 } else { 1.0 };
        vec![batch.clone(), Batch { launch: 1, ..times(batch, factor) }]
    }));
    let [latency, injection] = &only(&made).models[..] else { panic!("two models") };
    let reach = |model: &ModelTime| model.error.as_ref().unwrap().half_width().unwrap();
    assert!(reach(latency) > 1.0 && reach(injection) < 0.01, "{latency:?}");
    assert_eq!((latency.within, injection.within), (Some(Within::Undecided), Some(Within::Holds)));
}

#[test]
fn what_does_not_come_back_is_told_with_its_length() {
    let made = made(&socket(1.0, [1.0, 0.2, 1.0, 1.0]));
    let inserted = &only(&made).measured.as_ref().unwrap().inserted;
    let back: Vec<Within> = inserted.iter().map(|one| one.comes_back).collect();
    assert_eq!(back, [Within::Holds, Within::Off, Within::Holds, Within::Holds]);
    let whole: Vec<Within> = inserted.iter().map(|one| one.whole_comes_back).collect();
    assert_eq!(whole, back);
    let [note] = &made.notes[..] else { panic!("{:?}", made.notes) };
    assert_eq!((&*note.code, &note.values["component"]), ("insertion_lost", &"visible".into()));
    let [Value::Number(Number(length)), Value::Number(Number(part))] =
        ["inserted", "part"].map(|name| note.values[name].clone())
    else {
        panic!("{note:?}")
    };
    assert!((length - 200e-9).abs() < 1e-12 && (part - 40.1e-9).abs() < 0.2e-9, "{note:?}");
}

/// Half a round trip over lines. A computation as long as the software, of 12 ns, makes the loop's transfer longer by
/// `busy`.
fn lines(busy: f64) -> Made {
    let mut all = Measurement::new();
    for (part, value) in
        [(WHOLE_TIME, 55.0), ("line", 50.0), ("software", 12.0), ("busy", 50.0 + busy)]
    {
        all.put(&key(&LINES.models[0], part), value, None);
    }
    all.0.made(|of| breakdown(of, &plan(vec![200.0]), &LINES)).unwrap()
}

#[test]
fn parts_are_derived_and_only_what_a_division_has_is_in_a_breakdown() {
    let made = lines(5.0);
    let breakdown = only(&made);
    let names: Vec<(&str, Provenance)> =
        breakdown.components.iter().map(|one| (&*one.name, one.provenance)).collect();
    assert_eq!(names, [("line", Provenance::Measured), ("added", Provenance::Derived)]);
    let [latency] = &breakdown.models[..] else { panic!("one model") };
    assert!((latency.error.as_ref().unwrap().value.0).abs() < 1e-6);
    let beside = breakdown.measured.as_ref().unwrap();
    assert!(beside.stamp.is_none() && beside.inserted.is_empty());
}

#[test]
fn what_of_the_software_is_hidden_is_told_and_is_not_in_the_model() {
    let hidden = |made: &Made| made.quantity("breakdown/shm/hidden").map(|of| of.value.0 * 1e9);
    let made = lines(3.0);
    assert!((hidden(&made).unwrap() - 9.0).abs() < 0.1 && made.codes().is_empty());
    let made = lines(14.0);
    assert_eq!((hidden(&made), made.codes()), (None, vec!["hidden_unseen"]));
}

/// Places, each of which a message passes so often; with a stamp at all of them it takes so long.
fn places(count: f64, stamped: f64) -> Made {
    let (mut all, model) = (Measurement::new(), &PLACES.models[0]);
    for (part, value) in
        [(WHOLE_TIME, 380.0), (ALL_STAMPS, stamped), (PAIR, 25.0), (AWAITED_PAIR, 35.0)]
    {
        all.put(&key(model, part), value, None);
    }
    for (part, value) in [("post", 320.0), ("receive", 110.0), ("ahead", 130.0)] {
        all.put(&key(model, part), value, None);
        // Rounds are apart by 0.3 % in the mean.
        all.put(&count_key(model, part), count / 1.003, None);
    }
    all.0
        .made(|of| breakdown(of, &BreakdownPlan { bytes: 1024, ..plan(Vec::new()) }, &PLACES))
        .unwrap()
}

#[test]
fn overlap_is_a_finding_and_a_wrong_count_leaves_no_model() {
    let made = places(1.0, 475.0);
    assert_eq!((only(&made).models.len(), made.codes().len()), (1, 0));
    let overlap = made.quantity("breakdown/shm:bytes=1024/overlap").unwrap();
    // 475 − 380 − 2·25 − 35.
    assert!((overlap.value.0 * 1e9 - 10.0).abs() < 0.1, "{overlap:?}");
    let awaited = made.quantity("breakdown/shm:bytes=1024/awaited_stamp").unwrap();
    assert!((awaited.value.0 * 1e9 - 35.0).abs() < 0.2, "{awaited:?}");
    // Stamps may cost less than is taken off.
    let less = places(1.0, 455.0).quantity("breakdown/shm:bytes=1024/overlap").unwrap();
    let (low, high) = less.interval().unwrap();
    assert!((less.value.0 * 1e9 + 10.0).abs() < 0.1 && low < high && high < 0.0, "{less:?}");
    let made = places(1.01, 475.0);
    assert_eq!((made.results.len(), made.codes()), (0, vec!["counts_off"]));
}

#[test]
fn too_little_is_no_breakdown() {
    let made = Synthetic::new().made(|of| breakdown(of, &plan(Vec::new()), &CALLS)).unwrap();
    assert_eq!((made.results.len(), made.codes()), (0, vec!["too_little"; 2]));
}
