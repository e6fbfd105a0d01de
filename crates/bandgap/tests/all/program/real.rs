//! Every transport of this machine, with budgets too small to converge: what is looked at is that
//! the run is whole, and that its numbers are those of its samples.

use std::collections::{BTreeMap, BTreeSet};

use bandgap_results::{Outcome, Run};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};
use serde_json::Value;

use crate::program::subject::{
    Finished, Place, is_regime, measuring, near, of_kind, value, with_time_enough,
};

/// What is said where too little was measured for a fit.
const UNFITTED: &str = "too little was measured to fit";

/// Runs with growing budgets until everything could be fitted: what a tiny one brings on a busy
/// machine may not be enough, and then bandgap rightly fits nothing, and says so.
fn run(place: &Place, args: &[&str]) -> Finished {
    with_time_enough(|budget| {
        let finished = place.run(args.iter().chain(&["--time-budget", budget])).measured();
        (!finished.stderr.contains(UNFITTED)).then_some(finished)
    })
}

fn signature(args: &[&str]) -> (Value, String) {
    let _alone = measuring();
    let place = Place::new();
    let fixed = ["signature", "--no-save", "--json", "-"];
    let args: Vec<&str> = fixed.iter().chain(args).copied().collect();
    let finished = run(&place, &args);
    assert_eq!((place.names(), place.temporary()), (vec![], vec![]));
    (finished.json(), finished.stderr)
}

/// The samples of a point's batches that count, in seconds, by batch.
fn counting(logp: &Value, point: &Value) -> Vec<Vec<f64>> {
    let batches = point["batches"].as_array().unwrap().iter();
    let state = &logp["state"]["label"];
    let counting = batches.filter(|of| of["rejected"].is_null() && of["state"] == *state);
    let samples = |batch: &Value| {
        let samples = batch["samples"].as_array().unwrap().iter();
        samples.map(|sample| sample.as_f64().unwrap()).collect()
    };
    counting.map(samples).collect()
}

/// Least sample, mean and greatest mean of a batch. What is made of batches lies between the outer two,
/// whatever scattered, as long as fences leave out what took longer.
fn range(batches: &[Vec<f64>]) -> [f64; 3] {
    let means = batches.iter().map(|batch| batch.iter().sum::<f64>() / batch.len() as f64);
    let means: Vec<f64> = means.collect();
    let least = batches.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let greatest = means.iter().copied().fold(0.0, f64::max);
    [least, means.iter().sum::<f64>() / means.len() as f64, greatest]
}

/// Asserts that the parameters of a signature are of its samples, and of each other.
#[track_caller]
fn adds_up(logp: &Value) {
    let parameter = |name: &str| value(&logp["parameters"][name]);
    let [os, or, gap, latency, rtt, idle] =
        ["send_overhead", "recv_overhead", "gap", "latency", "rtt", "idle"].map(parameter);
    let same = |what: &str, found: f64, expected: f64| {
        assert!((found - expected).abs() <= 1e-9 * rtt, "{what}: {found:e}, not {expected:e}");
    };
    same("L", latency, rtt / 2.0 - os - or);
    // Launches may differ in their regime.
    match &logp["regime"] {
        _ if logp["launches"] != 1 => {}
        regime if regime == "processor-bound" => same("g", gap, os + or),
        _ => same("idle", idle, gap - os - or),
    }
    let points = || logp["points"].as_array().unwrap().iter();
    let [round_trip] = points().filter(|p| p["measure"] == "rtt").collect::<Vec<_>>()[..] else {
        panic!("one point of round trips")
    };
    let [least, _, greatest] = range(&counting(logp, round_trip));
    // One sample is half a round trip nowhere, and a batch is twice all others in no mean of them.
    assert!((least..=1.5 * greatest).contains(&rtt), "{rtt:e} of {least:e} to {greatest:e}");
    let issue = || points().filter(|point| point["measure"] == "issue");
    for point in issue() {
        // M times Δ is part of it: half, whatever the processor's pace did in between.
        let (messages, delay) = (point["messages"].as_f64(), point["delay"].as_f64());
        let least = messages.unwrap() * delay.unwrap();
        let [_, mean, _] = range(&counting(logp, point));
        assert!(mean >= 0.5 * least, "{mean:e} s for {least:e} s of computation: {point}");
    }
}

