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
    let made = compare([a, b], 0.95, 0.05, None);
    // What is written is read, and is the same.
    let text = serde_json::to_string(&made).unwrap();
    assert_eq!(Comparison::from_json(text.as_bytes()).as_ref(), Some(&made));
    assert!(!made.blocks(true).is_empty() && !made.markdown().contains("NaN"));
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
fn a_floor_on_a_librarys_own_calls_is_the_librarys() {
    let sides = [run(10, 1.0, NONE), run(10, 2.0, Factors { machine: 1.12, ..NONE })];
    let [a, b] = sides.map(|(name, mut run)| {
        for of in &mut run.setup.of {
            of.library = Some(bandgap_units::Library::default());
        }
        (name, run)
    });
    let made = compared(&[a], &[b]);
    assert_eq!((made.verdict, made.machine.verdict), (Word::Slower, Word::NotChecked));
    assert_eq!(verdict(&made, "floor/cache_line/logp/shm"), Word::Slower);
}

#[test]
fn floors_alone_are_something_in_common_only_where_nothing_else_was_measured() {
    let (mut a, mut b) = (run(6, 1.0, NONE), run(6, 2.0, NONE));
    let made = compared(&[a.clone()], &[b.clone()]);
    assert!(!made.is_empty());
    // The signature's floor stays; the curves are two.
    for (side, name) in [(&mut a.1, "echo"), (&mut b.1, "exchange")] {
        let Outcome::Rows(rows) = &mut side.results[1] else { panic!("no rows") };
        rows.name = name.to_owned();
    }
    let made = compared(&[a], &[b]);
    // A floor over a library is a value, and no more in common than one of the machine.
    let mut quantities = made.machine.floors.clone();
    quantities.truncate(1);
    assert!(Comparison { quantities, ..made.clone() }.is_empty());
    let made = Comparison { quantities: Vec::new(), ..made };
    assert!(made.is_empty() && made.only_in_a.len() == 1, "{made:?}");
    let only_in_a = vec!["floor/x".to_owned()];
    let alone = Comparison { only_in_a, only_in_b: Vec::new(), ..made };
    assert!(!alone.machine.floors.is_empty() && !alone.is_empty());
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
    let words = |salt, os, regime| {
        let made = compared(&side(1.0, 1.0, NetworkBound), &side(salt, os, regime));
        made.quantities.iter().find(|of| of.words.is_some()).map(|of| of.verdict)
    };
    assert_eq!(words(2.0, 1.0, Overlapped), None);
    assert_eq!(words(2.0, 1.3, Overlapped), Some(Word::Differs));
    assert_eq!(words(2.0, 1.3, Undecided), Some(Word::CannotTell));
    // Launches that are all equal by chance.
    assert_eq!(words(1.0, 1.0, Overlapped), None);
    let several =
        |salt: f64| -> Vec<_> { (0..5).map(|at| run(3, salt + f64::from(at), NONE)).collect() };
    let made = compared(&several(1.0), &several(11.0));
    assert_eq!((&*made.rule.unit, made.sides[0].launches), ("run", 15));
    assert_eq!(compared(&several(1.0)[..4], &several(11.0)).rule.unit, "launch");
}

fn judged<'a>(of: &'a Comparison, id: &str) -> &'a Judged {
    let all = of.quantities.iter().chain(&of.machine.floors);
    all.clone().find(|of| of.id == id).unwrap_or_else(|| panic!("no {id}: {of:?}"))
}

/// Changes the signature of a run.
fn signature((_, run): &mut (String, Run)) -> &mut Logp {
    let Outcome::Logp(logp) = &mut run.results[0] else { panic!("no signature") };
    logp
}

