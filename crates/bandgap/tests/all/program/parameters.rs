//! `bandgap whatif` and `bandgap breakdown` of a run with LogP parameters: what is predicted of a changed machine
//! is what the changed machine shows.

use serde_json::Value;

use crate::program::subject::{Workdir, near, of_kind, value};

/// os, or, g and L in nanoseconds.
type Machine = [f64; 4];

const MACHINE: Machine = [1400.0, 2200.0, 7600.0, 6300.0];

/// Measures this machine, and keeps the run under this name.
fn measured(place: &Workdir, name: &str, [os, or, g, latency]: Machine) -> Value {
    let file = place.file(
        &format!("{name}.toml"),
        format!(
            "name = \"{name}\"\ndescription = \"made up\"\nsend_overhead_ns = {os}\nrecv_overhead_ns = {or}\n\
             gap_ns = {g}\nlatency_ns = {latency}\ntopology = \"crossbar\"\n"
        ),
    );
    let transport = format!("sim:{file}");
    let args = ["signature", "-t", &transport, "--out", name, "--json", "-"];
    let run = place.run(args).ends(0).json();
    of_kind(&run, "logp")[0]["parameters"].clone()
}

/// Models after changes, by name.
fn after(place: &Workdir, changes: &[&str]) -> impl Fn(&str) -> f64 + use<> {
    let run = place.json(&format!("whatif --from before {}", changes.join(" ")));
    let models = of_kind(&run, "whatif")[0]["models"].clone();
    move |name| {
        let model = models.as_array().unwrap().iter().find(|model| model["name"] == name);
        value(&model.unwrap_or_else(|| panic!("no {name} in {models}"))["after"])
    }
}

#[test]
fn a_changed_machine_shows_what_was_predicted() {
    let place = Workdir::new();
    measured(&place, "before", MACHINE);
    let [os, or, g, latency] = MACHINE;
    for (name, changes, machine) in [
        ("latency", &["--reduce", "L=50%"][..], [os, or, g, latency / 2.0]),
        ("overheads", &["--set", "os=700ns", "--reduce", "or=25%"], [700.0, 1650.0, g, latency]),
        ("gap", &["--set", "g=5us"], [os, or, 5000.0, latency]),
        // Then the processor limits the rate, whether overheads grow or the gap becomes shorter.
        ("slow", &["--set", "os=6us"], [6000.0, or, g, latency]),
        ("network", &["--set", "g=2us"], [os, or, 2000.0, latency]),
    ] {
        let predicted = after(&place, changes);
        let shown = measured(&place, name, machine);
        near(name, predicted("one_way"), value(&shown["rtt"]) / 2.0, 1e-9);
        near(name, predicted("message"), value(&shown["gap"]), 1e-9);
    }
}

#[test]
fn a_signature_is_divided_and_kept() {
    let place = Workdir::new();
    measured(&place, "before", MACHINE);
    place.run(["breakdown", "--from", "before", "-q", "--out", "kept"]).ends(0);
    // What was kept says the same, and from its table too.
    for from in ["before/run.json", "kept"] {
        let run = place.json(&format!("whatif --from {from} --set L=0ns"));
        let way = &of_kind(&run, "whatif")[0]["models"][0];
        near(from, value(&way["after"]), 3600e-9, 1e-9);
    }
}

#[test]
fn a_signature_is_chosen_by_the_beginning_of_its_id() {
    let place = Workdir::new();
    place.run(["bulk", "-t", "sim:ipsc860", "-q", "--out", "bulk"]).ends(0);
    // T(n) = 2·(os + L + or) + n·G less the way without bytes: 0.63 µs a byte up to 100, 0.41 µs above, where os
    // is 104 µs.
    for (bytes, os, per_byte) in [(64.0, 27e-6, 630e-9), (1024.0, 104e-6, 410e-9)] {
        let id = format!("logp/sim:ipsc860/name=bulk_store_signature/bytes={bytes}");
        let run = place.json(&format!("breakdown --from bulk --id {id}"));
        let models = of_kind(&run, "breakdown")[0]["models"].as_array().unwrap();
        let way = models.iter().find(|model| model["name"] == "one_way").unwrap();
        let expected = os + 25e-6 + 27e-6 + bytes * per_byte;
        near(&id, value(&way["modelled"]), expected, 1e-9);
    }
}

#[test]
fn runs_without_parameters_and_wrong_choices_are_refused() {
    let place = Workdir::new();
    measured(&place, "before", MACHINE);
    place.run(["comms1", "-t", "sim:ipsc860", "-q", "--out", "series"]).ends(0);
    std::fs::create_dir(place.path("empty")).unwrap();
    for command in ["whatif", "breakdown"] {
        place.run([command, "--from", "series"]).ends(3);
        place.run([command, "--from", "empty"]).ends(3);
        for from in ["before", "thunderx2-connectx4"] {
            place.run([command, "--from", from, "--id", "logp/tcp"]).ends(2);
        }
    }
    // A run that ended too soon, and a signature without os, or and g.
    place.change("series", |run| {
        (run["interrupted"], run["results"]) = (Value::Bool(true), Value::Array(Vec::new()));
    });
    place.run(["whatif", "--from", "series"]).ends(3);
    place.change("before", |run| {
        for name in ["send_overhead", "gap"] {
            run["results"][0]["parameters"][name] = Value::Null;
        }
    });
    place.run(["whatif", "--from", "before"]).ends(3);
}
