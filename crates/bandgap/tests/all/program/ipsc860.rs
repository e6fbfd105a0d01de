//! CoMet's kernels on the machine that it was written for: what its chapter 5 found, with the
//! formula that each time is compared with.

use serde_json::Value;

use crate::program::subject::{Workdir, near, of_kind, value};

/// The points of a series on so many nodes.
fn points(names: &[&str], ranks: &str, more: &[&str]) -> Vec<Vec<Value>> {
    let common = ["-t", "sim:ipsc860", "-n", ranks, "--no-save", "--json", "-", "--quiet"];
    let args = [&["comet"], names, &common, more].concat();
    let run = Workdir::new().run(args).measured().json();
    let series = of_kind(&run, "series");
    assert_eq!(series.iter().map(|s| s["name"].as_str().unwrap()).collect::<Vec<_>>(), names);
    series.iter().map(|series| series["points"].as_array().unwrap().clone()).collect()
}

/// A message of n bytes over so many hops, in microseconds: 79 µs + 0.63 µs·n up to 100 bytes and
/// 156 µs + 0.41 µs·n above, and 25 µs for each hop beyond the first (section 5.1).
fn message(bytes: f64, hops: f64) -> f64 {
    let (start_up, per_byte) = if bytes <= 100.0 { (79.0, 0.63) } else { (156.0, 0.41) };
    start_up + per_byte * bytes + 25.0 * (hops - 1.0)
}

fn number(point: &Value, name: &str) -> f64 {
    point[name].as_f64().unwrap_or_else(|| panic!("{name} in {point}"))
}

/// Its time in microseconds.
fn time(point: &Value) -> f64 {
    value(&point["time"]) * 1e6
}

/// The times of a matrix kernel by dimension.
fn times(points: &[Value]) -> Vec<(f64, f64)> {
    points.iter().map(|point| (number(point, "dimension"), time(point))).collect()
}

#[test]
fn echo_has_both_protocols_and_a_time_for_each_hop() {
    let [echo, exchange] = &points(&["echo", "exchange"], "16", &["--sizes", "0:5000"])[..] else {
        panic!("two series")
    };
    let mut hops_seen = [0; 5];
    assert_eq!(echo.len(), exchange.len());
    for (echo, exchange) in echo.iter().zip(exchange) {
        let (bytes, hops) = (number(echo, "bytes"), number(echo, "hops"));
        near("echo", time(echo), message(bytes, hops), 1e-9);
        hops_seen[hops as usize] += 1;
        // Both ways at once, an exchange takes no longer than a message, and half of an echo.
        assert_eq!((number(exchange, "bytes"), number(exchange, "hops")), (bytes, hops));
        near("exchange", time(exchange), message(bytes, hops), 1e-9);
    }
    assert!(hops_seen[0] == 0 && hops_seen[1..].iter().all(|&sizes| sizes > 10), "{hops_seen:?}");
}

#[test]
fn start_up_byte_and_hop_are_fitted_for_both_protocols() {
    let place = Workdir::new();
    let args =
        ["comet", "exchange", "-t", "sim:ipsc860", "-n", "16", "--no-save", "--json", "-", "-q"];
    let run = place.run(args).measured().json();
    let [hops] = of_kind(&run, "hops")[..] else { panic!("one fit") };
    assert_eq!(hops["name"], "exchange");
    let segments = hops["points"].as_array().unwrap();
    assert_eq!(segments.len(), 2, "{segments:?}");
    for (segment, [start_up, per_byte]) in
        segments.iter().zip([[79e-6, 0.63e-6], [156e-6, 0.41e-6]])
    {
        near("t_startup", value(&segment["t_startup"]), start_up, 1e-6);
        near("t_byte", value(&segment["t_byte"]), per_byte, 1e-6);
        near("h", value(&segment["h"]), 25e-6, 1e-6);
    }
}

#[test]
fn a_broadcast_has_its_fastest_algorithms() {
    let place = Workdir::new();
    let sizes = ["--sizes", "1:64KiB", "--algorithm", "all", "--out", "run"];
    let kernels = ["comet", "broadcast", "echo", "-t", "sim:ipsc860", "-n", "2,4,8"];
    place.run([&kernels[..], &sizes].concat()).measured();
    let written = std::fs::read_to_string(place.path("run/run.json")).unwrap();
    let run: Value = serde_json::from_str(&written).unwrap();
    let series = of_kind(&run, "series");
    let broadcast = series.iter().find(|series| series["name"] == "broadcast").unwrap();
    let points = broadcast["points"].as_array().unwrap();
    // Each length is measured in each algorithm, the long ones too.
    let longest = points.iter().filter(|point| point["ranks"] == 8 && point["bytes"] == 65_536);
    assert_eq!(longest.count(), 4);
    // On eight ranks pipelines beat trees of long messages, and trees one sender: 3 · 79.6 µs are
    // less than 79.6 µs and 6 · 27. A crossover is among what is said.
    let [fastest] = of_kind(&run, "fastest")[..] else { panic!("one table") };
    let ranges = fastest["points"].as_array().unwrap();
    let on_eight: Vec<&Value> = ranges.iter().filter(|of| of["ranks"] == 8).collect();
    assert_eq!(on_eight.first().unwrap()["variant"], "binomial");
    assert_eq!(on_eight.last().unwrap()["variant"], "chain");
    let from: Vec<f64> = on_eight[1..].iter().map(|of| value(&of["begins"])).collect();
    assert!(from.windows(2).all(|two| two[0] < two[1]), "{from:?}");
    let [growth] = of_kind(&run, "growth")[..] else { panic!("one table") };
    let of_binomial = |of: &&Value| of["variant"] == "binomial";
    let trees: Vec<&Value> =
        growth["points"].as_array().unwrap().iter().filter(of_binomial).collect();
    assert!(trees.iter().all(|of| of["law"] == "logarithmic") && trees.len() > 3);
    for file in ["broadcast-sim_ipsc860.dat", "broadcast-sim_ipsc860.gp", "echo-sim_ipsc860.gp"] {
        assert!(place.path("run/gnuplot").join(format!("series-{file}")).is_file(), "{file}");
    }
}

