//! Stores and gets, measured for so short a time that only the form of what comes out is looked at.

use serde_json::Value;

use crate::subject::{Place, measuring, of_kind, value};

/// Runs with growing budgets until every size was measured in one state of the machine.
fn bulk(args: &[&str], sizes: &[u64]) -> Value {
    let _alone = measuring();
    let place = Place::new();
    let mut told = Vec::new();
    for budget in ["300ms", "1s", "3s", "8s"] {
        let fixed = ["bulk", "--no-save", "--json", "-", "--time-budget", budget];
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
            let bytes = point["bytes"].as_f64().unwrap();
            match point.get("bandwidth").filter(|bandwidth| !bandwidth.is_null()) {
                Some(bandwidth) => {
                    let expected = bytes / time;
                    assert!((value(bandwidth) / expected - 1.0).abs() < 1e-9, "{point}");
                    assert_eq!(bandwidth["unit"], "B/s");
                }
                None => assert_eq!(bytes, 0.0, "{point}"),
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
}

#[test]
fn sizes_that_are_none_are_refused() {
    let place = Place::new();
    for (sizes, told) in [
        ("1MiB:1KiB", "it ends before it begins"),
        ("0:8MiB", "4 MiB is the longest"),
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
