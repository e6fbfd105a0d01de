use bandgap_campaign::breakdown::{
    BORDERS, TOLERANCE, busy_key, count_key, inserted_key, slot_key,
};
use bandgap_campaign::data::{Batch, Kept, Probe};
use bandgap_campaign::{Key, Table};
use bandgap_comm::{Border, Floor, Yields};
use bandgap_report::Layout;
use bandgap_stats::Convergence;

use super::*;
use crate::breakdown::text;
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

fn page(breakdown: &Breakdown) -> String {
    text::page(breakdown, &Layout { width: 100, ..Layout::default() })
}

#[test]
fn what_was_measured_is_components_models_and_their_error() {
    let breakdown = made(&socket(1.0, [1.0; 4]));
    insta::assert_snapshot!(page(&made(&socket(1.01, [1.0; 4]))));
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
        assert_eq!(model.within, Some(Within::Yes));
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
fn what_is_an_identity_of_one_timeline_is_called_that() {
    let said = |breakdown: &Breakdown| -> Vec<String> {
        let all = breakdown.findings.iter();
        all.filter(|said| said.starts_with("Identities of one timeline")).cloned().collect()
    };
    let [both] = &said(&made(&socket(1.0, [1.0; 4])))[..] else { panic!("one sentence") };
    for part in [
        ": visible + poll, which together end where the last poll begins; ",
        "; send_calls + receive_calls + failing_polls + own_code, which are all calls of the requester",
    ] {
        assert!(both.contains(part), "{both}");
    }
    // Nothing of a loop and of one processor's work is on one timeline.
    assert!(said(&lines(12.0, 5.0)).is_empty());
}

#[test]
fn a_model_that_misses_says_so() {
    for (observed, within) in [(1.04, Within::Yes), (1.10, Within::No), (0.9, Within::No)] {
        let breakdown = made(&socket(observed, [1.0; 4]));
        let model = &breakdown.models[0];
        let error = model.error.as_ref().unwrap().value.0;
        assert!((error - (1.0 / observed - 1.0)).abs() < 1e-9, "{error}");
        assert_eq!((&*model.name, model.within), ("latency", Some(within)));
        assert_eq!(breakdown.verdict() == Verdict::Good, within == Within::Yes);
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
    assert_eq!(breakdown.models[1].within, Some(Within::Yes));
}

#[test]
fn batches_that_are_held_up_are_told_and_so_are_components_below_zero() {
    let told = |of: &(BreakdownPlan, Table)| made(of).findings.join("\n");
    let calm = told(&socket(1.0, [1.0; 4]));
    assert!(!calm.contains("held up") && !calm.contains("below 0"), "{calm}");
    let (whole, turn) =
        (key(Model::Injection, Stamping::Nothing), key(Model::Latency, Stamping::Turn));
    let busy = changed(&socket(1.0, [1.0; 4]), |key, batch| match key {
        key if *key == whole => [1.0, 2.0, 3.0].map(|factor| times(batch, factor)).to_vec(),
        // Less than the stamps take: 7.4 ns of 24.
        key if *key == turn => vec![times(batch, 0.1)],
        _ => vec![batch.clone()],
    });
    let said = told(&busy);
    for part in [
        "Batches of injection were held up",
        "takes 2.0 times as long as the shortest",
        "'turn' came out below 0, at -16.6",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("Batches of latency were held up"), "{said}");
    let breakdown = made(&busy);
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
    let told = breakdown.findings.join("\n");
    assert!(told.contains("The error of latency has no interval"), "{told}");
    assert!(!told.contains("The error of injection"), "{told}");
}

#[test]
fn what_does_not_come_back_is_told_with_its_length() {
    let breakdown = made(&socket(1.0, [1.0, 0.2, 1.0, 1.0]));
    let about = breakdown.measured.as_ref().unwrap();
    let back: Vec<Within> = about.inserted.iter().map(|one| one.comes_back).collect();
    assert_eq!(back, [Within::Yes, Within::No, Within::Yes, Within::Yes]);
    let told = breakdown.findings.join("\n");
    let whole: Vec<Within> = about.inserted.iter().map(|one| one.whole_comes_back).collect();
    assert_eq!(whole, back);
    assert!(told.contains("within 5 % or 5 ns? 3 yes, 1 no, 0 undecided. Did half"), "{told}");
    assert!(
        told.contains("became longer by something else: 40.1 ns for 200 ns in visible. Their"),
        "{told}"
    );
    assert!(
        told.contains("Half a round trip became longer by something else: 40.1 ns for"),
        "{told}"
    );
    let all = made(&socket(1.0, [1.0; 4])).findings.join("\n");
    assert!(all.contains("4 yes, 0 no") && !all.contains("something else"), "{all}");
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
    let told = |requester| lines(requester, 5.0).findings.join("\n");
    assert!(
        told(12.0).contains("differs from the time between two requests by -40 %"),
        "{}",
        told(12.0)
    );
    assert!(
        told(20.0).contains("agrees with the time between two requests here"),
        "{}",
        told(20.0)
    );
    assert!(!page(&breakdown).contains("longer by"));
    let alone = "longer than the whole half of a round trip";
    assert!(!told(12.0).contains(alone) && told(12.0).contains("--launches 5"));
}

#[test]
fn what_of_the_software_is_hidden_is_told_and_is_not_in_the_model() {
    let told = |busy| {
        let breakdown = lines(12.0, busy);
        (breakdown.components[1].time.value.0 * 1e9, breakdown.findings.join("\n"))
    };
    // 12 ns of software; a computation that takes as long adds so much.
    let (software, said) = told(3.0);
    assert!((software - 3.0).abs() < 0.1, "{software}");
    assert!(said.contains("Of the software's 12.0 ns each way, 9.0"), "{said}");
    assert!(
        said.contains("are hidden behind the transfer") && !said.contains("cannot be seen"),
        "{said}"
    );
    let (software, said) = told(14.0);
    assert!((software - 12.0).abs() < 0.1, "{software}");
    assert!(said.contains("Of the software's 12.0 ns each way nothing counts as hidden"), "{said}");
}

#[test]
fn what_was_measured_can_be_read_back_and_changed() {
    let breakdown = made(&socket(1.0, [1.0; 4]));
    let read: Breakdown =
        serde_json::from_str(&serde_json::to_string(&breakdown).unwrap()).unwrap();
    assert_eq!(read, breakdown);
    let table = read.table().unwrap();
    assert_eq!(table.stack.components().len(), 8);
    // Its errors are paired by round; at whatever level, they are not propagated anew.
    let rule = Rule { precision: 0.05, stamp: 0.0 };
    for confidence in [0.95, 0.5] {
        assert_eq!(
            super::super::assemble::again(read.clone(), &table, rule, confidence).unwrap(),
            read
        );
        let mut spoilt = read.clone();
        spoilt.models[0].within = None;
        spoilt.models[0].divided[0].parts[0].share = Number(17.0);
        let again = super::super::assemble::again(spoilt, &table, rule, confidence).unwrap();
        assert_eq!(page(&again), page(&read));
    }
    let files = breakdown.files(&Among::new([])).unwrap();
    let names: Vec<&str> = files.iter().map(|file| &*file.name).collect();
    for name in ["components.toml", "breakdown.svg", "arrivals.svg", "gnuplot/arrivals.gp"] {
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
fn a_loop_that_takes_longer_than_a_message_and_rounds_left_out_are_told() {
    let mut all = Measurement::default();
    let mut put = |part, value| all.put(&key(Model::Latency, part), value, None);
    put(Stamping::Nothing, 29.0);
    put(Stamping::Together, 40.0 + 2.0 * STAMP);
    put(Stamping::Lines, 16.0 + 2.0 * STAMP);
    put(Stamping::Requester, 12.0 + STAMP);
    put(Stamping::Pair, STAMP);
    all.put(&key(Model::Injection, Stamping::Nothing), 20.0, None);
    all.put(&slot_key(), 31.0, None);
    all.put(&busy_key(&slot_key()), 31.0, None);
    all.put(&busy_key(&key(Model::Latency, Stamping::Lines)), 16.0 + 2.0 * STAMP, None);
    // Three more rounds, each with another value outside its fence.
    for (round, value) in [(8, 900.0), (9, 800.0), (10, 700.0)] {
        for part in [Stamping::Nothing, Stamping::Together, Stamping::Lines, Stamping::Pair] {
            let samples = vec![if part == Stamping::Together { value } else { 29.0 }];
            let probe = Some([Probe { cache_line: 50.0, pace: 400.0 }; 2]);
            let batch = Batch { samples, probe, round, ..Batch::default() };
            all.0.push(Kept::Batch { key: key(Model::Latency, part), batch });
        }
        let probe = Some([Probe { cache_line: 50.0, pace: 400.0 }; 2]);
        let busy_lines = busy_key(&key(Model::Latency, Stamping::Lines));
        for key in [slot_key(), busy_key(&slot_key()), busy_lines] {
            let batch = Batch { samples: vec![31.0], probe, round, ..Batch::default() };
            all.0.push(Kept::Batch { key, batch });
        }
    }
    let floor = Floor::new("ring_lines", "", Yields::HalfRoundTrip, 10);
    let divided = Division::Lines(floor);
    let breakdown = made(&(BreakdownPlan { asked: asked(), divided, inserted: Vec::new() }, all.0));
    let told = breakdown.findings.join("\n");
    assert!(told.contains("longer than the whole half of a round trip"), "{told}");
    assert!(told.contains("Of the 11 rounds of latency, 3 were left out"), "{told}");
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
    assert!(breakdown.findings.iter().any(|said| said.starts_with("2 of 3 launches")));
}

#[test]
fn too_little_is_no_breakdown() {
    let (plan, _) = socket(1.0, [1.0; 4]);
    let judged_table = Table::default();
    let nothing = measured(&Setting::default(), &plan, &plan.judge(&judged_table));
    assert!(matches!(nothing, Err(AssembleError::NoRounds)));
}
