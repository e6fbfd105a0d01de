//! Two sides of runs whose truth is known.

use bandgap_record::{Column, Form, Place, Row, Rows};
use serde_json::json;

use super::*;
use crate::list::Outcome;
use crate::logp::{Logp, OverFloor};

/// What a side is multiplied by: os, all times of a signature and its floor, the curve from 1 MiB on.
#[derive(Clone, Copy)]
struct Factors {
    os: f64,
    machine: f64,
    long: f64,
}

const NONE: Factors = Factors { os: 1.0, machine: 1.0, long: 1.0 };

/// Launches that scatter by 1 %, another way for each value and side.
fn scattered(value: f64, count: usize, salt: f64) -> Option<Quantity> {
    let of = |launch: usize| value * (1.0 + 0.01 * (7.0 * launch as f64 + 3.1 * salt).sin());
    let launches = (0..count).map(|launch| Some(Number(of(launch)))).collect();
    let known = Quantity::new(value, None, Unit::Second, ("mean", 9, true)).ok()?;
    Some(Quantity { launches, ..known })
}

fn run(launches: usize, salt: f64, of: Factors) -> (String, Run) {
    let time = |ns: f64, at: f64| scattered(ns * 1e-9 * of.machine, launches, salt + at);
    let mut logp = Logp::new("signature", "shm", None);
    logp.parameters.send_overhead = time(20.0 * of.os, 0.1);
    logp.parameters.gap = time(60.0, 0.2);
    logp.parameters.rtt = time(100.0, 0.3);
    // The floor is 40 ns where the round trip is 100 ns, and slower with its machine.
    let known = Quantity::new(2.5, None, Unit::One, ("ratio", 9, true)).unwrap();
    let over = Quantity { launches: vec![Some(Number(2.5)); launches], ..known };
    logp.over_floor = Some(OverFloor { floor: "cache_line".to_owned(), ratio: over });
    let bytes = [8, 1024, 1 << 20, 4 << 20];
    let row = |(at, bytes): (usize, &u64)| {
        let factor = if *bytes >= 1 << 20 { of.long } else { 1.0 };
        let cells = vec![time((90.0 + *bytes as f64) * factor, at as f64)];
        Row { place: vec![Place::from(*bytes)], cells, ..Row::default() }
    };
    let rows = Rows {
        kind: "series".to_owned(),
        name: "comms1".to_owned(),
        transport: "shm".to_owned(),
        form: Form::Curve,
        axes: vec!["bytes".to_owned()],
        columns: vec![Column::new("time", Unit::Second, "t").counting()],
        rows: bytes.iter().enumerate().map(row).collect(),
        ..Rows::default()
    };
    let experiment = |name| json!({"experiment": name, "transport": "shm", "wait": "spin"});
    let text = json!({
        "format": "bandgap-run", "version": 2, "command": ["bandgap"], "started": "", "seed": 1,
        "bandgap": {"version": "1", "revision": null},
        "setup": {"machine": {"processor": "x"}, "of": [experiment("logp"), experiment("comms1")]}
    });
    let mut run = Run::from_json(text.to_string().as_bytes()).unwrap();
    run.results = vec![logp.into(), rows.into()];
    (format!("run{salt}"), run)
}

fn verdict(of: &Comparison, id: &str) -> Word {
    let all = of.quantities.iter().chain(&of.machine.floors);
    all.clone().find(|of| of.id == id).unwrap_or_else(|| panic!("no {id}: {of:?}")).verdict
}

fn compared(a: &[(String, Run)], b: &[(String, Run)]) -> Comparison {
    let made = compare([a, b], 0.95, 0.05);
    // What is written is read, and is the same.
    let text = serde_json::to_string(&made).unwrap();
    assert_eq!(Comparison::from_json(text.as_bytes()).as_ref(), Some(&made));
    assert!(!made.blocks(true, 1.0).is_empty() && !made.markdown(1.0).contains("NaN"));
    assert!(made.csv().unwrap().iter().filter(|of| **of == b'\n').count() > made.quantities.len());
    made
}

const CURVE: &str = "series/comms1/shm/time";

#[test]
fn equal_sides_are_the_same_and_a_change_is_found_where_it_is() {
    let a = [run(10, 1.0, NONE)];
    let made = compared(&a, &[run(10, 2.0, NONE)]);
    assert_eq!((made.verdict, made.machine.verdict, made.rule.family), (Word::Same, Word::Same, 4));
    assert_eq!(made.machine.floors[0].id, "floor/cache_line/logp/shm");
    let b = [run(10, 2.0, Factors { os: 1.2, ..NONE })];
    for (sides, word) in [([&a, &b], Word::Slower), ([&b, &a], Word::Faster)] {
        let made = compared(sides[0], sides[1]);
        assert_eq!((made.verdict, verdict(&made, "logp/shm/send_overhead")), (word, word));
        assert_eq!(made.quantities.iter().filter(|of| of.verdict.is_change()).count(), 1);
    }
    let made = compared(&a, &[run(10, 2.0, Factors { long: 1.3, ..NONE })]);
    assert_eq!(verdict(&made, CURVE), Word::Slower);
    let most = made.quantities[0].most_at.as_deref().unwrap();
    assert!(most.ends_with("bytes=1048576/time") || most.ends_with("bytes=4194304/time"), "{most}");
}

