use bandgap_model::breakdown::{Becomes, Change};
use bandgap_record::{Unit, component_preset};

use super::*;
use crate::breakdown::tests::{RULE, STACK, given, table};
use crate::whatif::whatif;

fn time(ns: f64, half: f64) -> Quantity {
    let [value, low, high] = [ns, ns - half, ns + half].map(|ns| Ns(ns).as_secs());
    let evidence = ("slope", 24, true);
    Quantity::new(value, Some((low, high)), Unit::Second, evidence).unwrap()
}

/// A signature: os, or, g, RTT; the latter ± 1.4 ns, the others ± 0.05 and more.
fn signature([os, or, g, rtt]: [f64; 4], regime: Regime) -> Logp {
    let mut logp = Logp::new("signature", "sim:mine", None);
    logp.parameters = Parameters {
        send_overhead: Some(time(os, 0.05)),
        recv_overhead: Some(time(or, 0.8)),
        gap: Some(time(g, 0.3)),
        latency: Some(time(rtt / 2.0 - os - or, 1.8)),
        sent_latency: None,
        overheads: None,
        rtt: Some(time(rtt, 1.4)),
        idle: None,
        capacity: None,
    };
    logp.regime = regime;
    logp
}

fn paragon() -> Logp {
    signature([1400.0, 2200.0, 7600.0, 19_800.0], Regime::NetworkBound)
}

fn of(logp: Logp) -> Result<ComponentTable, AssembleError> {
    components(&logp.into(), 0.95).unwrap()
}

fn divided(logp: Logp) -> Breakdown {
    given(&of(logp).unwrap())
}

/// A model's time after a change, of main models.
fn after(logp: Logp, model: &str, (what, value): (&str, f64)) -> Option<f64> {
    let change = Change { what: what.into(), becomes: Becomes::Value(value) };
    let made = whatif(&of(logp).unwrap(), &[change], None, RULE, 0.95).unwrap();
    let Outcome::WhatIf(found) = &made.results[0] else { panic!("{made:?}") };
    let model = found.models.iter().find(|of| of.name == model)?;
    Some(model.after.as_time().unwrap().0)
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
}

/// The way of a get is that of its bytes: os + L and or, whatever the request's own os is.
#[test]
fn the_way_of_a_get_is_without_the_requests_overhead() {
    let mut get = paragon();
    (get.name, get.bytes) = ("bulk_get_signature".to_owned(), Some(64));
    get.parameters.sent_latency = Some(time(9000.0, 1.0));
    near(divided(get).models[0].modelled.as_time().unwrap().0, 11_200.0);
}

#[test]
fn what_is_recorded_can_be_changed() {
    let preset = component_preset("thunderx2-connectx4").unwrap();
    for table in [preset, table(STACK)] {
        let made = given(&table);
        let json = serde_json::to_string(&Outcome::from(made.clone())).unwrap();
        let read: Outcome = serde_json::from_str(&json).unwrap();
        let again = given(&components(&read, 0.95).unwrap().unwrap());
        for (before, after) in made.models.iter().zip(&again.models) {
            near(after.modelled.value.0, before.modelled.value.0);
            assert_eq!((before.within, &before.rows), (after.within, &after.rows));
        }
    }
    let mut broken = given(&table(STACK));
    broken.models[0].rows[0][0].component = "moon".into();
    assert!(matches!(components(&broken.into(), 0.95), Some(Err(AssembleError::Components(_)))));
}

#[test]
fn half_a_round_trip_is_os_l_and_or_with_the_interval_of_what_was_measured() {
    let found = divided(paragon());
    let way = &found.models[0];
    assert_eq!(way.name, "one_way");
    near(way.modelled.as_time().unwrap().0, 9900.0);
    // Half of RTT ± 1.4. With independent errors of os, or and L it would be ± 2 at least.
    near(way.modelled.half_width().unwrap() * 1e9, 0.7);
    // What follows from RTT is not compared with it.
    assert!(found.models.iter().all(|model| model.observed.is_none()));
    let sides: Vec<(&str, f64)> =
        way.by("side").iter().map(|part| (&*part.name, (part.share.0 * 9900.0).round())).collect();
    assert_eq!(sides, [("initiator", 1400.0), ("target", 2200.0), ("network", 6300.0)]);
}

