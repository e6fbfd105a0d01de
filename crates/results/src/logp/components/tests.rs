use bandgap_record::{CurvesDeclared, Evidence, Quantity, Unit};
use bandgap_stats::Rule;
use bandgap_stats::interval::normal_factor;

use super::*;
use crate::breakdown::Breakdown;
use crate::breakdown::assemble::breakdown;
use crate::logp::schema::OtherState;
use crate::logp::tests::{example, time};
use crate::whatif::WhatIf;
use crate::whatif::assemble::whatif;
use bandgap_model::breakdown::Change;

const RULE: Rule = Rule { precision: 0.05, stamp: 0.0 };

/// A signature in a single state: os, or, g, RTT.
fn signature(transport: &str, [os, or, g, rtt]: [f64; 4], regime: Regime) -> Logp {
    let logp = example(transport, os, or, g, rtt, &[0.0, 2.0 * rtt]);
    Logp { regime, other_states: Vec::new(), ..logp }
}

fn paragon() -> Logp {
    signature("sim:paragon", [1400.0, 2200.0, 7600.0, 19_800.0], Regime::NetworkBound)
}

fn of(all: &[Logp], wanted: Option<&str>) -> Result<ComponentTable, AssembleError> {
    let all: Vec<Outcome> = all.iter().cloned().map(Outcome::from).collect();
    components(&all, wanted, Some(0.95))
}

fn table(logp: Logp) -> ComponentTable {
    of(&[logp], None).unwrap()
}

fn divided(logp: Logp) -> Breakdown {
    breakdown(&table(logp), RULE, 0.95).unwrap()
}

fn changed(logp: Logp, changes: &[Change]) -> WhatIf {
    whatif(&table(logp), changes, None, RULE, 0.95).unwrap()
}

fn set(what: &str, ns: f64) -> Change {
    Change::Set { what: what.into(), ns }
}

fn half_width(of: &Quantity) -> f64 {
    let (low, high) = of.interval().unwrap();
    (high - low) / 2.0 * 1e9
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
}

#[test]
fn half_a_round_trip_is_os_l_and_or_with_the_interval_of_what_was_measured() {
    let found = divided(paragon());
    let way = &found.models[0];
    assert_eq!((way.name.as_str(), way.formula.as_str()), ("one_way", "os + L + or"));
    near(way.modelled.as_time().unwrap().0, 9900.0);
    // Half of RTT ± 1.4. With independent errors of os, or and L it would be ± 2.8 at least.
    near(half_width(&way.modelled), 0.7);
    near(found.models[1].modelled.as_time().unwrap().0, 19_800.0);
    near(half_width(&found.models[1].modelled), 1.4);
    // L is 9900 − 1400 − 2200.
    let latency = found.components.iter().find(|one| one.name == "L").unwrap();
    near(latency.time.as_time().unwrap().0, 6300.0);
    near(half_width(&latency.time), (0.7_f64.powi(2) + 0.05_f64.powi(2) + 2.1_f64.powi(2)).sqrt());
    // What follows from RTT is not compared with it.
    assert!(found.models.iter().all(|model| model.observed.is_none()));
    let shares: Vec<(&str, f64)> =
        way.by("side").iter().map(|part| (part.name.as_str(), part.share.0)).collect();
    assert_eq!(shares.len(), 3);
    for ((name, share), (side, ns)) in
        shares.into_iter().zip([("initiator", 1400.0), ("target", 2200.0), ("network", 6300.0)])
    {
        assert_eq!(name, side);
        near(share, ns / 9900.0);
    }
}

#[test]
fn spreads_are_of_the_level_that_the_intervals_have() {
    let all = [Outcome::from(paragon())];
    for level in [0.5, 0.95, 0.99] {
        let table = components(&all, None, Some(level)).unwrap();
        near(table.stack.spread(0).unwrap(), 0.05 / normal_factor(level));
        assert!(!table.notes.iter().any(|note| note.contains("is assumed")));
    }
    let unknown = components(&all, None, None).unwrap();
    near(unknown.stack.spread(0).unwrap(), 0.05 / normal_factor(0.95));
    assert!(unknown.notes.contains(
        &"The run does not say at which level its intervals are: 95 % is assumed.".to_owned()
    ));
    let bare = Quantity::new(1.4e-6, None, Unit::Second, Evidence::new("mean", 1, false)).unwrap();
    let mut logp = paragon();
    logp.parameters.send_overhead = Some(bare);
    assert_eq!(table(logp).stack.spread(0), None);
}