/// Asserts that a signature has all it should.
#[track_caller]
fn whole(logp: &Value, transport: &str) {
    assert_eq!(logp["transport"], transport);
    for name in ["send_overhead", "recv_overhead", "gap", "latency", "rtt", "idle"] {
        assert_eq!(logp["parameters"][name]["unit"], "s", "{name}");
        value(&logp["parameters"][name]);
    }
    let capacity = logp["parameters"].get("capacity").expect("the name is there in any case");
    if !capacity.is_null() {
        value(capacity);
    }
    assert!(value(&logp["parameters"]["rtt"]) > 0.0);
    is_regime(&logp["regime"]);
    let points = logp["points"].as_array().unwrap();
    for measure in ["issue", "rtt"] {
        assert!(points.iter().any(|point| point["measure"] == measure), "{measure}");
    }
    for point in points {
        let batches = point["batches"].as_array().unwrap();
        let samples = batches.iter().flat_map(|batch| batch["samples"].as_array().unwrap());
        let samples: Vec<f64> = samples.map(|sample| sample.as_f64().unwrap()).collect();
        assert!(samples.len() >= 2 && samples.iter().all(|s| (0.0..60.0).contains(s)), "{point}");
    }
    adds_up(logp);
}

fn one_to_one(transport: &str, more: &[&str]) {
    let args: Vec<&str> = ["--transport", transport].iter().chain(more).copied().collect();
    let (run, _) = signature(&args);
    let [logp] = of_kind(&run, "logp")[..] else { panic!("not one signature") };
    whole(logp, transport);
    assert_eq!((&logp["ranks"], &logp["pattern"]), (&2.into(), &"one-to-one".into()));
    assert_eq!(run["interrupted"], false);
    assert!(run["host"]["clock"].is_object() && run["plan"].is_object());
}

#[test]
fn shm() {
    one_to_one("shm", &[]);
}

#[test]
fn unix() {
    one_to_one("unix", &[]);
}

/// The signature over a transport with one of these budgets. What comes to none on a busy machine is
/// told with its code, and holds what its orders were: samples of as many requests and as long delays.
#[track_caller]
fn fitted(transport: &str, wait: &str, budgets: &[&str]) -> Finished {
    let _alone = measuring();
    let place = Place::new();
    let fixed = ["signature", "--wait", wait, "--no-save", "--json", "-", "-t", transport];
    for budget in budgets {
        let finished = place.run(fixed.iter().chain(&["--time-budget", budget])).measured();
        let run = finished.json();
        assert_eq!(run["interrupted"], false);
        if let [logp] = of_kind(&run, "logp")[..] {
            whole(logp, transport);
            return finished;
        }
        assert!(finished.code == Some(8) && finished.stderr.contains(UNFITTED), "{finished:#?}");
        batches_of_orders(&run, transport);
    }
    panic!("{transport} has no signature within {budgets:?}")
}

/// Asserts that batches that could not be fitted are those of their orders.
#[track_caller]
fn batches_of_orders(run: &Value, transport: &str) {
    let [kept] = of_kind(run, "batches")[..] else { panic!("{run}") };
    assert_eq!((&kept["transport"], &kept["unit"]), (&transport.into(), &"ns".into()));
    let batches = kept["batches"].as_array().unwrap();
    assert!(!batches.is_empty(), "{run}");
    for batch in batches {
        let axis = |name: &str| {
            let axes = batch["of"]["axes"].as_array().unwrap();
            axes.iter().find(|axis| axis[0] == name).and_then(|axis| axis[1].as_f64())
        };
        let computed = axis("messages").zip(axis("delay_ps")).map_or(0.0, |(m, ps)| m * ps / 1e3);
        for sample in batch["batch"]["samples"].as_array().unwrap() {
            let sample = sample.as_f64().unwrap();
            assert!((0.5 * computed..60e9).contains(&sample), "{sample} ns: {batch}");
        }
    }
}

