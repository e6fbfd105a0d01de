use std::borrow::Cow::{self, Borrowed};

use bandgap_comm::Yields::{HalfRoundTrip, Operation};
use bandgap_kernels::{Kernel, Order, PingPong};

use super::*;
use crate::tests::scripted::{Scripted, taking};

const LINE: &[Cow<'static, str>] = &[Borrowed("cache_line")];
const AM: &[Cow<'static, str>] = &[Borrowed("active_message")];
const COPIES: &[Cow<'static, str>] = &[Borrowed("copy_vm_readv")];

/// Some floors, and layers over them, each on something of its own name.
fn floor(name: &'static str) -> Floor {
    let floor = match name {
        "active_message" => Floor::new(name, "", HalfRoundTrip, 500).layer(LINE, PingPong::NAME),
        "message" => Floor::new(name, "", HalfRoundTrip, 500).layer(AM, PingPong::NAME),
        "message_64kib" => Floor::new(name, "", Operation, 1).layer(COPIES, PingPong::NAME),
        "cache_line" => Floor::new(name, "", HalfRoundTrip, 500),
        _ => Floor::new(name, "", Operation, 1),
    };
    Floor { on: name.into(), ..floor }
}

fn plan(floors: &[&'static str]) -> FloorPlan {
    let asked = Asked { stamp: 50.0, ..Asked::usual(1e9) };
    FloorPlan { asked, floors: floors.iter().map(|name| floor(name)).collect(), pause: 0.0 }
}

/// All take the same time but one, which jumps up and down.
fn jumping(unsteady: &'static str) -> Scripted {
    let mut batches = 0;
    Scripted::new(move |order| {
        let jumps = order.parameters["floor"] == unsteady || order.on.as_deref() == Some(unsteady);
        batches += usize::from(order.probed && jumps);
        let jump = [0.5, 1.5][batches % 2];
        Ok(taking(order, if jumps { 1000.0 * jump } else { 1000.0 }))
    })
}

fn batches(runner: &Scripted, name: &str) -> usize {
    runner.kept.batches(&key(name)).len()
}

#[test]
fn floors_end_when_each_has_the_precision_after_eight_rounds_at_least() {
    let mut runner = Scripted::steady(1000.0);
    plan(&["cache_line", "clock_read"]).lead(&mut runner).unwrap();
    assert_eq!(["cache_line", "clock_read"].map(|name| batches(&runner, name)), [8, 8]);
    // Half of 500 round trips.
    assert_eq!(runner.kept.batches(&key("cache_line"))[0].samples, [1.0; 20]);
    // Nothing is received that could be checked.
    assert_eq!(runner.checked().count(), 0);
}

#[test]
fn a_layer_and_its_floors_stay_open_together() {
    let mut runner = jumping("active_message");
    plan(&["cache_line", "active_message", "message", "clock_read", "slot_ring"])
        .lead(&mut runner)
        .unwrap();
    // What jumps never converges: 60 rounds are the end.
    for name in ["cache_line", "active_message", "message"] {
        assert_eq!(batches(&runner, name), 60, "{name}");
    }
    for name in ["clock_read", "slot_ring"] {
        assert_eq!(batches(&runner, name), 8, "{name}");
    }
    // Each round has one batch of the layer and one of its floor.
    let rounds = |name| -> Vec<u32> {
        runner.kept.batches(&key(name)).iter().map(|batch| batch.round).collect()
    };
    assert_eq!(rounds("message"), (0..60).collect::<Vec<u32>>());
    assert_eq!(rounds("cache_line"), rounds("message"));
    // Layers are checked.
    let checked: Vec<&str> = runner.checked().filter_map(|order| order.on.as_deref()).collect();
    assert_eq!(checked, ["active_message", "message"]);
}

#[test]
fn a_floor_that_jumps_keeps_its_layers_open() {
    let mut runner = jumping("copy_vm_readv");
    plan(&["copy_vm_readv", "message_64kib"]).lead(&mut runner).unwrap();
    for name in ["copy_vm_readv", "message_64kib"] {
        assert_eq!(batches(&runner, name), 60, "{name}");
    }
}

#[test]
fn a_floor_over_sizes_has_a_point_each_and_counts_what_is_lost() {
    let floor = Floor::new("lossy", "", HalfRoundTrip, 1).samples(10).over_sizes(&[8, 1000]);
    // Of ten long ones two are lost.
    let mut runner = Scripted::new(|order| {
        let arrived = if order.parameters["bytes"] == 1000 { 8 } else { order.samples };
        Ok(taking(&Order { samples: arrived, ..order.clone() }, 1000.0))
    });
    FloorPlan { floors: vec![floor], ..plan(&[]) }.lead(&mut runner).unwrap();
    for (bytes, arrived) in [(8, 10), (1000, 8)] {
        let key = sized_key("lossy", bytes);
        // Half of one round trip.
        assert_eq!(runner.kept.batches(&key)[0].samples, vec![500.0; arrived]);
        assert_eq!(runner.kept.batches(&lost_key(&key))[0].samples, [10.0 - arrived as f64]);
    }
}

#[test]
fn a_machine_is_watched_for_the_whole_time() {
    let mut runner = Scripted::steady(1000.0);
    runner.cost = 0.05;
    let mut plan = plan(&["cache_line"]);
    (plan.asked.precision, plan.asked.budget, plan.pause) = (0.0, 2.0, 0.1);
    plan.lead(&mut runner).unwrap();
    // 0.05 s for each batch, of which two are of the warm-up, until more than 2 s are over.
    assert_eq!(batches(&runner, "cache_line"), 39);
}
