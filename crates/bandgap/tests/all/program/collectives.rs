//! Measured collectives and what the model says of them.

use serde_json::Value;

use crate::program::subject::{Place, measuring, near, of_kind, value, with_time_enough};

/// os 200, or 300, L 1000, G 1.5; the gap is the longest of what holds up a sender of short messages.
const MACHINE: &str = "name = 'm'\nsend_overhead_ns = 200\nrecv_overhead_ns = 300\ngap_ns = 700\n\
                       latency_ns = 1000\ngap_per_byte_ns = 1.5\n";

fn run(place: &Place, transport: &str, args: &[&str]) -> Value {
    let fixed = ["comet", "--transport", transport, "--no-save", "--json", "-", "-q"];
    place.run(fixed.iter().chain(args)).measured().json()
}

fn points(run: &Value, name: &str) -> Vec<Value> {
    let series = of_kind(run, "series");
    let series = series.iter().find(|series| series["name"] == name);
    series.map_or(Vec::new(), |series| series["points"].as_array().unwrap().clone())
}

#[test]
fn in_virtual_time_the_loggp_cost_is_the_measured_time() {
    let place = Place::new();
    let transport = format!("sim:{}", place.file("m.toml", MACHINE));
    let names = ["broadcast", "global_sum", "barrier", "echo"];
    let more = ["-n", "2,3,4,5,8", "--algorithm", "all", "--sizes", "0:64KiB"];
    let run = run(&place, &transport, &[&names[..], &more].concat());
    let mut exact = 0;
    for name in &names[..3] {
        for point in points(&run, name) {
            let [ranks, bytes] = ["ranks", "bytes"].map(|name| point[name].as_u64().unwrap());
            let variant = point["variant"].as_str().unwrap();
            // Of a length at which gaps were measured; blocks are equally long. Segments of a chain may be
            // of any length, so that the line between two measured gaps may miss a bend.
            let blocks = ranks.is_power_of_two() && bytes.is_power_of_two() && bytes >= 8 * ranks;
            let is_exact = match (*name, variant) {
                // Rank 0, which times, ends a tree before the others.
                ("global_sum" | "barrier", "tree") => false,
                ("broadcast", "linear" | "binomial") => bytes == 0 || bytes.is_power_of_two(),
                ("broadcast", "chain") => ranks == 2,
                ("barrier", "dissemination") => true,
                ("global_sum", "ring") => blocks,
                _ => blocks || bytes == 0 && ranks.is_power_of_two(),
            };
            if is_exact {
                let context = format!("{name} {variant} of {bytes} on {ranks}");
                near(&context, value(&point["modelled_loggp"]), value(&point["time"]), 1e-9);
                exact += 1;
            }
        }
    }
    assert!(exact > 300, "{exact}");
    // A sender of short messages sends one per gap, and Hockney's terms have a whole message each.
    let linear = points(&run, "broadcast")
        .into_iter()
        .find(|point| point["variant"] == "linear" && point["ranks"] == 5 && point["bytes"] == 0);
    let linear = linear.unwrap();
    near("LogGP", value(&linear["modelled_loggp"]), (3.0 * 700.0 + 1500.0) * 1e-9, 1e-9);
    near("Hockney", value(&linear["modelled_hockney"]), 4.0 * 1500e-9, 1e-6);
    // What was measured of single messages: os, or, and max(os, or, g, n·G).
    let costs = points(&run, "message_costs");
    for point in &costs {
        let expected = match point["variant"].as_str().unwrap() {
            "send" => 200.0,
            "receive" => 300.0,
            _ => f64::max(700.0, 1.5 * point["bytes"].as_f64().unwrap()),
        };
        near("cost", value(&point["time"]), expected * 1e-9, 1e-9);
    }
    assert_eq!(costs.len(), 3 * 18);
}

#[test]
fn overheads_are_measured_where_a_collective_stands_beside_messages_and_not_otherwise() {
    let place = Place::new();
    let brief = |names: &[&str]| {
        run(&place, "sim:ipsc860", &[names, &["-n", "4", "--sizes", "0:64"]].concat())
    };
    let collective = brief(&["broadcast"]);
    assert!(points(&collective, "message_costs").is_empty());
    let point = &points(&collective, "broadcast")[0];
    assert!(point.get("modelled_loggp").is_none() && point.get("modelled_hockney").is_none());
    assert!(points(&brief(&["echo", "exchange"]), "message_costs").is_empty());
    assert!(!points(&brief(&["comms1", "barrier"]), "message_costs").is_empty());
}

#[test]
fn real_ranks_have_both_terms_beside_a_collective() {
    let _measuring = measuring();
    let place = Place::new();
    let broadcast = with_time_enough(|budget| {
        let names = ["broadcast", "echo", "--sizes", "0:64KiB", "--time-budget", budget];
        let run = run(&place, "shm", &names);
        // The line of a few noisy times may begin below 0.
        let has = |point: &&Value, terms: &str| {
            let cost = &point[terms];
            cost.is_object() && value(cost) > 0.0
        };
        let both = |point: &&Value| has(point, "modelled_hockney") && has(point, "modelled_loggp");
        let broadcast = points(&run, "broadcast");
        let is_enough = !broadcast.is_empty() && broadcast.iter().all(|point| both(&point));
        is_enough.then_some(broadcast)
    });
    assert!(broadcast.iter().all(|point| point["time"]["value"].as_f64().unwrap() > 0.0));
}