#[test]
fn values_not_above_0_have_no_mean_and_equal_ones_no_place_in_the_family() {
    let (mut a, mut b) = (run(10, 1.0, NONE), run(10, 2.0, NONE));
    for side in [&mut a, &mut b] {
        let parameters = &mut signature(side).parameters;
        parameters.gap.as_mut().unwrap().launches = vec![Some(Number(0.0)); 10];
    }
    let made = compared(&[a.clone()], &[b.clone()]);
    let gap = judged(&made, "logp/shm/gap");
    assert_eq!((gap.verdict, &gap.a, &gap.b), (Word::Same, &None, &None));
    let interval = |of: &Comparison| judged(of, CURVE).change.clone();
    assert_eq!(made.rule.family, 3);
    for side in [&mut a, &mut b] {
        signature(side).parameters.gap = None;
    }
    let without = compared(&[a], &[b]);
    assert_eq!((without.rule.family, interval(&without)), (3, interval(&made)));
}

#[test]
fn floors_that_are_measured_alone_are_an_experiment() {
    let side = |salt: f64, ranks: u64| {
        let (name, mut run) = run(10, salt, NONE);
        let experiment =
            json!({"experiment": "floors", "transport": "", "wait": "spin", "ranks": ranks});
        run.setup.of = vec![serde_json::from_value(experiment).unwrap()];
        let mut time = scattered(4e-8, 10, salt).unwrap();
        (time.low, time.high) = (Some(time.value), Some(time.value));
        run.results = vec![
            Rows {
                kind: "floor".to_owned(),
                name: "cache_line".to_owned(),
                form: Form::Floor,
                columns: vec![Column::new("time", Unit::Second, "t").counting()],
                rows: vec![Row { cells: vec![Some(time)], ..Row::default() }],
                ..Rows::default()
            }
            .into(),
        ];
        [(name, run)]
    };
    let made = compared(&side(1.0, 2), &side(2.0, 2));
    let floor = judged(&made, "floor/cache_line/time");
    assert!(!floor.exact && floor.p.is_some(), "{floor:?}");
    let made = compared(&side(1.0, 2), &side(2.0, 3));
    assert_eq!((made.only_in_a.len(), made.machine.floors.len()), (1, 0), "{made:?}");
}

#[test]
fn a_curve_that_changed_says_where_and_in_which_values_of_its_fit() {
    let side = |salt: f64, of: Factors| {
        let (name, mut run) = run(10, salt, of);
        let value = |at: f64, factor: f64| scattered(1e9 * factor, 10, salt + at);
        let rate = |of: Option<Quantity>| of.map(|of| Quantity { unit: Unit::BytePerSecond, ..of });
        let segment = json!({"from_bytes": 8, "to_bytes": 4 << 20, "points": 4,
            "r_inf": rate(value(7.0, 1.0 / of.long)), "n_half": null,
            "t0": value(8.0, 1.0), "pi0": null});
        let fit = json!({"kind": "hockney", "name": "comms1", "transport": "shm", "messages": 1,
            "weighting": "relative", "segments": [segment]});
        run.results.push(serde_json::from_value(fit).unwrap());
        [(name, run)]
    };
    let made = compared(&side(1.0, NONE), &side(2.0, Factors { long: 1.3, ..NONE }));
    let curve = judged(&made, CURVE);
    let inside: Vec<(&str, Word)> = curve.inside.iter().map(|of| (&*of.id, of.verdict)).collect();
    let expected = [
        ("hockney/comms1/shm/from=0/r_inf", Word::Slower),
        ("series/comms1/shm/bytes=1048576/time", Word::Slower),
        ("series/comms1/shm/bytes=4194304/time", Word::Slower),
    ];
    assert_eq!(inside, expected);
    // A fit alone is no verdict: its curve holds.
    let mut odd = side(2.0, NONE);
    odd[0].1.results[2] = side(2.0, Factors { long: 2.0, ..NONE })[0].1.results[2].clone();
    let made = compared(&side(1.0, NONE), &odd);
    assert_eq!((made.verdict, judged(&made, CURVE).inside.len()), (Word::Same, 0));
}