/// R² of a straight line through times over log₂ P.
fn linear_in_log(points: &[Value]) -> f64 {
    let over: Vec<[f64; 2]> =
        points.iter().map(|point| [number(point, "ranks").log2(), time(point)]).collect();
    let mean = |of: usize| over.iter().map(|at| at[of]).sum::<f64>() / over.len() as f64;
    let (x, y) = (mean(0), mean(1));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| -> f64 { over.iter().map(|p| of(p[0] - x, p[1] - y)).sum() };
    let [xy, xx, yy] = [sum(&|a, b| a * b), sum(&|a, _| a * a), sum(&|_, b| b * b)];
    xy * xy / (xx * yy)
}

#[test]
fn broadcast_sum_and_barrier_grow_with_the_logarithm_of_the_nodes() {
    let nodes = "2,4,8,16";
    let sum = &points(&["global_sum"], nodes, &["--sizes", "8:8"])[0];
    for point in sum {
        // One exchange with a neighbour in each dimension.
        let dimensions = number(point, "ranks").log2();
        near("sum", time(point), dimensions * message(8.0, 1.0), 1e-9);
    }
    let binomial = ["--sizes", "8:8", "--algorithm", "binomial"];
    let broadcast = &points(&["broadcast"], nodes, &binomial)[0];
    for point in broadcast {
        // One message to a neighbour in each dimension, one after the other.
        let dimensions = number(point, "ranks").log2();
        near("broadcast", time(point), dimensions * message(8.0, 1.0), 1e-9);
    }
    let barrier = &points(&["barrier"], nodes, &["--algorithm", "dissemination"])[0];
    for points in [sum, broadcast, barrier] {
        assert_eq!(points.len(), 4);
        assert!(linear_in_log(points) > 0.98, "{}", linear_in_log(points));
    }
}

#[test]
fn guards_and_rows_are_linear_in_the_dimension_and_whole_blocks_quadratic() {
    let names = [
        "update_guard",
        "shift_north",
        "shift_east",
        "transpose",
        "row_broadcast",
        "column_broadcast",
    ];
    let found = points(&names, "16", &["--dimension", "256:1024"]);
    let [guard, north, east, transpose, row, column] =
        &found.iter().map(|points| times(points)).collect::<Vec<_>>()[..]
    else {
        panic!("six series")
    };
    // Four messages leave one after the other, each of N/4 doubles.
    let slope =
        |of: &[(f64, f64)], at: usize| (of[at + 1].1 - of[at].1) / (of[at + 1].0 - of[at].0);
    for at in 0..2 {
        near("update_guard", slope(guard, at), 4.0 * 8.0 / 4.0 * 0.41, 1e-6);
    }
    for broadcast in [row, column] {
        near("a row", slope(broadcast, 1), slope(broadcast, 0), 0.01);
    }
    for &(dimension, time) in north {
        // A block with its guard ring goes to a neighbour. The send is begun and the receive waited
        // for, 10 µs each; the two calls between them pass while the message is under way.
        let side = dimension / 4.0 + 2.0;
        near("shift", time, message(8.0 * side * side, 1.0) + 20.0, 1e-9);
    }
    for quadratic in [north, east, transpose] {
        let growth = quadratic[2].1 / quadratic[1].1;
        assert!((3.8..4.05).contains(&growth), "{growth}");
    }
}

#[test]
fn all_kernels_run_on_sixteen_nodes() {
    let place = Workdir::new();
    let run = place.json("comet -t sim:ipsc860 -n 16");
    // CoMet's eleven, overlap, contention, and what single messages cost.
    assert_eq!(of_kind(&run, "series").len(), 14);
    // What the thesis found: guards and lines grow with N, whole blocks with N².
    let law = |name: &str| {
        let growth = of_kind(&run, "growth").into_iter().find(|of| of["name"] == name);
        let growth = growth.unwrap_or_else(|| panic!("{name}"));
        let point = growth["points"].as_array().map_or(growth, |points| &points[0]);
        let law = [&point["law"], &growth["labels"]["law"]].into_iter().find_map(Value::as_str);
        law.unwrap().to_owned()
    };
    for name in ["update_guard", "row_broadcast", "column_broadcast"] {
        assert_eq!(law(name), "linear", "{name}");
    }
    for name in ["shift_north", "shift_east", "transpose"] {
        assert_eq!(law(name), "quadratic", "{name}");
    }
}
