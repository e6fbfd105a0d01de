//! Echo under loads: known answers in virtual time, and real ranks.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::program::subject::{Place, measuring, near, of_kind, value, with_time_enough};

/// The iPSC/860's times in ns: of a message without bytes, and for each byte.
fn costs(bytes: f64) -> [f64; 2] {
    if bytes <= 100.0 { [79_000.0, 630.0] } else { [156_000.0, 410.0] }
}

type Times = BTreeMap<(u64, String), f64>;

/// The series, where anything of it was measured.
fn contention_if_any(place: &Place, args: &[&str]) -> Option<Value> {
    let fixed = ["comet", "contention", "--no-save", "--json", "-", "-q"];
    let run = place.run(fixed.iter().chain(args)).measured().json();
    match of_kind(&run, "series")[..] {
        [] => None,
        [series] => Some(series.clone()),
        _ => panic!("one series"),
    }
}

fn contention(place: &Place, args: &[&str]) -> Value {
    contention_if_any(place, args).expect("one series")
}

/// Its times in ns by size and load, of the echo from this rank to that.
fn times(series: &Value, pair: [u64; 2]) -> Times {
    let points = series["points"].as_array().unwrap().iter();
    let of_pair = points.filter(|point| point["pair"] == serde_json::json!(pair));
    let place = |point: &Value| {
        (point["bytes"].as_u64().unwrap(), point["variant"].as_str().unwrap().to_owned())
    };
    of_pair.map(|point| (place(point), 1e9 * value(&point["time"]))).collect()
}

#[test]
fn on_the_ipsc860_the_load_slows_the_echo_whose_channel_it_takes_and_no_other() {
    let series = contention(&Place::new(), &["--transport", "sim:ipsc860"]);
    let (shared, apart) = (times(&series, [1, 3]), times(&series, [1, 5]));
    assert!(!shared.is_empty() && shared.len() == apart.len());
    // Two echo, and two load.
    assert_eq!(series["ranks"], 4);
    assert!(series["points"].as_array().unwrap().iter().all(|point| point["ranks"] == 4));
    // The load's length n reaches its share s of echo's bandwidth r at 1 MiB: n/(t0 + n·G) = s·r.
    let [start, byte] = costs(1048576.0);
    let peak = 1048576.0 / (start + byte * 1048576.0);
    for (load, share) in [("50 % load", 0.5), ("90 % load", 0.9)] {
        let bytes = (share * peak * start / (1.0 - share * peak * byte)).ceil();
        let named = format!("{load} (messages of {bytes} B)");
        let findings = series["findings"].to_string();
        assert!(findings.contains(&named), "{findings}");
        let held = 410.0 * bytes;
        for ((size, _), &time) in shared.iter().filter(|((_, name), _)| name == load) {
            let n = *size as f64;
            let [start, byte] = costs(n);
            let idle = start + n * byte;
            // One way and back again takes what is left until the channel is asked for again, and the
            // load's messages follow each other without a gap. So the channel carries k of them
            // between two messages of the echo, which holds it itself for n·G (g at least).
            let own = (n * byte).max(27_000.0);
            let away = 2.0 * idle - own;
            let trip = own + held * (away / held).ceil();
            // The first trip begins anywhere in a message of the load.
            let trips = (65_536.0 / n.max(1.0)).clamp(1.0, 16.0).floor();
            let slack = (held + own) / trips / 2.0;
            assert!(time >= idle - 1e-3, "{load} {size}: {time} {idle}");
            assert!(
                (time - trip / 2.0).abs() <= slack,
                "{load} {size}: {time} {} {slack}",
                trip / 2.0
            );
        }
    }
    for ((size, load), &time) in &apart {
        let [start, byte] = costs(*size as f64);
        near(load, time, start + *size as f64 * byte, 1e-9);
        near("idle", shared[&(*size, "idle".to_owned())], start + *size as f64 * byte, 1e-9);
    }
    let findings = series["findings"].as_array().unwrap();
    let said = |what: &str| findings.iter().any(|text| text.as_str().unwrap().contains(what));
    assert!(said("load from rank 0 to rank 7: their messages share a channel of the network"));
    assert!(said("their messages share no channel"));
    assert!(said("the echo between 1 and 5 takes the same time at"), "{findings:?}");
}

#[test]
fn where_no_two_pairs_share_a_channel_loads_change_nothing() {
    let place = Place::new();
    let machine = place.file(
        "crossbar.toml",
        "name = 'crossbar'\nsend_overhead_ns = 20\nrecv_overhead_ns = 30\ngap_ns = 10\n\
         latency_ns = 400\ngap_per_byte_ns = 1\n",
    );
    for transport in ["sim:ipsc860", &format!("sim:{machine}")] {
        let args = ["--transport", transport, "--ranks", "4", "--sizes", "0:4KiB"];
        let series = contention(&place, &args);
        let points = series["points"].as_array().unwrap();
        let mut times: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for point in points {
            times.entry(point["bytes"].as_u64().unwrap()).or_default().push(value(&point["time"]));
        }
        assert!(times.values().all(|all| all.len() == 3 && all.iter().all(|time| *time == all[0])));
        assert!(series["findings"].to_string().contains("share no channel of the network"));
    }
}

#[test]
fn four_real_ranks_bring_all_loads_and_say_what_contends() {
    let _measuring = measuring();
    // On a busy machine a load may not outlast the echo in any batch of a short run.
    let loads_of = |series: &Value| -> std::collections::BTreeSet<String> {
        let points = series["points"].as_array().unwrap().iter();
        points.map(|point| point["variant"].as_str().unwrap().to_owned()).collect()
    };
    let series = with_time_enough(|budget| {
        let args = ["--time-budget", budget, "--sizes", "0:1KiB", "--wait", "yield"];
        let loaded = contention_if_any(&Place::new(), &args);
        loaded.filter(|series| {
            let loads = loads_of(series);
            loads.contains("idle") && loads.len() == 3
        })
    });
    let findings = series["findings"].to_string();
    assert!(findings.contains("what contends is the memory system"), "{findings}");
    assert!(findings.contains("Under the 90 % load (messages of"), "{findings}");
    assert!(series["checked"]["compared"].as_u64().unwrap() > 0);
}

#[test]
fn too_few_ranks_are_refused_and_left_out_where_all_kernels_are_asked_for() {
    let place = Place::new();
    let run = place.run(["comet", "contention", "--ranks", "3"]).ends(2);
    assert!(
        run.stderr.contains("measure contention: it takes 4 ranks or more, not 3"),
        "{}",
        run.stderr
    );
    let all = ["comet", "--transport", "sim:ipsc860", "--ranks", "2", "--sizes", "0:64"];
    let run = place.run(all.iter().chain(&["--dimension", "16", "--no-save"])).measured();
    assert!(
        run.stderr.contains("contention is left out")
            || run.stdout.contains("contention is left out")
    );
}