#[test]
fn what_cannot_be_told_has_a_command_that_would_tell() {
    let scattered = |name: &str, salt: f64, words: &str| {
        let (_, mut run) = run(5, salt, NONE);
        run.command = words.split(' ').map(str::to_owned).collect();
        run.elapsed = Number(60.0);
        let mut named = (name.to_owned(), run);
        let rtt = signature(&mut named).parameters.rtt.as_mut().unwrap();
        for (at, launch) in rtt.launches.iter_mut().flatten().enumerate() {
            launch.0 *= 1.0 + 0.1 * (at as f64 + salt).sin();
        }
        named
    };
    let a = |words| [scattered("old run", 1.0, words)];
    let b = [scattered("new", 2.0, "./new signature -t shm -q --out b --launches=5 -ob -v")];
    let decide = |a: &[(String, Run)], b: &[(String, Run)]| compared(a, b).decide.unwrap();
    let made = decide(&a("./old signature"), &b);
    let count = made.count;
    let expected =
        format!("./new signature --against 'old run' --a-binary ./old --launches {count}");
    assert!(count > 5 && made.command == expected && !made.each_side, "{made:?}");
    // The program of A is gone.
    let made = decide(&a("./new signature"), &b);
    assert!(made.each_side && made.command.starts_with("./new signature -t shm --launches "));
    // Where runs are the unit, launches would not do.
    let several = |salt: f64| -> Vec<_> {
        (0..5).map(|at| scattered("r", salt + f64::from(at), "./new signature -q")).collect()
    };
    let mut other = several(11.0);
    signature(&mut other[0]).parameters.rtt.as_mut().unwrap().launches.fill(Some(Number(2e-7)));
    let made = decide(&several(1.0), &other);
    assert_eq!((&*made.command, made.each_side), ("./new signature", true));
    assert!(made.count > 5);
    // Pairs go on by the command that made them.
    let by = "./b run --launches=6 --against a -o out --a-env X=1 --time-budget 9s";
    let command = by.split(' ').map(str::to_owned).collect();
    let pairs = Pairs { settled: Vec::new(), command };
    let made = compare([&a("./a run"), &b], 0.95, 0.05, Some(pairs));
    assert_eq!(made.decide, None, "one pair");
    let sides = [several(1.0), several(11.0)];
    let command = by.split(' ').map(str::to_owned).collect();
    let pairs = Pairs { settled: Vec::new(), command };
    let made = compare([&sides[0], &sides[1]], 0.95, 0.05, Some(pairs)).decide.unwrap();
    let time = 2 * 60 * (made.count + 6);
    let again =
        format!("./b run --against a --a-env X=1 --launches {} --time-budget {time}s", made.count);
    assert_eq!(made.command, again);
    // A table that leaves nothing out points nowhere.
    let text = compare([&a("./old signature"), &b], 0.95, 0.05, None).markdown();
    assert!(!text.contains("(-v)") && text.contains(&expected), "{text}");
}

#[test]
fn pairs_see_through_what_a_sitting_does_to_both() {
    let side = |os: f64| -> Vec<_> {
        let one = |at: u32| {
            // Each pair is made at another pace.
            let pace = 1.0 + 0.2 * (f64::from(at) * 2.3).sin();
            let (name, mut run) = run(1, f64::from(at) + os, Factors { os, machine: pace, ..NONE });
            run.command = vec!["bandgap".to_owned(), "signature".to_owned()];
            (name, run)
        };
        (0..8).map(one).collect()
    };
    let pairs = |settled| Some(Pairs { settled, command: vec!["x".to_owned()] });
    let made = compare([&side(1.0), &side(1.2)], 0.95, 0.05, pairs(Vec::new()));
    assert_eq!(
        (&*made.rule.unit, verdict(&made, "logp/shm/send_overhead")),
        ("pair", Word::Slower)
    );
    assert_eq!((made.sides[0].launches, made.machine.verdict), (8, Word::Same));
    let alone = compare([&side(1.0), &side(1.2)], 0.95, 0.05, None);
    assert_eq!(verdict(&alone, "logp/shm/send_overhead"), Word::CannotTell);
    // What is settled stays, outside the family.
    let (settled, open): (Vec<_>, Vec<_>) =
        made.quantities.into_iter().partition(|of| of.verdict == Word::Same);
    let again = compare([&side(1.0), &side(1.2)], 0.95, 0.05, pairs(settled.clone()));
    assert_eq!(
        (again.rule.family, again.quantities.len()),
        (open.len(), open.len() + settled.len())
    );
    assert!(settled.iter().all(|of| judged(&again, &of.id) == of));
}