#[test]
fn tcp() {
    fitted("tcp", "spin", &["1s", "8s", "60s"]);
}

#[test]
fn udp() {
    fitted("udp", "spin", &["1s", "8s", "60s"]);
}

#[test]
fn udp_among_many_that_share_a_processor() {
    let (run, _) = signature(&["--transport", "udp", "--ranks", "6", "--cores", "0", "--fan-out"]);
    let logp = of_kind(&run, "logp")[0];
    whole(logp, "udp");
    assert_eq!(logp["ranks"], 6);
}

#[test]
fn blocking() {
    for transport in ["tcp", "unix", "udp"] {
        // Where other programs want the processors too, a rank that slept waits for its turn.
        let finished = fitted(transport, "block", &["3s", "24s", "60s"]);
        assert!(finished.stderr.contains("placement states are not probed"), "{finished:?}");
    }
}

#[test]
fn a_fit_to_a_runs_own_samples_gives_the_runs_parameters() {
    let _alone = measuring();
    let place = Place::new();
    let (logp, fit) = with_time_enough(|budget| {
        let args = ["signature", "-t", "unix", "--out", budget, "--time-budget", budget];
        place.run(args).measured();
        let kept = std::fs::read_to_string(place.path(&format!("{budget}/run.json"))).unwrap();
        let run: Value = serde_json::from_str(&kept).unwrap();
        let logp = Value::clone(of_kind(&run, "logp").first()?);
        // What is below zero is no time for a fit, and the run leaves it out with its point.
        let samples = format!("{budget}/samples.csv");
        let fit = place.run(["fit", "logp", &samples, "--json", "-"]).measured().json();
        Some((logp, Value::clone(of_kind(&fit, "logp")[0])))
    });
    // The same batches, with the same seed: only the last digits of a table's times are lost. Rows that
    // were cut into other batches would have other intervals.
    let rtt = value(&logp["parameters"]["rtt"]);
    for name in ["send_overhead", "recv_overhead", "gap", "latency", "rtt", "idle"] {
        let [run, fit] = [&logp, &fit].map(|of| &of["parameters"][name]);
        for part in ["value", "low", "high"] {
            let [run, fit] = [run, fit].map(|of| of[part].as_f64().unwrap());
            assert!((run - fit).abs() <= 1e-3 * rtt, "{name}, {part}: {run:e} and {fit:e}");
        }
        assert!(run["low"] != run["high"], "nothing scatters: {run}");
    }
    assert_eq!(logp["regime"], fit["regime"]);
}