#[test]
fn the_rate_is_what_bounds_it() {
    // Bound by the network: g, until os + or is longer.
    let message = |logp: Logp, changes: &[Change]| {
        let found = changed(logp, changes);
        let model = found.models.iter().find(|model| model.name == "message");
        model.map(|model| model.after.as_time().unwrap().0)
    };
    near(message(paragon(), &[set("os", 100.0)]).unwrap(), 7600.0);
    near(message(paragon(), &[set("os", 6000.0)]).unwrap(), 8200.0);
    near(message(paragon(), &[set("g", 4000.0)]).unwrap(), 4000.0);
    near(message(paragon(), &[set("g", 1000.0)]).unwrap(), 3600.0);
    // By the processor: both overheads of the requester, compared with the g that was measured.
    let bound = || signature("sim:mine", [300.0, 500.0, 800.0, 2000.0], Regime::ProcessorBound);
    near(message(bound(), &[set("or", 100.0)]).unwrap(), 400.0);
    let found = divided(bound());
    let model = found.models.iter().find(|model| model.name == "message").unwrap();
    near(model.observed.as_ref().unwrap().as_time().unwrap().0, 800.0);
    assert_eq!(model.by("side").len(), 1);
    assert_eq!(model.by("side")[0].name, "initiator");
    // Beside the way of a message nothing is claimed of a rate that nobody understands.
    let overlapped = || signature("shm", [20.0, 40.0, 50.0, 200.0], Regime::Overlapped);
    assert_eq!(message(overlapped(), &[set("os", 10.0)]), None);
    let models = divided(overlapped()).models;
    assert!(models.iter().any(|model| model.name == "message" && !model.main));
    let undecided = signature("shm", [20.0, 40.0, 60.0, 200.0], Regime::Undecided);
    let found = divided(undecided);
    assert!(found.models.iter().all(|model| model.name != "message"));
    assert!(
        found
            .findings
            .iter()
            .any(|said| said.contains("undecided what bounds the rate (idle is 0"))
    );
}

#[test]
fn where_the_overheads_are_longer_than_the_way_they_are_all_of_it() {
    // os + or = 120, and half a round trip takes 100.
    let found = divided(signature("shm", [40.0, 80.0, 100.0, 200.0], Regime::Overlapped));
    let way = &found.models[0];
    assert_eq!(way.formula, "os + or");
    near(way.modelled.as_time().unwrap().0, 120.0);
    near(way.observed.as_ref().unwrap().as_time().unwrap().0, 100.0);
    near(way.error.as_ref().unwrap().value.0, 0.2);
    assert!(found.components.iter().all(|one| one.name != "L"));
    let said =
        "So half a round trip is modelled as os + or, which is 20 % longer than what was measured.";
    assert!(found.findings.iter().any(|found| found.contains(said)), "{:?}", found.findings);
}

/// Stores of so many bytes at G = 0.5 ns a byte, on a machine with os = 300, L = 700 and or = 500.
fn store(bytes: u64) -> Logp {
    let short = 2.0 * 1500.0;
    let moved = 0.5 * bytes as f64;
    let logp = signature("sim:mine", [300.0, 500.0, 800.0, short + moved], Regime::ProcessorBound);
    let latency = Some(time(700.0 + moved, 1.8, "RTT − os − or − RTT(0)/2", true));
    Logp {
        name: "bulk_store_signature".into(),
        operation: Some(Operation::Store),
        bytes: Some(bytes),
        parameters: Parameters { latency, ..logp.parameters },
        ..logp
    }
}

#[test]
fn the_way_of_a_transfer_has_its_bytes() {
    let all = [store(0), store(64), store(1024)];
    let of_store =
        |wanted: Option<&str>| breakdown(&of(&all, wanted).unwrap(), RULE, 0.95).unwrap();
    // Of those with bytes the longest.
    let found = of_store(None);
    let time = |name: &str| {
        let model = found.models.iter().find(|model| model.name == name).unwrap();
        model.modelled.as_time().unwrap().0
    };
    // 300 + 700 + 512 + 500.
    near(time("one_way"), 2012.0);
    near(time("G"), 0.5);
    // RTT(1024) ± 1.4 less half of RTT(0) ± 1.4.
    near(half_width(&found.models[1].modelled), 1.4_f64.hypot(0.7));
    assert!(
        found.description.contains("1 KiB") && found.models[1].title() == "a store's way (1 KiB)"
    );
    // Without bytes a transfer is a message.
    let found = of_store(Some("0 B"));
    assert_eq!(found.models[0].title(), "half a round trip");
    assert!(of_store(Some("64b")).description.contains("64 B"));
    // g of transfers that the network bounds holds their bytes: after changes nothing is said of it.
    let bound = Logp { regime: Regime::NetworkBound, ..store(64) };
    let models = divided(bound).models;
    assert!(
        models.iter().any(|model| model.name == "message" && model.formula == "g" && !model.main)
    );
    // Nothing tells the bytes from L where nothing was measured without.
    let alone = divided(store(64));
    assert_eq!(alone.models[0].formula, "os + L + or");
    near(alone.models[0].modelled.as_time().unwrap().0, 1532.0);
}