#[test]
fn spreads_are_of_the_level_that_the_intervals_have() {
    for level in [0.5, 0.95, 0.99] {
        let table = components(&paragon().into(), level).unwrap().unwrap();
        near(table.stack.components[0].errors["os"], 0.05 / normal_factor(level));
    }
    let bare = Quantity::new(1.4e-6, None, Unit::Second, ("mean", 1, false)).unwrap();
    let mut logp = paragon();
    logp.parameters.send_overhead = Some(bare);
    assert!(of(logp).unwrap().stack.components[0].errors.is_empty());
}

#[test]
fn the_rate_is_what_bounds_it() {
    // Bound by the network: g, until os + or is longer.
    for (change, ns) in [(("os", 100.0), 7600.0), (("os", 6000.0), 8200.0), (("g", 1000.0), 3600.0)]
    {
        near(after(paragon(), "message", change).unwrap(), ns);
    }
    // By the processor: both overheads of the requester, compared with the g that was measured.
    let bound = || signature([300.0, 500.0, 800.0, 2000.0], Regime::ProcessorBound);
    near(after(bound(), "message", ("or", 100.0)).unwrap(), 400.0);
    let found = divided(bound());
    let model = found.models.iter().find(|model| model.name == "message").unwrap();
    near(model.observed.as_ref().unwrap().as_time().unwrap().0, 800.0);
    assert_eq!(model.by("side").len(), 1);
    // Beside the way of a message nothing is claimed of a rate that nobody understands.
    let overlapped = || signature([20.0, 40.0, 50.0, 200.0], Regime::Overlapped);
    assert_eq!(after(overlapped(), "message", ("os", 10.0)), None);
    assert!(divided(overlapped()).models.iter().any(|of| of.name == "message" && !of.main));
    let undecided = signature([20.0, 40.0, 60.0, 200.0], Regime::Undecided);
    assert!(divided(undecided).models.iter().all(|model| model.name != "message"));
}

#[test]
fn where_the_overheads_are_longer_than_the_way_they_are_all_of_it() {
    // os + or = 120, and half a round trip takes 100.
    let found = divided(signature([40.0, 80.0, 100.0, 200.0], Regime::Overlapped));
    let way = &found.models[0];
    near(way.modelled.as_time().unwrap().0, 120.0);
    near(way.observed.as_ref().unwrap().as_time().unwrap().0, 100.0);
    near(way.error.as_ref().unwrap().value.0, 0.2);
    assert!(found.components.iter().all(|one| one.name != "L"));
}

#[test]
fn of_transfers_the_way_has_the_error_of_the_whole_round_trip() {
    let mut logp = signature([300.0, 500.0, 800.0, 3000.0], Regime::ProcessorBound);
    (logp.name, logp.bytes) = ("bulk_store_signature".into(), Some(1024));
    logp.parameters.latency = Some(time(1212.0, 1.8));
    let way = &divided(logp).models[0];
    near(way.modelled.as_time().unwrap().0, 2012.0);
    near(way.modelled.half_width().unwrap() * 1e9, 1.4);
}

#[test]
fn what_is_missing_is_not_modelled() {
    let mut logp = paragon();
    logp.parameters.recv_overhead = None;
    let stack = of(logp.clone()).unwrap().stack;
    let names: Vec<&str> = stack.models.iter().map(|model| &*model.name).collect();
    assert_eq!(names, ["message"]);
    logp.parameters.gap = Some(time(-5.0, 20.0));
    assert!(matches!(of(logp), Err(AssembleError::Components(_))));
}