#[test]
fn a_slower_machine_is_no_slower_library() {
    let (a, b) = (run(10, 1.0, NONE), run(10, 2.0, Factors { machine: 1.12, ..NONE }));
    let made = compared(&[a], &[b]);
    assert_eq!((made.verdict, verdict(&made, CURVE)), (Word::Machine, Word::Slower));
}

#[test]
fn few_launches_one_launch_and_zeros_decide_nothing() {
    let slow = Factors { os: 2.0, long: 2.0, ..NONE };
    for launches in [0, 1, 2, 3] {
        let made = compared(&[run(launches, 1.0, NONE)], &[run(launches, 2.0, slow)]);
        assert!(!made.quantities.iter().any(|of| of.verdict.is_change()), "{launches}: {made:?}");
    }
    let (mut a, b) = (run(6, 1.0, NONE), run(6, 2.0, NONE));
    let Outcome::Logp(logp) = &mut a.1.results[0] else { panic!("no signature") };
    logp.parameters.gap.as_mut().unwrap().launches[2] = Some(Number(0.0));
    logp.parameters.rtt.as_mut().unwrap().launches[1] = None;
    let made = compared(&[a.clone()], &[b]);
    let gap = made.quantities.iter().find(|of| of.id == "logp/shm/gap").unwrap();
    assert_eq!((gap.verdict, gap.reason.as_deref()), (Word::CannotTell, Some("not_above_0")));
    // The same run twice.
    assert_eq!(compared(&[a.clone()], &[a]).verdict, Word::Same);
}

#[test]
fn set_ups_differ_by_fields_and_exact_values_are_compared_exactly() {
    let (a, mut b) = (run(10, 1.0, NONE), run(10, 2.0, NONE));
    b.1.setup.of[1].buffers = Some("fresh".to_owned());
    b.1.setup.machine.processor = Some("y".to_owned());
    b.1.bandgap.version = "2".to_owned();
    let made = compared(&[a], &[b]);
    let fields = [&made.setup.experiment, &made.setup.machine, &made.setup.expected];
    let fields = fields.map(|of| of.iter().map(|of| of.field.as_str()).collect::<Vec<_>>());
    assert_eq!(fields[..2], [vec!["comms1 shm buffers"], vec!["setup.machine.processor"]]);
    assert_eq!(fields[2], ["bandgap.version"]);
    assert_eq!(
        (&*made.only_in_a, &*made.only_in_b),
        (&[CURVE.to_owned()][..], &[CURVE.to_owned()][..])
    );
    // In virtual time no rank waits in some way, and one launch is all.
    let exact = |long: f64| {
        let (name, mut run) = run(1, 1.0, Factors { long, ..NONE });
        run.setup.of.iter_mut().for_each(|of| of.wait = None);
        [(name, run)]
    };
    let mut none = exact(1.0);
    let Outcome::Logp(logp) = &mut none[0].1.results[0] else { panic!("no signature") };
    logp.parameters.gap.as_mut().unwrap().launches = vec![Some(Number(0.0))];
    assert_eq!(verdict(&compared(&exact(1.0), &none), "logp/shm/gap"), Word::CannotTell);
    for (long, word) in [(1.0, Word::Same), (1.02, Word::Same), (1.06, Word::Slower)] {
        let made = compared(&exact(1.0), &exact(long));
        let curve = made.quantities.iter().find(|of| of.id == CURVE).unwrap();
        let change = curve.change.as_ref().unwrap().value.0;
        assert!(curve.exact && (change - long + 1.0).abs() < 1e-9, "{curve:?}");
        assert_eq!(curve.verdict, word);
    }
}

#[test]
fn words_count_beside_what_changed_and_runs_are_one_where_there_are_five() {
    let side = |salt, os, regime| {
        let (name, mut run) = run(10, salt, Factors { os, ..NONE });
        let Outcome::Logp(logp) = &mut run.results[0] else { panic!("no signature") };
        logp.regime = regime;
        [(name, run)]
    };
    use bandgap_model::Regime::{NetworkBound, Overlapped, Undecided};
    let words = |os, regime| {
        let made = compared(&side(1.0, 1.0, NetworkBound), &side(2.0, os, regime));
        made.quantities.iter().find(|of| of.words.is_some()).map(|of| of.verdict)
    };
    assert_eq!(words(1.0, Overlapped), None);
    assert_eq!(words(1.3, Overlapped), Some(Word::Differs));
    assert_eq!(words(1.3, Undecided), Some(Word::CannotTell));
    let several =
        |salt: f64| -> Vec<_> { (0..5).map(|at| run(3, salt + f64::from(at), NONE)).collect() };
    let made = compared(&several(1.0), &several(11.0));
    assert_eq!((&*made.rule.unit, made.sides[0].launches), ("run", 15));
    assert_eq!(compared(&several(1.0)[..4], &several(11.0)).rule.unit, "launch");
}
