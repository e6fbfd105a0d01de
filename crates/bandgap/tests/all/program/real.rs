//! Real ranks, measured so briefly that only the structure of the results is looked at.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::program::subject::{Workdir, of_kind, value};

/// Budgets that are tried one after the other, until one brings each result that was asked for.
const BUDGETS: [&str; 4] = ["200ms", "1s", "5s", "20s"];

/// The first run of this command that brings its results. Whatever a run brings is well-formed.
#[track_caller]
fn run(command: &str) -> Value {
    let tried = BUDGETS.into_iter().map(|budget| run_for(budget, command));
    let complete = tried.into_iter().find_map(|(run, is_complete)| is_complete.then_some(run));
    complete.unwrap_or_else(|| panic!("{command} brings no result in {BUDGETS:?}"))
}

/// A run with this budget, and whether it has every result.
fn run_for(time: &str, command: &str) -> (Value, bool) {
    let place = Workdir::new();
    let fixed = ["--time-budget", time, "--no-save", "--json", "-"];
    let finished = place.run(command.split(' ').chain(fixed)).measured();
    let run = finished.json();
    assert!(finished.code == Some(8) || run["results"] != json!([]), "{command}");
    assert_eq!(run["interrupted"], false);
    assert!(run["host"]["clock"].is_object() && !run["plan"].is_null(), "{command}");
    quantities(&run["results"]);
    for of in run["conditions"].as_array().unwrap() {
        assert!(
            command.starts_with("floor") || of["verified"]["checked"].as_u64() > Some(0),
            "{of}"
        );
    }
    assert_eq!((place.names(), place.temporary()), (vec![], vec![]), "{command}");
    (run, finished.code == Some(0))
}

/// The results of a kind, of which there is at least one.
#[track_caller]
fn some<'a>(run: &'a Value, kind: &str) -> Vec<&'a Value> {
    let found = of_kind(run, kind);
    assert!(!found.is_empty(), "{kind}: {run}");
    found
}

/// Asserts that the interval of each quantity holds its value.
fn quantities(of: &Value) {
    match of {
        Value::Object(fields) if fields.contains_key("value") && fields.contains_key("unit") => {
            value(of);
        }
        Value::Object(fields) => fields.values().for_each(quantities),
        Value::Array(all) => all.iter().for_each(quantities),
        _ => {}
    }
}

/// Asserts that all results of a kind are of these names, over this transport.
#[track_caller]
fn named(run: &Value, kind: &str, names: &[&str], transport: &str) {
    let results = some(run, kind);
    let found: BTreeSet<&str> = results.iter().map(|of| of["name"].as_str().unwrap()).collect();
    assert_eq!(found, names.iter().copied().collect());
    assert!(results.iter().all(|result| result["transport"] == transport), "{results:?}");
}

#[test]
fn signatures() {
    for (command, transport, ranks, pattern) in [
        ("signature", "shm", 2, "one_to_one"),
        ("signature -t tcp --launches 2", "tcp", 2, "one_to_one"),
        ("signature -t unix -n 4 --pairs", "unix", 4, "pairs"),
        ("signature -t tcp -n 3 --fan-out --wait block", "tcp", 3, "fan_out"),
    ] {
        for logp in some(&run(command), "logp") {
            assert_eq!((&logp["transport"], &logp["ranks"]), (&transport.into(), &ranks.into()));
            assert_eq!(logp["pattern"], pattern);
            assert!(logp["parameters"]["rtt"].is_object(), "{logp}");
        }
    }
}

#[test]
fn message_passing() {
    for (command, name, transport) in [
        ("comms1 -t tcp --sizes 1:40KiB", "comms1", "tcp"),
        ("comms3 -t shm -n 4 --sizes 1:40KiB --cores 0", "comms3", "shm"),
        ("comet broadcast -t unix -n 3 --sizes 1:40KiB", "broadcast", "unix"),
        (
            "comet all_reduce -t shm -n 4 --cores 0 --algorithm all --sizes 8,64KiB",
            "all_reduce",
            "shm",
        ),
    ] {
        named(&run(command), "series", &[name], transport);
    }
    let dealt = run("comet reduce_scatter all_gather all_to_all -t tcp -n 3 --sizes 8,40KiB");
    named(&dealt, "series", &["all_gather", "all_to_all", "reduce_scatter"], "tcp");
}

