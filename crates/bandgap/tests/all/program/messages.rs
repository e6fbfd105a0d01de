//! Series and what is made of them: known answers in virtual time.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::program::subject::{Workdir, near, of_kind, value};

fn run(args: &[&str]) -> Value {
    let place = Workdir::new();
    let fixed = ["--no-save", "--json", "-", "--quiet"];
    place.run(args.iter().chain(&fixed)).measured().json()
}

/// The segments of the fit of this weighting.
fn segments<'a>(run: &'a Value, weighting: &str) -> Vec<&'a Value> {
    let fits = of_kind(run, "hockney");
    let fit = fits.iter().find(|fit| fit["weighting"] == weighting).expect("both weightings");
    fit["segments"].as_array().unwrap().iter().collect()
}

#[test]
fn the_ipsc860_has_its_two_segments() {
    let run = run(&["comms1", "--transport", "sim:ipsc860"]);
    for weighting in ["relative", "ordinary"] {
        let found = segments(&run, weighting);
        assert_eq!(found.len(), 2, "{weighting}");
        // t = 79 µs + 0.63 µs·n up to 100 bytes, 156 µs + 0.41 µs·n above (CoMet's iPSC/860).
        for (segment, t0, per_byte) in [(found[0], 79e-6, 0.63e-6), (found[1], 156e-6, 0.41e-6)] {
            near("t0", value(&segment["t0"]), t0, 1e-6);
            near("r∞", value(&segment["r_inf"]), 1.0 / per_byte, 1e-6);
            near("n½", value(&segment["n_half"]), t0 / per_byte, 1e-6);
            near("π0", value(&segment["pi0"]), 1.0 / t0, 1e-6);
        }
        let (last, first) = (&found[0]["to_bytes"], &found[1]["from_bytes"]);
        assert!(last.as_u64().unwrap() >= 64 && first.as_u64().unwrap() <= 128, "{last} {first}");
    }
    let series = of_kind(&run, "series")[0];
    assert_eq!(series["name"], "comms1");
}

#[test]
fn other_patterns_take_the_time_that_the_machine_says() {
    // An exchange of full-duplex ranks takes as long as one message, and half of it is t.
    let exchange = run(&["comms2", "--transport", "sim:ipsc860", "--sizes", "0:64"]);
    let points = of_kind(&exchange, "series")[0]["points"].as_array().unwrap().clone();
    near("t(0)", value(&points[0]["time"]), 79e-6 / 2.0, 1e-6);
    let last = points.last().unwrap();
    near("r(64)", value(&last["bandwidth"]), 2.0 * 64.0 / (79e-6 + 64.0 * 0.63e-6), 1e-6);
    // Eight ranks: three rounds of empty messages, to ranks 1, 2 and 4 further. The slowest chain of
    // messages takes 7 ranks further each barrier, so within eight it leaves each rank once in each
    // round: to 1 further there are 6 hops of 25 µs beyond the first (from 1, 3, 5 and 7: 1, 2, 1
    // and 2), to 2 further 4 (from 2, 3, 6 and 7), and to 4 further none.
    let barrier = run(&["synch1", "--transport", "sim:ipsc860", "--ranks", "8"]);
    let point = &of_kind(&barrier, "series")[0]["points"][0];
    near("a barrier", value(&point["time"]), 3.0 * 79e-6 + 10.0 / 8.0 * 25e-6, 1e-3);
    let rate = 1.0 / (3.0 * 79e-6 + 10.0 / 8.0 * 25e-6);
    near("barriers a second", value(&point["rate"]), rate, 1e-3);
    // Between any two ranks.
    let args = ["comms1", "-t", "sim:ipsc860", "-n", "4", "--between", "3,1", "--sizes", "0:8"];
    let far = run(&args);
    let labels = &of_kind(&far, "series")[0]["labels"];
    assert_eq!((&labels["from"], &labels["to"]), (&3.into(), &1.into()));
    near("t(0)", value(&of_kind(&far, "series")[0]["points"][0]["time"]), 79e-6, 1e-6);
}

