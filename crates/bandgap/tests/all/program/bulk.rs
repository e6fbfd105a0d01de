//! Stores and gets, measured for so short a time that only the form of what comes out is looked at.

use serde_json::Value;

use crate::program::subject::{Place, is_regime, measuring, of_kind, value};

/// Runs with growing budgets until every size was measured in one state of the machine.
fn bulk(args: &[&str], sizes: &[u64]) -> Value {
    let _alone = measuring();
    let place = Place::new();
    let mut told = Vec::new();
    for budget in ["300ms", "1s", "3s", "8s"] {
        let fixed = ["bulk", "--no-surface", "--no-save", "--json", "-", "--time-budget", budget];
        let run = place.run(fixed.iter().chain(args)).measured().json();
        let complete = of_kind(&run, "series").iter().all(|series| {
            let points = series["points"].as_array().unwrap().iter();
            points.map(|point| point["bytes"].as_u64().unwrap()).eq(sizes.iter().copied())
        });
        if complete {
            return run;
        }
        told.push(run["results"].clone());
    }
    panic!("sizes are missing: {told:#?}");
}

#[test]
fn stores_and_gets_over_shared_memory_are_verified_and_have_all_their_times() {
    let run = bulk(&["--sizes", "0:16"], &[0, 1, 2, 4, 8, 13, 16]);
    let series = of_kind(&run, "series");
    let names: Vec<&Value> = series.iter().map(|series| &series["name"]).collect();
    assert_eq!(names, ["bulk_store", "bulk_get"]);
    for series in series {
        assert_eq!((&series["verified"], &series["transport"]), (&true.into(), &"shm".into()));
        for point in series["points"].as_array().unwrap() {
            let time = value(&point["time"]);
            assert!(time > 0.0 && value(&point["send_overhead"]) < time, "{point}");
            // What it is of is looked at in virtual time.
            match point.get("bandwidth").filter(|bandwidth| !bandwidth.is_null()) {
                Some(bandwidth) => assert_eq!(bandwidth["unit"], "B/s"),
                None => assert_eq!(point["bytes"], 0, "{point}"),
            }
            assert!(!point["batches"].as_array().unwrap().is_empty());
        }
    }
}

#[test]
fn one_direction_and_one_size_may_be_chosen() {
    let run = bulk(&["--get", "--sizes", "4KiB"], &[4096]);
    let series = of_kind(&run, "series");
    assert_eq!(series.len(), 1);
    assert_eq!(series[0]["name"], "bulk_get");
    assert!(of_kind(&run, "logp").is_empty(), "no signatures were to be measured");
}

/// The lengths of a run's signatures.
fn lengths(run: &Value) -> Vec<u64> {
    of_kind(run, "logp").iter().map(|logp| logp["bytes"].as_u64().unwrap()).collect()
}

/// Runs with growing budgets until there is a signature of every one of `expected`; the folder of
/// the run's files, and the run.
fn surface(place: &Place, args: &[&str], expected: &[u64]) -> (String, Value) {
    let _alone = measuring();
    let mut told = Vec::new();
    for budget in ["2s", "6s", "15s", "30s"] {
        let fixed = ["bulk", "--json", "run.json", "--time-budget", budget, "--out", budget];
        let finished = place.run(fixed.iter().chain(args)).measured();
        let run = std::fs::read_to_string(place.path("run.json")).unwrap();
        let run: Value = serde_json::from_str(&run).unwrap();
        if lengths(&run) == expected {
            assert!(finished.stdout.contains("LogP signature of "), "{}", finished.stdout);
            return (budget.to_owned(), run);
        }
        // What is missing is said.
        assert!(finished.stderr.contains("too little was measured"), "{finished:?}");
        told.push((lengths(&run), finished.stderr));
    }
    panic!("signatures are missing: {told:#?}");
}

#[test]
fn the_surface_is_a_signature_for_each_length() {
    let place = Place::new();
    let (folder, run) = surface(&place, &["--store", "--sizes", "0:1KiB"], &[0, 64, 1024]);
    for logp in of_kind(&run, "logp") {
        assert_eq!(logp["name"], "bulk_store_signature");
        assert_eq!((&logp["operation"], &logp["transport"]), (&"store".into(), &"shm".into()));
        for name in ["send_overhead", "recv_overhead", "gap", "rtt", "idle"] {
            assert_eq!(logp["parameters"][name]["unit"], "s", "{name}");
            value(&logp["parameters"][name]);
        }
        is_regime(&logp["regime"]);
        let points = logp["points"].as_array().unwrap();
        let of = |measure: &str| points.iter().filter(|p| p["measure"] == measure).count();
        assert_eq!(of("rtt"), 1);
        assert!(of("issue") > 10, "{}", of("issue"));
        // L(n) = RTT(n) − os − or − RTT(0)/2; of no bytes RTT/2 − os − or.
        let estimator = logp["parameters"]["latency"]["estimator"].as_str();
        let expected = if logp["bytes"] == 0 {
            "RTT/2 − os − or"
        } else {
            "RTT − os − or − RTT(0)/2"
        };
        assert!(estimator.is_none_or(|estimator| estimator == expected), "{estimator:?}");
    }
    let read = |name: &str| {
        std::fs::read_to_string(place.path(&folder).join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    // One table and one picture of all lengths, samples of each; nothing of small messages.
    let table = read("surface.csv");
    assert!(table.starts_with("operation,bytes,transport,"), "{table}");
    for bytes in [0, 64, 1024] {
        assert!(table.contains(&format!("\nstore,{bytes},shm,")), "{bytes}");
        let samples = read(&format!("samples-bulk_store_signature-{bytes}.csv"));
        let rows = bandgap_import::read_logp_table(samples.as_bytes()).unwrap();
        assert!(rows.iter().any(|row| row.delay_ns > 0.0), "{bytes}");
    }
    let picture = read("surface.svg");
    assert_eq!(picture.matches("<svg ").count(), 1);
    for length in ["0 B", "64 B", "1 KiB"] {
        assert!(picture.contains(&format!(">{length}<")), "{length}");
    }
    assert!(!place.path(&folder).join("signature.csv").exists());
    assert!(read("samples.csv").starts_with("bytes,time_ns"));
}

#[test]
fn gets_have_a_surface_when_asked_for() {
    let place = Place::new();
    let (_, run) = surface(&place, &["--get", "--sizes", "200"], &[0, 200]);
    let names: Vec<&Value> = of_kind(&run, "logp").iter().map(|logp| &logp["name"]).collect();
    assert_eq!(names, ["bulk_get_signature"; 2]);
}

#[test]
fn sizes_that_are_none_are_refused() {
    let place = Place::new();
    for (sizes, told) in [
        ("1MiB:1KiB", "it ends before it begins"),
        ("0:2GiB", "1 GiB is the longest"),
        ("0:4M", "M"),
        ("-1:4", "size"),
    ] {
        let argument = format!("--sizes={sizes}");
        let finished = place.run(["bulk", &argument]);
        assert_eq!(finished.code, Some(2), "{sizes}: {}", finished.stderr);
        assert!(finished.stderr.contains(told), "{sizes}: {}", finished.stderr);
    }
    assert_eq!(place.names(), Vec::<String>::new());
}
