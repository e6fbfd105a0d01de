use bandgap_model::breakdown::Change;
use bandgap_record::{Evidence, Quantity, Unit};

use super::*;
use crate::breakdown::Breakdown;
use crate::breakdown::assemble::breakdown;
use crate::breakdown::tests::RULE;
use crate::logp::schema::Operation;
use crate::logp::tests::{example, time};
use crate::whatif::assemble::whatif;

/// A signature: os, or, g, RTT.
fn signature(transport: &str, [os, or, g, rtt]: [f64; 4], regime: Regime) -> Logp {
    Logp { regime, ..example(transport, os, or, g, rtt, &[0.0, 2.0 * rtt]) }
}

fn paragon() -> Logp {
    signature("sim:paragon", [1400.0, 2200.0, 7600.0, 19_800.0], Regime::NetworkBound)
}

fn of(all: &[Logp], wanted: Option<&str>) -> Result<ComponentTable, AssembleError> {
    let all: Vec<Outcome> = all.iter().cloned().map(Outcome::from).collect();
    components(&all, wanted, Some(0.95))
}

fn divided(logp: Logp) -> Breakdown {
    breakdown(&of(&[logp], None).unwrap(), RULE, 0.95).unwrap()
}

/// A model's time after changes, of main models.
fn after(logp: Logp, model: &str, changes: &[(&str, f64)]) -> Option<f64> {
    let set = |(what, value): &(&str, f64)| Change::Set { what: (*what).into(), value: *value };
    let changes: Vec<Change> = changes.iter().map(set).collect();
    let found = whatif(&of(&[logp], None).unwrap(), &changes, None, RULE, 0.95).unwrap();
    let model = found.models.into_iter().find(|of| of.name == model)?;
    Some(model.after.as_time().unwrap().0)
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
    assert_eq!(way.name, "one_way");
    near(way.modelled.as_time().unwrap().0, 9900.0);
    // Half of RTT ± 1.4. With independent errors of os, or and L it would be ± 2.8 at least.
    near(half_width(&way.modelled), 0.7);
    // What follows from RTT is not compared with it.
    assert!(found.models.iter().all(|model| model.observed.is_none()));
    let sides: Vec<(&str, f64)> =
        way.by("side").iter().map(|part| (&*part.name, (part.share.0 * 9900.0).round())).collect();
    assert_eq!(sides, [("initiator", 1400.0), ("target", 2200.0), ("network", 6300.0)]);
}

#[test]
fn spreads_are_of_the_level_that_the_intervals_have() {
    let all = [Outcome::from(paragon())];
    for (level, of) in [(Some(0.5), 0.5), (Some(0.99), 0.99), (None, 0.95)] {
        let table = components(&all, None, level).unwrap();
        near(table.stack.components[0].errors["os"], 0.05 / normal_factor(of));
    }
    let bare = Quantity::new(1.4e-6, None, Unit::Second, Evidence::new("mean", 1, false)).unwrap();
    let mut logp = paragon();
    logp.parameters.send_overhead = Some(bare);
    assert!(of(&[logp], None).unwrap().stack.components[0].errors.is_empty());
}

#[test]
fn the_rate_is_what_bounds_it() {
    // Bound by the network: g, until os + or is longer.
    for (change, ns) in [(("os", 100.0), 7600.0), (("os", 6000.0), 8200.0), (("g", 1000.0), 3600.0)]
    {
        near(after(paragon(), "message", &[change]).unwrap(), ns);
    }
    // By the processor: both overheads of the requester, compared with the g that was measured.
    let bound = || signature("sim:mine", [300.0, 500.0, 800.0, 2000.0], Regime::ProcessorBound);
    near(after(bound(), "message", &[("or", 100.0)]).unwrap(), 400.0);
    let found = divided(bound());
    let model = found.models.iter().find(|model| model.name == "message").unwrap();
    near(model.observed.as_ref().unwrap().as_time().unwrap().0, 800.0);
    assert_eq!(model.by("side").len(), 1);
    // Beside the way of a message nothing is claimed of a rate that nobody understands.
    let overlapped = || signature("shm", [20.0, 40.0, 50.0, 200.0], Regime::Overlapped);
    assert_eq!(after(overlapped(), "message", &[("os", 10.0)]), None);
    assert!(divided(overlapped()).models.iter().any(|of| of.name == "message" && !of.main));
    let undecided = signature("shm", [20.0, 40.0, 60.0, 200.0], Regime::Undecided);
    assert!(divided(undecided).models.iter().all(|model| model.name != "message"));
}

#[test]
fn where_the_overheads_are_longer_than_the_way_they_are_all_of_it() {
    // os + or = 120, and half a round trip takes 100.
    let found = divided(signature("shm", [40.0, 80.0, 100.0, 200.0], Regime::Overlapped));
    let way = &found.models[0];
    near(way.modelled.as_time().unwrap().0, 120.0);
    near(way.observed.as_ref().unwrap().as_time().unwrap().0, 100.0);
    near(way.error.as_ref().unwrap().value.0, 0.2);
    assert!(found.components.iter().all(|one| one.name != "L"));
}

/// Stores of so many bytes at G = 0.5 ns a byte, on a machine with os = 300, L = 700 and or = 500.
fn store(bytes: u64) -> Logp {
    let moved = 0.5 * bytes as f64;
    let logp = signature("sim:mine", [300.0, 500.0, 800.0, 3000.0 + moved], Regime::ProcessorBound);
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
fn the_signature_of_small_messages_comes_first_and_else_the_longest_transfer() {
    let shm = signature("shm", [20.0, 40.0, 80.0, 200.0], Regime::NetworkBound);
    let all = [store(64), shm, paragon(), store(1024)];
    let first = |all: &[Logp], wanted| {
        let stack = of(all, wanted).unwrap().stack;
        (stack.components[0].ns, stack.value(&stack.models[0], &stack.state()).ns)
    };
    near(first(&all, None).0, 20.0);
    near(first(&all, Some("Paragon")).0, 1400.0);
    // 300 + 700 + 512 + 500.
    near(first(&all, Some("bulk")).1, 2012.0);
    near(first(&all, Some("64b")).1, 1532.0);
    let unlike = of(&all, Some("tcp"));
    assert!(matches!(unlike, Err(AssembleError::NoSuchSignature { .. })));
    assert!(matches!(of(&[], None), Err(AssembleError::NoSignature)));
}

#[test]
fn what_is_missing_is_not_modelled() {
    let mut logp = paragon();
    logp.parameters.recv_overhead = None;
    let stack = of(&[logp.clone()], None).unwrap().stack;
    let names: Vec<&str> = stack.models.iter().map(|model| &*model.name).collect();
    assert_eq!(names, ["message"]);
    logp.parameters.gap = Some(time(-5.0, 20.0, "slope", false));
    assert!(matches!(of(&[logp], None), Err(AssembleError::NoComponents(_))));
}