#[test]
fn the_signature_of_small_messages_comes_first_and_others_are_named() {
    let mut shm = signature("shm", [20.0, 40.0, 80.0, 200.0], Regime::NetworkBound);
    shm.other_states = vec![OtherState {
        state: State { label: "cache line 246 ns".into(), ..shm.state.clone() },
        parameters: Parameters {
            send_overhead: Some(time(25.0, 0.1, "slope", true)),
            ..shm.parameters.clone()
        },
        regime: Regime::NetworkBound,
        lost_launches: Vec::new(),
    }];
    let all = [store(64), shm, paragon()];
    let os = |wanted: Option<&str>| of(&all, wanted).unwrap().stack.times()[0];
    near(os(None), 20.0);
    near(os(Some("Paragon")), 1400.0);
    near(os(Some("246ns")), 25.0);
    near(os(Some("bulk")), 300.0);
    let note = &of(&all, None).unwrap().notes[0];
    assert_eq!(
        note,
        "The parameters: signature over shm, N. The run has others, which --signature chooses: signature over \
         sim:paragon, N; bulk_store_signature over sim:mine, 64 B, N; signature over shm, cache line 246 ns."
    );
    let unlike = of(&all, Some("tcp")).unwrap_err().to_string();
    assert!(
        unlike.contains("is called 'tcp'; it has signature over shm, N; signature"),
        "{unlike}"
    );
    assert!(matches!(of(&[], None), Err(AssembleError::NoSignature)));
}

#[test]
fn what_is_missing_is_not_modelled() {
    let mut logp = paragon();
    logp.parameters.recv_overhead = None;
    let table = table(logp.clone());
    assert!(
        table
            .notes
            .contains(&"Not modelled: half a round trip, since or was not found.".to_owned())
    );
    let formulas: Vec<&str> = table.stack.models().map(|model| model.formula.as_str()).collect();
    assert_eq!(formulas, ["g"]);
    logp.parameters.gap = Some(time(-5.0, 20.0, "slope", false));
    let why = of(&[logp], None).unwrap_err().to_string();
    assert!(
        why.starts_with("signature over sim:paragon, N gives no model. Not modelled: half a round trip, since or")
            && why.contains("since g is -5.00 ns (-25.0 to 15.0 ns)"),
        "{why}"
    );
}

#[test]
fn each_component_has_a_curve() {
    let drawn = |table: ComponentTable| table.curves;
    let of = |model: &str, of: &[&str], title: &str| CurvesDeclared {
        title: title.into(),
        model: model.into(),
        of: of.iter().map(|name| (*name).to_owned()).collect(),
    };
    assert_eq!(drawn(table(paragon())), [of("one_way", &["os", "L", "or"], "half a round trip")]);
}

#[test]
fn what_is_no_component_is_told_with_the_reason() {
    let why = |table: &ComponentTable, name: &str| table.stack.meant(name).unwrap_err().why;
    // os + or = 120, and half a round trip takes 100.
    let negative = table(signature("shm", [40.0, 80.0, 100.0, 200.0], Regime::Overlapped));
    let said = why(&negative, "L");
    assert!(
        said.starts_with("'L' is no component here: in this signature L is -20.0 ns")
            && said.contains(", not above 0")
            && negative.stack.model("one_way").is_some(),
        "{said}"
    );
    let alone = why(&table(store(64)), "bytes");
    assert!(
        alone.ends_with("they cannot be told from L, which was not found without bytes"),
        "{alone}"
    );
    let messages = why(&table(paragon()), "bytes");
    assert!(
        messages.ends_with("messages have no bytes of their own in this signature"),
        "{messages}"
    );
    assert!(of(&[store(0), store(64)], None).unwrap().stack.meant("bytes").is_ok());
}

#[test]
fn overheads_are_said_to_hold_waiting_on_a_machine_that_waits() {
    let said = |transport: &str| {
        let table = table(signature(transport, [20.0, 40.0, 80.0, 200.0], Regime::NetworkBound));
        table.notes.into_iter().find(|note| note.contains("waiting for lines of memory"))
    };
    let note = said("shm").unwrap();
    assert!(note.contains("operating system is in them"), "{note}");
    assert!(note.contains("bandgap breakdown --transport shm"), "{note}");
    assert_eq!(said("sim:paragon"), None);
    // Of a table nothing can be measured.
    assert!(!said(crate::assemble::TABLE).unwrap().contains("--transport"));
}