#[test]
fn stores_and_gets() {
    let run = run("bulk --no-surface --sizes 0:16KiB");
    named(&run, "series", &["bulk_store", "bulk_get"], "shm");
}

#[test]
fn overlap_and_contention() {
    let run = run("comet overlap contention -t unix -n 4 --sizes 0:1KiB --vectors 100");
    named(&run, "series", &["contention", "overlap"], "unix");
}

#[test]
fn all_pairs() {
    let run = run("pairs -n 3");
    for pairs in some(&run, "series") {
        assert_eq!(pairs["name"], "pairs");
        assert!((1..=3).contains(&pairs["points"].as_array().unwrap().len()), "{pairs}");
    }
}

#[test]
fn a_breakdown_of_a_socket() {
    let run = run("breakdown -t unix");
    for breakdown in some(&run, "breakdown") {
        assert!(!breakdown["components"].as_array().unwrap().is_empty(), "{breakdown}");
    }
}

#[test]
fn floors() {
    let run = run("floor cache_line tcp_stream clock_read udp --sizes 8,64");
    for floor in some(&run, "floor") {
        if floor["name"] == "udp" {
            for point in floor["points"].as_array().unwrap() {
                assert!(value(&point["sent"]) > value(&point["lost"]), "{floor}");
                assert!(value(&point["time"]) > 0.0, "{floor}");
            }
            continue;
        }
        let (kind, unit) =
            if floor["name"] == "tcp_stream" { ("rate", "B/s") } else { ("time", "s") };
        assert_eq!(floor[kind]["unit"], unit, "{floor}");
        assert!(value(&floor[kind]) > 0.0, "{floor}");
    }
    Workdir::new().run(["floor", "none-such"]).ends(2);
}

#[test]
fn by_itself_it_measures_and_keeps_the_run() {
    let place = Workdir::new();
    place.run(["--time-budget", "2s"]).measured();
    let runs = std::fs::read_dir(place.path("bandgap-runs")).unwrap();
    let run = runs.map(|run| run.unwrap().path()).max().unwrap();
    let kept: bandgap_results::Run = bandgap_record::read(&run).unwrap();
    assert!(!kept.interrupted);
    let transports: Vec<&str> = kept.conditions.iter().map(|of| &*of.transport).collect();
    assert_eq!(transports, ["shm", "tcp", "unix"]);
}

#[test]
fn the_machine_is_described() {
    let place = Workdir::new();
    let run = place.run(["topology", "--json", "-"]).ends(0).json();
    assert!(run["host"]["summary"]["online"].as_str().is_some_and(|list| !list.is_empty()));
    assert!(!run["host"]["pairs_by_distance"].is_null());
    // Whether this machine is a bad one is not known here.
    let doctor = place.run(["doctor", "--json", "-", "--quiet"]);
    assert!(matches!(doctor.code, Some(0 | 1)), "{doctor:#?}");
    let checks = doctor.json()["host"]["checks"].clone();
    assert!(!checks.as_array().unwrap().is_empty());
    assert_eq!(place.names(), Vec::<String>::new());
    // A kept one is shown again.
    assert_eq!(place.run(["doctor", "--out", "kept"]).stdout, place.run(["show", "kept"]).stdout);
}

#[test]
fn what_has_not_converged_is_a_failure_only_for_those_who_ask() {
    // Nothing is as precise as that.
    let args = "comms1 --sizes 8 --precision 1e-9 --time-budget 200ms --no-save";
    for (asked, code) in [(None, 0), (Some("--strict"), 1), (Some("-q"), 0)] {
        let finished = Workdir::new().run(args.split(' ').chain(asked));
        let doubts = finished.stdout.lines().any(|line| line.starts_with("! "));
        assert_eq!(doubts, finished.code != Some(8) && asked != Some("-q"), "{finished:#?}");
        assert!(finished.code == Some(code) || finished.code == Some(8), "{finished:#?}");
    }
}