#[test]
fn launches_are_told_apart() {
    let (run, _) = signature(&["--launches", "2"]);
    let [logp] = of_kind(&run, "logp")[..] else { panic!("not one signature") };
    whole(logp, "shm");
    assert_eq!(logp["launches"], 2);
    let launches = logp["points"].as_array().unwrap().iter().flat_map(|point| {
        point["batches"].as_array().unwrap().iter().map(|batch| batch["launch"].as_u64().unwrap())
    });
    let launches: BTreeSet<u64> = launches.collect();
    assert_eq!(launches.into_iter().collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn ranks_that_share_a_processor_are_warned_of() {
    let (run, stderr) = signature(&["--ranks", "4", "--cores", "0"]);
    whole(of_kind(&run, "logp")[0], "shm");
    assert!(
        stderr.contains("oversubscribed: 4 ranks share 1 processor, so those that wait yield;"),
        "{stderr}"
    );
    let warnings = run["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|w| w.as_str().unwrap().contains("oversubscribed")));
    // In the report and in the run file too, with each result.
    for kind in ["logp", "rtt_pairs"] {
        let findings = of_kind(&run, kind)[0]["findings"].to_string();
        assert!(findings.contains("Oversubscribed: 4 ranks shared 1 processor"), "{findings}");
    }
    // Round trips of all 4 · 3 / 2 pairs come with more than two ranks.
    assert_eq!(of_kind(&run, "rtt_pairs")[0]["pairs"].as_array().unwrap().len(), 6);
}

#[test]
fn pairs_and_fan_out() {
    for pattern in ["pairs", "fan-out"] {
        let option = format!("--{pattern}");
        let (run, _) = signature(&["--transport", "unix", "--ranks", "4", &option]);
        let logp = of_kind(&run, "logp")[0];
        whole(logp, "unix");
        assert_eq!((&logp["ranks"], &logp["pattern"]), (&4.into(), &pattern.into()));
    }
}

#[test]
fn pairs_alone_are_of_as_many_ranks_as_processors_are_named() {
    let _alone = measuring();
    let args = ["pairs", "--cores", "0,0,0", "--json", "-", "--no-save"];
    let run = run(&Place::new(), &args).json();
    let pairs = of_kind(&run, "rtt_pairs")[0]["pairs"].as_array().unwrap();
    let ranks = pairs.iter().map(|pair| (pair["requester"].as_u64(), pair["replier"].as_u64()));
    let all = [(0, 1), (0, 2), (1, 2)].map(|(a, b)| (Some(a), Some(b)));
    assert_eq!(ranks.collect::<Vec<_>>(), all);
    assert!(of_kind(&run, "verification")[0]["checked"]["messages"].as_u64() > Some(0), "{run}");
}

#[test]
fn fan_in() {
    let (run, _) = signature(&["--fan-in", "2"]);
    let [contention] = of_kind(&run, "contention")[..] else { panic!("no table") };
    let rows = contention["rows"].as_array().unwrap();
    let requesters: Vec<u64> = rows.iter().map(|row| row["requesters"].as_u64().unwrap()).collect();
    assert_eq!(requesters, [1, 2]);
    let [one, two] = [0, 1].map(|at| value(&rows[at]["gap"]));
    assert!(one > 0.0 && two > 0.0, "{rows:?}");
    // By what g_2 is divided; that of g_1 is 1 by definition.
    near("g_2 / g_1", value(&rows[1]["ratio"]), two / one, 1e-9);
}

/// Asserts that a result has a ratio to each of these floors, or says why not, and no other ratio.
#[track_caller]
fn beside(result: &Value, floors: &[&str], stderr: &str) {
    let none = vec![];
    let ratios = result["floor_ratios"].as_array().unwrap_or(&none);
    for ratio in ratios {
        assert!(floors.iter().any(|floor| ratio["name"] == *floor), "{ratio}");
        assert!(ratio["ratio"].as_f64().unwrap() > 0.0 && value(&ratio["floor"]) > 0.0, "{ratio}");
    }
    for floor in floors {
        let has = ratios.iter().any(|ratio| ratio["name"] == *floor);
        let told =
            result["findings"].to_string().contains(&format!("compared with the floor {floor}:"));
        assert!(has != told || stderr.contains("oversubscribed"), "{floor}: {result}");
    }
}

/// The names of the floors that were to be measured beside what was asked for.
fn planned_beside(run: &Value) -> Vec<&str> {
    let floors = run["plan"]["beside"].as_array().into_iter().flatten();
    floors.map(|beside| beside["floor"]["name"].as_str().unwrap()).collect()
}

/// Whether a result says that there is no floor like it.
fn no_floor(result: &Value) -> bool {
    result["findings"].to_string().contains("no floor of this shape")
}

#[test]
fn results_stand_beside_the_floors_of_their_transport() {
    let _alone = measuring();
    let place = Place::new();
    let series = |args: &str| {
        let fixed = ["--no-save", "--json", "-", "--time-budget", "300ms"];
        let finished = place.run(args.split(' ').chain(fixed)).measured();
        (finished.json(), finished.stderr)
    };
    // What too little was measured for has no ratio.
    for (transport, floor) in [("shm", "cache_line"), ("unix", "unix")] {
        let (run, stderr) = series(&format!("signature --transport {transport}"));
        assert_eq!(planned_beside(&run), [floor]);
        of_kind(&run, "logp").iter().for_each(|logp| beside(logp, &[floor], &stderr));
    }
    // Of four ranks in pairs none is between ranks 0 and 1.
    let (run, stderr) = series("signature --transport unix --ranks 4 --pairs");
    assert_eq!(planned_beside(&run), [""; 0]);
    for logp in of_kind(&run, "logp") {
        let said = "between ranks 0 and 2 is not compared with the floor unix";
        assert!(logp["findings"].to_string().contains(said) || stderr.contains("oversubscribed"));
    }
    // A third rank takes no part in the floors.
    let (run, stderr) = series("comet echo barrier --transport unix -n 3");
    assert_eq!(planned_beside(&run), ["unix", "unix_stream"]);
    for series in of_kind(&run, "series") {
        let floors: &[&str] = if series["name"] == "echo" { &["unix", "unix_stream"] } else { &[] };
        beside(series, floors, &stderr);
        // There is no floor of a barrier over sockets.
        assert_eq!(no_floor(series), floors.is_empty(), "{series}");
    }
    let (run, stderr) = series("comet echo barrier --transport shm");
    assert_eq!(planned_beside(&run), ["cache_line", "cache_line_exchange", "copy_cross_core_1mib"]);
    for series in of_kind(&run, "series") {
        let floors: &[&str] = match series["name"].as_str() {
            Some("echo") => &["cache_line", "copy_cross_core_1mib"],
            Some("barrier") => &["cache_line_exchange"],
            // What messages cost is measured beside them, and has none.
            _ => &[],
        };
        beside(series, floors, &stderr);
    }
    // Stores and gets of other lengths are like no floor, and none is measured.
    let copies = [
        ["store_cross_core", "store_cross_core_1mib"],
        ["copy_cross_core", "copy_cross_core_1mib"],
    ];
    let (run, stderr) = series("bulk --no-surface --transport shm --sizes 64KiB:64KiB");
    assert_eq!(planned_beside(&run), ["copy_cross_core", "store_cross_core"]);
    for (series, floors) in of_kind(&run, "series").into_iter().zip(copies) {
        beside(series, &floors, &stderr);
        let is_short = |ratio: &Value| ratio["bytes"] == 64 << 10;
        assert!(series["floor_ratios"].as_array().is_none_or(|ratios| ratios.iter().all(is_short)));
    }
    let (run, stderr) = series("bulk --no-surface --transport unix --sizes 1MiB:1MiB");
    assert_eq!(planned_beside(&run), ["unix_stream"]);
    of_kind(&run, "series").iter().for_each(|of| beside(of, &["unix_stream"], &stderr));
    let (run, _) = series("pairs --transport unix");
    assert!(of_kind(&run, "rtt_pairs")[0]["findings"].to_string().contains("floors"));
    // What is simulated has none.
    let (run, _) = series("comms1 --transport sim:ipsc860");
    assert_eq!(planned_beside(&run), [""; 0]);
    let simulated = of_kind(&run, "series")[0];
    assert_eq!((&simulated["floor_ratios"], no_floor(simulated)), (&Value::Null, false));
}

#[test]
fn floors_by_name() {
    let _alone = measuring();
    let place = Place::new();
    let args = ["floor", "cache_line", "tcp", "clock_read", "tcp_stream", "--no-save"];
    let budget = ["--json", "-", "--time-budget", "300ms"];
    let args: Vec<&str> = args.iter().chain(&budget).copied().collect();
    let run = place.run(args).measured().json();
    let floors = of_kind(&run, "floor");
    for (name, kind, unit) in [
        ("cache_line", "time", "s"),
        ("tcp", "time", "s"),
        ("clock_read", "time", "s"),
        ("tcp_stream", "rate", "B/s"),
    ] {
        let floor = floors.iter().find(|floor| floor["name"] == name);
        let floor = floor.unwrap_or_else(|| panic!("{name}: {}", run["warnings"]));
        assert_eq!(floor[kind]["unit"], unit, "{name}");
        assert!(value(&floor[kind]) > 0.0, "{name}");
        assert!(!floor["samples"].as_array().unwrap().is_empty(), "{name}");
    }
    assert_eq!(floors.len(), 4);
}

/// What `run` returns where `process_vm_readv` is refused, as some containers do.
fn without_vm_readv<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    let refused = BTreeMap::from([(libc::SYS_process_vm_readv, Vec::new())]);
    let errno = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let here = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let filter = SeccompFilter::new(refused, SeccompAction::Allow, errno, here).unwrap();
    let filter: BpfProgram = filter.try_into().unwrap();
    // It holds for the thread that asks for it, and for whom that starts.
    let filtered = || {
        apply_filter(&filter).unwrap();
        run()
    };
    std::thread::scope(|threads| threads.spawn(filtered).join().unwrap())
}

#[test]
fn a_floor_that_the_machine_refuses_is_missing_only_to_who_names_it() {
    let _alone = measuring();
    let place = Place::new();
    let args = ["clock_read", "copy_vm_readv", "--no-save", "--json", "-", "--time-budget", "1s"];
    let finished = without_vm_readv(|| place.run(["floor"].iter().chain(&args))).ends(8);
    assert!(finished.stderr.contains("copy_vm_readv"), "{}", finished.stderr);
    // All else that was asked for is there.
    let (run, missing) = (finished.json(), "copy_vm_readv");
    let warnings = run["warnings"].as_array().unwrap();
    assert!(warnings.iter().all(|warning| warning.as_str().unwrap().contains(missing)), "{run}");
    assert!(of_kind(&run, "floor").iter().any(|floor| floor["name"] == "clock_read"), "{run}");
}

/// What a machine or a container may refuse: all else is everywhere.
const REFUSABLE: [&str; 2] = ["copy_vm_readv", "copy_vm_readv_1mib"];

#[test]
fn all_floors_are_there_and_what_is_longer_takes_longer() {
    let _alone = measuring();
    let place = Place::new();
    let known = place.run(["floor", "none-such"]).ends(2).stderr;
    let (_, list) = known.split_once("there are ").unwrap();
    let all: BTreeSet<&str> =
        list.split([',', ' ', '\n']).filter(|name| !name.is_empty()).collect();
    assert!(all.len() >= 35, "{all:?}");
    let run = with_time_enough(|budget| {
        let args = ["floor", "--no-save", "--json", "-", "--time-budget", budget];
        let finished = place.run(args).measured();
        let run = finished.json();
        let found: BTreeSet<String> = of_kind(&run, "floor")
            .iter()
            .map(|floor| floor["name"].as_str().unwrap().to_owned())
            .collect();
        let missing = all.iter().filter(|name| !found.contains(**name));
        let refused = |name: &str| {
            let told = finished.stderr.contains(&format!("warning: {name}: "));
            assert!(told, "{name} is missing without a word: {}", finished.stderr);
            REFUSABLE.contains(&name)
        };
        // Each is asked for its reason.
        let undue = missing.filter(|name| !refused(name)).count();
        (undue == 0).then_some(run)
    });
    let floor = |name: &str| {
        let floors = of_kind(&run, "floor");
        let found = floors.iter().find(|floor| floor["name"] == name);
        Value::clone(found.unwrap_or_else(|| panic!("{name}")))
    };
    let samples = |name: &str| {
        let floor = floor(name);
        let samples = floor["samples"].as_array().unwrap().iter();
        samples.map(|sample| sample.as_f64().unwrap()).collect::<Vec<_>>()
    };
    // A machine between the slowest and the fastest that there are.
    for name in &all {
        if REFUSABLE.contains(name) && of_kind(&run, "floor").iter().all(|of| of["name"] != *name) {
            continue;
        }
        let floor = floor(name);
        let (kind, possible) = match floor["rate"].is_null() {
            true => ("time", 1e-10..1e-1),
            false => ("rate", 1e5..1e13),
        };
        let found = value(&floor[kind]);
        assert!(possible.contains(&found), "{name}: {found:e}");
        let [least, greatest] =
            [f64::min, f64::max].map(|of| samples(name).into_iter().reduce(of).expect("samples"));
        assert!(
            (least..=greatest).contains(&found),
            "{name}: {found:e} of {least:e} to {greatest:e}"
        );
    }
    // The quickest of each: a disturbance makes none of them quicker.
    let quickest = |name: &str| samples(name).into_iter().reduce(f64::min).unwrap();
    for (shorter, longer) in [
        // Half a round trip over a socket has a system call that sends and one that receives.
        ("system_call", "tcp"),
        ("system_call", "unix"),
        ("system_call", "udp"),
    ] {
        let [short, long] = [shorter, longer].map(quickest);
        assert!(short < long, "{shorter}: {short:e}, {longer}: {long:e}");
    }
    // A message of 64 KiB takes longer than one of 8 bytes, and 1 MiB longer again.
    let carrying =
        |name: &str, bytes: f64| bytes / samples(name).into_iter().reduce(f64::max).unwrap();
    let longer = [
        quickest("message"),
        carrying("message_64kib", 65536.0),
        carrying("message_1mib", 1048576.0),
    ];
    assert!(longer.is_sorted_by(|short, long| short < long), "{longer:?}");
}

#[test]
fn topology_and_doctor_speak_json() {
    let place = Place::new();
    let run = place.run(["topology", "--json", "-"]).ends(0).json();
    assert!(run["host"]["summary"]["online"].as_str().is_some_and(|list| !list.is_empty()));
    assert!(!run["host"]["pairs_by_distance"].is_null());
    let text = place.run(["topology"]).ends(0).stdout;
    assert!(text.starts_with("processors "), "{text}");

    let _alone = measuring();
    let doctor = place.run(["doctor", "--json", "-", "--quiet"]);
    // Whether this machine is a bad one is not known here.
    assert!(matches!(doctor.code, Some(0 | 1)), "{doctor:#?}");
    let run = doctor.json();
    let checks = run["host"]["checks"].as_array().unwrap();
    assert!(!checks.is_empty() && checks.iter().all(|check| check["name"].is_string()));
    assert_eq!(place.names(), Vec::<String>::new());
}

#[test]
fn what_has_not_converged_is_a_failure_only_for_those_who_ask() {
    let _alone = measuring();
    let place = Place::new();
    // Nothing is as precise as that.
    let args =
        ["comms1", "--sizes", "8", "--precision", "1e-9", "--time-budget", "0.3s", "--no-save"];
    for (asked, code) in [(&[][..], 0), (&["--strict"][..], 1)] {
        let finished = place.run(args.iter().chain(asked));
        let too_little = finished.code == Some(8);
        assert!(finished.code == Some(code) || too_little, "{finished:#?}");
        assert_eq!(too_little, finished.stderr.contains(UNFITTED), "{finished:#?}");
        // Who asks is told what it is.
        let named = finished.stderr.contains("bandgap: doubtful: comms1 over shm, 8 B");
        assert_eq!(named, finished.code == Some(1), "{finished:#?}");
    }
}

#[test]
fn by_itself_it_measures_three_transports_and_keeps_the_run() {
    let _alone = measuring();
    let place = Place::new();
    let finished = place.run(["--time-budget", "1s"]).measured();
    let runs = std::fs::read_dir(place.path("bandgap-runs")).unwrap();
    let run = runs.map(|run| run.unwrap().path()).max().unwrap();
    let kept: Run = bandgap_record::read(&run).unwrap();
    assert!(!kept.interrupted);
    let fitted: Vec<&str> = kept
        .results
        .iter()
        .filter_map(|result| match result {
            Outcome::Logp(logp) => Some(logp.transport.as_str()),
            _ => None,
        })
        .collect();
    // Where a budget this small was not enough, that is told once for each transport.
    let unfitted = kept.warnings.iter().filter(|warning| warning.contains(UNFITTED)).count();
    assert_eq!(fitted.len() + unfitted, 3, "{finished:?}");
    assert!(!fitted.is_empty(), "{finished:?}");
    // Files name their transport from the first on, even if no other one could be fitted.
    for transport in fitted {
        let title = format!("LogP signature over {transport}");
        assert!(finished.stdout.contains(&title), "{}", finished.stdout);
        for name in [format!("samples-{transport}.csv"), format!("signature-{transport}.svg")] {
            assert!(std::fs::metadata(run.join(&name)).is_ok_and(|file| file.len() > 0), "{name}");
        }
    }
    assert!(run.join("signature.csv").exists());
}
