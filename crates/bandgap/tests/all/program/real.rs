//! Every transport of this machine, with budgets too small to converge: what is looked at is that
//! the run is whole, not its numbers.

use bandgap_results::{Outcome, Run};
use serde_json::Value;

use crate::program::subject::{Finished, Place, is_regime, measuring, near, of_kind, value};

const BUDGET: [&str; 2] = ["--time-budget", "300ms"];
/// What is said where too little was measured for a fit.
const UNFITTED: &str = "too little was measured to fit";

/// Runs with growing budgets until everything could be fitted: what a tiny one brings on a busy
/// machine may not be enough, and then bandgap rightly fits nothing, and says so.
fn run(place: &Place, args: &[&str]) -> Finished {
    let mut told = Vec::new();
    for budget in ["300ms", "1s", "3s", "8s"] {
        let finished = place.run(args.iter().chain(&["--time-budget", budget])).measured();
        if !finished.stderr.contains(UNFITTED) {
            return finished;
        }
        told.push(finished.stderr);
    }
    panic!("nothing was fitted: {told:#?}");
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

/// Asserts that a signature has all it should, whatever the numbers.
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

/// Where a send takes nearly half a round trip, or ranks sleep and wake, a small budget may bring
/// too little for a fit; then that is told, and nothing is made up.
#[track_caller]
fn fitted_or_told(transport: &str, wait: &str) -> Finished {
    let _alone = measuring();
    let place = Place::new();
    let args = ["signature", "--wait", wait, "--no-save", "--json", "-", "-t", transport];
    let finished = place.run(args.iter().chain(&BUDGET)).measured();
    let run = finished.json();
    assert_eq!(run["interrupted"], false);
    match of_kind(&run, "logp")[..] {
        [logp] => whole(logp, transport),
        _ => assert!(finished.code == Some(8) && finished.stderr.contains(UNFITTED)),
    }
    finished
}

#[test]
fn tcp() {
    fitted_or_told("tcp", "spin");
}

#[test]
fn udp() {
    fitted_or_told("udp", "spin");
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
        let finished = fitted_or_told(transport, "block");
        assert!(finished.stderr.contains("placement states are not probed"), "{finished:?}");
    }
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
    let launches: std::collections::BTreeSet<u64> = launches.collect();
    assert_eq!(launches.into_iter().collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn ranks_that_share_a_processor_are_warned_of() {
    let (run, stderr) = signature(&["--ranks", "4", "--cores", "0"]);
    whole(of_kind(&run, "logp")[0], "shm");
    assert!(stderr.contains("oversubscribed: 4 ranks share 1 processor"), "{stderr}");
    let warnings = run["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|w| w.as_str().unwrap().contains("oversubscribed")));
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
    for row in rows {
        assert!(value(&row["gap"]) > 0.0 && value(&row["ratio"]) > 0.0, "{row}");
    }
    // g_1 over itself.
    near("g_1 / g_1", value(&rows[0]["ratio"]), 1.0, 1e-9);
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
            result["findings"].to_string().contains(&format!("compared with the floor {floor}"));
        assert!(has != told || stderr.contains("oversubscribed"), "{floor}: {result}");
    }
}

#[test]
fn results_stand_beside_the_floors_of_their_transport() {
    let _alone = measuring();
    let place = Place::new();
    let series = |args: &str| {
        let fixed = ["--no-save", "--json", "-"].iter().chain(&BUDGET);
        let finished = place.run(args.split(' ').chain(fixed.copied())).measured();
        (finished.json(), finished.stderr)
    };
    // What too little was measured for has no ratio.
    for (transport, floor) in [("shm", "cache_line"), ("unix", "unix")] {
        let (run, stderr) = series(&format!("signature --transport {transport}"));
        of_kind(&run, "logp").iter().for_each(|logp| beside(logp, &[floor], &stderr));
    }
    // A third rank takes no part in the floors.
    let (run, stderr) = series("comet echo barrier --transport unix -n 3");
    for series in of_kind(&run, "series") {
        // There is no floor of a barrier over sockets.
        let floors: &[&str] = if series["name"] == "echo" { &["unix", "unix_stream"] } else { &[] };
        beside(series, floors, &stderr);
    }
    let (run, stderr) = series("comet echo barrier --transport shm");
    for series in of_kind(&run, "series") {
        let floors: &[&str] = match series["name"].as_str() {
            Some("echo") => &["cache_line", "copy_cross_core_1mib"],
            Some("barrier") => &["cache_line_exchange"],
            // What messages cost is measured beside them, and has none.
            _ => &[],
        };
        beside(series, floors, &stderr);
    }
    // What is simulated has none.
    let (run, _) = series("comms1 --transport sim:ipsc860");
    assert_eq!(of_kind(&run, "series")[0]["floor_ratios"], Value::Null);
}

#[test]
fn floors_by_name() {
    let _alone = measuring();
    let place = Place::new();
    let args = ["floor", "cache_line", "tcp", "clock_read", "tcp_stream", "--no-save"];
    let args: Vec<&str> = args.iter().chain(&["--json", "-"]).chain(&BUDGET).copied().collect();
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

#[test]
fn all_floors() {
    let _alone = measuring();
    let place = Place::new();
    let finished =
        place.run(["floor", "--no-save", "--json", "-"].iter().chain(&BUDGET)).measured();
    let run = finished.json();
    let floors = of_kind(&run, "floor");
    let names: Vec<&str> = floors.iter().map(|floor| floor["name"].as_str().unwrap()).collect();
    for name in [
        "cache_line",
        "cache_line_exchange",
        "barrier",
        "slot_ring",
        "slot_ring_stream",
        "copy_local",
        "copy_cross_core",
        "store_cross_core",
        "store_cross_core_1mib",
        "copy_cross_core_1mib",
        "bulk_get",
        "bulk_get_1mib",
        "bulk_store",
        "bulk_store_1mib",
        "copy_vm_readv",
        "copy_vm_readv_1mib",
        "tcp",
        "unix",
        "udp",
        "tcp_stream",
        "unix_stream",
        "clock_read",
        "system_call",
    ] {
        // What this machine refuses, it names.
        let told = finished.stderr.contains(&format!("warning: {name}: "));
        assert!(names.contains(&name) || told, "{name} is not in {names:?}");
    }
    assert!(names.len() >= 8, "{names:?}");
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
    let args = ["comms1", "--sizes", "8", "--precision", "0", "--time-budget", "0.3s", "--no-save"];
    for (asked, code) in [(&[][..], 0), (&["--strict"][..], 1)] {
        let finished = place.run(args.iter().chain(asked));
        let too_little = finished.code == Some(8);
        assert!(finished.code == Some(code) || too_little, "{finished:#?}");
        assert_eq!(too_little, finished.stderr.contains(UNFITTED), "{finished:#?}");
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