#[test]
fn comet_measures_the_named_kernels_in_one_run() {
    let names = |args: &[&str]| {
        let common = ["-t", "sim:ipsc860", "-n", "2,4", "--sizes", "8:64"];
        let run = run(&[&["comet"], args, &common[..]].concat());
        let series = of_kind(&run, "series").into_iter();
        series.map(|one| one["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["synch1", "comms3"]), ["synch1", "comms3"]);
    assert_eq!(names(&["synch1", "comms3", "synch1"]), ["synch1", "comms3"]);
    // Without a name, CoMet's own: between two ranks and among all.
    let all = names(&[]);
    let basic = ["echo", "exchange", "broadcast", "global_sum", "barrier"];
    let matrix = ["update_guard", "shift_north", "shift_east", "transpose"];
    let last = ["row_broadcast", "column_broadcast", "message_costs", "overlap", "contention"];
    assert_eq!(all, [&basic[..], &matrix, &last].concat());
}

/// The iPSC/860's times in ns: of a message without bytes, and for each byte.
fn costs(bytes: f64) -> [f64; 2] {
    if bytes <= 100.0 { [79_000.0, 630.0] } else { [156_000.0, 410.0] }
}

/// By size and load.
type Times = BTreeMap<(u64, u64), f64>;

fn contention(args: &[&str]) -> Value {
    let run = run(&[&["comet", "contention"], args].concat());
    of_kind(&run, "series")[0].clone()
}

/// Its times in ns by size and load, of the echo from this rank to that.
fn times(series: &Value, pair: [u64; 2]) -> Times {
    let points = series["points"].as_array().unwrap().iter();
    let of_pair =
        points.filter(|point| [&point["from"], &point["to"]].map(Value::as_u64) == pair.map(Some));
    let place = |point: &Value| (point["bytes"].as_u64().unwrap(), point["load"].as_u64().unwrap());
    of_pair.map(|point| (place(point), 1e9 * value(&point["time"]))).collect()
}

#[test]
fn on_the_ipsc860_the_load_slows_the_echo_whose_channel_it_takes_and_no_other() {
    let series = contention(&["--transport", "sim:ipsc860"]);
    let (shared, apart) = (times(&series, [1, 3]), times(&series, [1, 5]));
    assert!(!shared.is_empty() && shared.len() == apart.len());
    // The load's length n reaches its share s of echo's bandwidth r at 1 MiB: n/(t0 + n·G) = s·r.
    let [start, byte] = costs(1048576.0);
    let peak = 1048576.0 / (start + byte * 1048576.0);
    for (load, share) in [(50, 0.5), (90, 0.9)] {
        let bytes = (share * peak * start / (1.0 - share * peak * byte)).ceil();
        let held = 410.0 * bytes;
        for ((size, _), &time) in shared.iter().filter(|((_, of), _)| *of == load) {
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
        near(&load.to_string(), time, start + *size as f64 * byte, 1e-9);
        near("idle", shared[&(*size, 0)], start + *size as f64 * byte, 1e-9);
    }
}

#[test]
fn where_no_two_pairs_share_a_channel_loads_change_nothing() {
    let place = Workdir::new();
    let machine = place.file(
        "crossbar.toml",
        "name = 'crossbar'\nsend_overhead_ns = 20\nrecv_overhead_ns = 30\ngap_ns = 10\n\
         latency_ns = 400\ngap_per_byte_ns = 1\n",
    );
    for transport in ["sim:ipsc860", &format!("sim:{machine}")] {
        let args = ["--transport", transport, "--ranks", "4", "--sizes", "0:4KiB"];
        let series = contention(&args);
        let points = series["points"].as_array().unwrap();
        let mut times: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for point in points {
            times.entry(point["bytes"].as_u64().unwrap()).or_default().push(value(&point["time"]));
        }
        assert!(times.values().all(|all| all.len() == 3 && all.iter().all(|time| *time == all[0])));
    }
}

fn overlap(transport: &str, args: &[&str]) -> Vec<Value> {
    let run = run(&[&["comet", "overlap", "--transport", transport], args].concat());
    let [overlap] = of_kind(&run, "series")[..] else { panic!("one overlap") };
    overlap["points"].as_array().unwrap().clone()
}

/// The calls of a non-blocking exchange, of 10 µs each: two before the message leaves, one while it is
/// under way, one when it is there.
const CALL: f64 = 10e-6;

#[test]
fn the_ipsc860_loses_at_length_0_by_the_calls_of_a_non_blocking_exchange() {
    // Computations of 0, 200 µs and 2 ms; 0 bytes are under way for 25 µs, 1 KiB for 445 µs.
    let args = ["--sizes", "0:1024", "--vectors", "0,1000,10000"];
    let points = overlap("sim:ipsc860", &args);
    let at = |bytes: u64, elements: u64| {
        let found = points.iter().find(|p| p["bytes"] == bytes && p["elements"] == elements);
        found.unwrap_or_else(|| panic!("{bytes} B, {elements} elements"))
    };
    let gains = |point: &Value, expected: f64| {
        let found = value(&point["gain"]);
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}: {point}");
    };
    let (mut lost, mut gained) = (0, 0);
    for point in &points {
        let [bytes, elements] = ["bytes", "elements"].map(|of| point[of].as_f64().unwrap());
        let per_byte = if bytes <= 100.0 { 0.63e-6 } else { 0.41e-6 };
        let (way, work) = (25e-6 + per_byte * bytes, 200e-9 * elements);
        let gain = way + work - way.max(work + CALL) - 3.0 * CALL;
        gains(point, gain);
        lost += u32::from(gain < 0.0);
        gained += u32::from(gain > 0.0);
    }
    assert!(lost > 0 && gained > 0, "{lost} {gained}");
    // Without a computation, by just the calls that nothing hides; with any, of 0 bytes.
    gains(at(0, 0), -3.0 * CALL);
    gains(at(0, 1000), 25e-6 - 4.0 * CALL);
    gains(at(1024, 10_000), 25e-6 + 0.41e-6 * 1024.0 - 4.0 * CALL);
}

/// os 200, or 300, L 1000, G 1.5; the gap is the longest of what holds up a sender of short messages.
const MACHINE: &str = "name = 'm'\nsend_overhead_ns = 200\nrecv_overhead_ns = 300\ngap_ns = 700\n\
                       latency_ns = 1000\ngap_per_byte_ns = 1.5\n";

fn points(run: &Value, name: &str) -> Vec<Value> {
    let series = of_kind(run, "series");
    let series = series.iter().find(|series| series["name"] == name);
    let Some(series) = series else { return Vec::new() };
    let common = series["labels"].as_object();
    let point = |point: &Value| {
        let mut point = point.clone();
        for (name, of) in common.into_iter().flatten() {
            point[name] = of.clone();
        }
        point
    };
    series["points"].as_array().unwrap().iter().map(point).collect()
}

#[test]
fn what_each_part_of_a_message_takes_is_measured_where_it_is_named() {
    let place = Workdir::new();
    let transport = format!("sim:{}", place.file("m.toml", MACHINE));
    let measured = |names: &[&str]| {
        let run = run(&[&["comet", "-t", &transport, "--sizes", "0:64KiB"], names].concat());
        points(&run, "message_costs")
    };
    let costs = measured(&["message_costs"]);
    // os, or, and max(os, or, g, n·G).
    for point in &costs {
        let expected = match point["variant"].as_str().unwrap() {
            "send" => 200.0,
            "receive" => 300.0,
            _ => f64::max(700.0, 1.5 * point["bytes"].as_f64().unwrap()),
        };
        near("cost", value(&point["time"]), expected * 1e-9, 1e-9);
    }
    assert_eq!(costs.len(), 3 * 18);
    assert!(measured(&["comms1", "barrier"]).is_empty());
}
