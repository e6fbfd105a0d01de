use std::time::{Duration, UNIX_EPOCH};

use bandgap_units::{Ns, Rate};

use super::*;
use crate::*;

fn time(value: f64, low: f64, high: f64) -> Quantity {
    let evidence = Evidence::new("median of batch medians", 100, true);
    Quantity::time(Ns(value), Some((Ns(low), Ns(high))), evidence).unwrap()
}

fn number(value: f64) -> Quantity {
    Quantity::number(value, None, Evidence::new("fit", 10, false)).unwrap()
}

fn parameters() -> Parameters {
    Parameters {
        send_overhead: Some(time(2.05, 1.98, 2.11)),
        recv_overhead: Some(time(58.2, 56.0, 60.1)),
        gap: Some(time(27.1, 26.4, 27.9)),
        latency: Some(time(-0.35, -2.0, 1.5)),
        rtt: Some(time(119.8, 118.0, 121.0)),
        idle: None,
        capacity: Some(number(64.0)),
    }
}

fn state(label: &str, share: f64) -> State {
    State {
        label: label.into(),
        probe: Some(time(52.0, 50.0, 54.0)),
        pace: None,
        share: Number(share),
    }
}

/// A signature with every field filled, and one point with three batches.
pub(crate) fn small_logp() -> Logp {
    let seconds = |ns: f64| Seconds::from(Ns(ns));
    let batch = |samples: &[f64], state: &str, rejected: Option<&str>| Batch {
        samples: samples.iter().copied().map(seconds).collect(),
        state: state.into(),
        probe: Some([seconds(52.0), seconds(53.0)]),
        pace: None,
        launch: 0,
        delay: None,
        rejected: rejected.map(str::to_owned),
    };
    let elapsed = time(1742.0, 1734.0, 1750.0);
    Logp {
        name: "signature".into(),
        operation: None,
        bytes: None,
        transport: "shm".into(),
        ranks: 2,
        pattern: Pattern::OneToOne,
        pair: Some([0, 1]),
        cores: Some([0, 1]),
        distance: Some("same package".into()),
        launches: 3,
        state: state("N", 0.86),
        parameters: parameters(),
        regime: Regime::NetworkBound,
        transition: Some(Transition { messages: Number(58.4), cause: Cause::FirstReplies }),
        arm: Some(Arm { slope: number(1.02), from_delay: seconds(60.0), holds: true }),
        floor_ratios: vec![FloorRatio { name: "rtt/2 over slot_ring".into(), ratio: Number(0.79) }],
        points: vec![Point {
            measure: Measure::Issue,
            messages: 64,
            delay: seconds(0.0),
            cost: time(27.22, 27.1, 27.35),
            elapsed: elapsed.clone(),
            batches: vec![
                batch(&[1734.0, 1750.25], "N", None),
                batch(&[9000.0], "N", Some("straddles a change of state")),
                batch(&[5100.0], "F", None),
            ],
            converged: true,
            summary: Summary {
                mean: seconds(1742.125),
                median: elapsed,
                min: seconds(1734.0),
                p90: seconds(1750.25),
                p99: seconds(1750.25),
                p999: seconds(1750.25),
                max: seconds(1750.25),
                samples: 2,
            },
        }],
        lines: vec![Line {
            name: "gap".into(),
            delay: seconds(0.0),
            intercept: time(-90.0, -95.0, -85.0),
            slope: time(27.1, 26.4, 27.9),
            from: 256,
            to: 4096,
        }],
        other_states: vec![OtherState {
            state: state("F", 0.14),
            parameters: Parameters::default(),
            regime: Regime::ProcessorBound,
        }],
        findings: vec!["L is negative: the overheads overlap the transfer.".into()],
    }
}

/// A series of two points with three batches each.
pub(crate) fn small_series() -> Series {
    let seconds = |ns: f64| Seconds::from(Ns(ns));
    let batch = |samples: &[f64], state: &str, rejected: Option<&str>| Batch {
        samples: samples.iter().copied().map(seconds).collect(),
        state: state.into(),
        probe: None,
        pace: None,
        launch: 0,
        delay: None,
        rejected: rejected.map(str::to_owned),
    };
    let point = |bytes: u64, value: f64, low: f64, high: f64, samples: &[f64]| SeriesPoint {
        bytes,
        ranks: 2,
        distance: Some("same package".into()),
        time: time(value, low, high),
        bandwidth: (bytes > 0).then(|| {
            let rate = Rate(bytes as f64 * 1e9 / value);
            Quantity::rate(rate, None, Evidence::new("n/t(n)", 100, true)).unwrap()
        }),
        rate: None,
        send_overhead: (bytes > 0).then(|| time(40.0, 39.0, 41.0)),
        gap: None,
        overlap: None,
        state: "N".into(),
        converged: true,
        summary: Summary {
            mean: seconds(value),
            median: time(value, low, high),
            min: seconds(samples[0]),
            p90: seconds(samples[1]),
            p99: seconds(samples[1]),
            p999: seconds(samples[1]),
            max: seconds(samples[1]),
            samples: 2,
        },
        batches: vec![
            batch(samples, "N", None),
            batch(&[9000.0], "N", Some("straddles a change of state")),
            batch(&[5100.0], "F", None),
        ],
    };
    Series {
        name: "comms1".into(),
        transport: "shm".into(),
        ranks: 2,
        pair: Some([0, 1]),
        cores: Some([0, 1]),
        launches: 1,
        verified: true,
        state: state("N", 0.86),
        points: vec![
            point(0, 150.0, 148.0, 152.0, &[149.0, 151.0]),
            point(4096, 512.0, 500.0, 520.0, &[511.0, 513.25]),
        ],
        findings: vec![],
    }
}

/// A fit with two segments, the first of them with what it could not find.
fn small_hockney() -> Hockney {
    let evidence = || Evidence::new("relative least squares", 9, true);
    let segment = |from_bytes, to_bytes, found: bool| Segment {
        from_bytes,
        to_bytes,
        points: 5,
        r_inf: found.then(|| Quantity::rate(Rate(1e10), None, evidence()).unwrap()),
        n_half: found.then(|| Quantity::bytes(1500.5, Some((1400.0, 1600.0)), evidence()).unwrap()),
        t0: Some(time(150.0, 148.0, 152.0)),
        pi0: Some(Quantity::per_second(6.7e6, None, evidence()).unwrap()),
        r_squared: found.then_some(Number(0.999)),
        residuals: found.then_some(Residuals {
            rms_relative: Number(0.01),
            worst_relative: Number(-0.03),
            worst_bytes: 64,
        }),
        line: found.then(|| SegmentLine {
            intercept: Seconds::from(Ns(150.0)),
            per_byte: Seconds::from(Ns(0.1)),
        }),
    };
    Hockney {
        name: "comms1".into(),
        transport: "shm".into(),
        ranks: None,
        distance: None,
        weighting: Weighting::Relative,
        segments: vec![segment(0, 64, false), segment(128, 65536, true)],
        breakpoints: vec![Breakpoint {
            bytes: Number(96.0),
            low: Some(Number(64.0)),
            high: Some(Number(128.0)),
        }],
        findings: vec!["n½ lies outside the measured sizes.".into()],
    }
}

fn run(results: Vec<Outcome>) -> Run {
    Run {
        bandgap: Bandgap { version: "0.1.0".into(), revision: Some("0123abc".into()) },
        command: ["bandgap", "signature"].map(str::to_owned).into(),
        started: timestamp(UNIX_EPOCH + Duration::from_secs(1_792_000_000)),
        seed: u64::MAX,
        interrupted: true,
        host: serde_json::json!({"cpu": "some", "cores": [0, 1]}),
        plan: serde_json::json!({"precision": 0.05}),
        results,
        warnings: vec!["the governor is powersave".into()],
    }
}

fn every_kind() -> Vec<Outcome> {
    let rate = Quantity::rate(Rate(3.97e9), None, Evidence::new("median", 7, true)).unwrap();
    let floor = |name: &str, value| Floor {
        name: name.into(),
        value,
        state: Some("N".into()),
        samples: vec![Number(5.2e-8), Number(0.1 + 0.2)],
    };
    vec![
        Outcome::Logp(Box::new(small_logp())),
        Outcome::RttPairs(RttPairs {
            transport: "shm".into(),
            pairs: vec![Pair {
                requester: 0,
                replier: 1,
                distance: None,
                rtt: time(119.8, 118.0, 121.0),
            }],
            minimum: time(119.8, 118.0, 121.0),
            maximum: time(119.8, 118.0, 121.0),
        }),
        Outcome::Contention(Contention {
            pattern: Pattern::FanIn,
            transport: "shm".into(),
            rows: vec![ContentionRow {
                requesters: 3,
                gap: time(81.0, 80.0, 82.0),
                ratio: number(2.99),
            }],
        }),
        Outcome::Floor(floor("cache_line", FloorValue::Time(time(52.0, 50.0, 54.0)))),
        Outcome::Floor(floor("tcp_stream", FloorValue::Rate(rate))),
        Outcome::Noise(Noise {
            cores: vec![CoreNoise {
                core: 1,
                quantum: Seconds::from(Ns(10_000.0)),
                samples: 100_000,
                median: Seconds::from(Ns(10_001.0)),
                mean: Seconds::from(Ns(10_004.0)),
                p99: Seconds::from(Ns(10_050.0)),
                p999: Seconds::from(Ns(12_000.0)),
                max: Seconds::from(Ns(41_000.0)),
                threshold: Seconds::from(Ns(100.0)),
                detours_per_second: Number(250.0),
                time_lost: Number(0.0004),
            }],
        }),
        Outcome::Series(Box::new(small_series())),
        Outcome::Hockney(Box::new(small_hockney())),
        Outcome::Other(serde_json::json!({"kind": "breakdown", "components": [1.5]})),
    ]
}

#[test]
fn every_field_comes_back() {
    let run = run(every_kind());
    assert_eq!(Run::from_json(run.to_json().unwrap().as_bytes()).unwrap(), run);
}

#[test]
fn signatures_of_transfers_say_of_what() {
    let of_transfers =
        Logp { operation: Some(Operation::Store), bytes: Some(1024), ..small_logp() };
    let run = run([small_logp(), of_transfers].map(|logp| Outcome::Logp(Box::new(logp))).into());
    let json = run.to_json().unwrap();
    let value: Value = serde_json::from_str(&json).unwrap();
    let of = |index: usize, name: &str| value["results"][index].get(name).cloned();
    assert_eq!((of(0, "operation"), of(0, "bytes")), (None, None));
    assert_eq!(of(1, "operation"), Some("store".into()));
    assert_eq!((of(1, "bytes"), of(1, "kind")), (Some(1024.into()), Some("logp".into())));
    assert_eq!(Run::from_json(json.as_bytes()).unwrap(), run);
}

#[test]
fn the_file_looks_as_documented() {
    let mut results = every_kind();
    results.drain(1..3);
    results.truncate(2);
    insta::assert_snapshot!(run(results).to_json().unwrap());
}

#[test]
fn kinds_and_names_are_the_documented_ones() {
    let json = run(every_kind()).to_json().unwrap();
    let value: Value = serde_json::from_str(&json).unwrap();
    let kinds: Vec<_> = value["results"].as_array().unwrap().iter().map(|r| &r["kind"]).collect();
    assert_eq!(
        kinds,
        [
            "logp",
            "rtt_pairs",
            "contention",
            "floor",
            "floor",
            "noise",
            "series",
            "hockney",
            "breakdown"
        ]
    );
    assert_eq!(value["results"][0]["regime"], "network-bound");
    assert_eq!(value["results"][0]["pattern"], "one-to-one");
    assert_eq!(value["results"][3]["time"]["unit"], "s");
    assert_eq!(value["results"][4]["rate"]["unit"], "B/s");
    let point = &value["results"][6]["points"][1];
    assert_eq!((&point["bytes"], &point["ranks"]), (&4096.into(), &2.into()));
    assert_eq!((&point["time"]["unit"], &point["distance"]), (&"s".into(), &"same package".into()));
    assert_eq!(point["bandwidth"]["unit"], "B/s");
    // What a point does not have is not there; what a fit did not find is null.
    assert_eq!(value["results"][6]["points"][0].get("bandwidth"), None);
    let fit = &value["results"][7];
    assert_eq!(
        (&fit["weighting"], &fit["segments"][0]["r_inf"]),
        (&"relative".into(), &Value::Null)
    );
    let units = ["r_inf", "n_half", "t0", "pi0"].map(|name| &fit["segments"][1][name]["unit"]);
    assert_eq!(units, ["B/s", "B", "s", "1/s"]);
    assert_eq!(fit["breakpoints"][0]["high"], 128.0);
}

#[test]
fn unknown_fields_are_ignored() {
    let json = run(every_kind()).to_json().unwrap();
    let mut value: Value = serde_json::from_str(&json).unwrap();
    value["cluster"] = "new".into();
    value["results"][0]["colour"] = "new".into();
    value["results"][0]["points"][0]["cost"]["colour"] = "new".into();
    value["results"][3]["colour"] = "new".into();
    assert_eq!(Run::from_json(value.to_string().as_bytes()).unwrap(), run(every_kind()));
}

#[test]
fn other_files_are_refused_with_the_reason() {
    let message = |text: &str| Run::from_json(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(
        message(r#"{"format":"bandgap-run","version":7,"results":"moved"}"#),
        "read a run: the file has format version 7, this bandgap reads up to 1 (use a newer bandgap)"
    );
    assert_eq!(message("{}"), "read a run: the file's \"format\" is missing, not \"bandgap-run\"");
    assert_eq!(
        message(r#"{"format":"perf","version":1}"#),
        "read a run: the file's \"format\" is \"perf\", not \"bandgap-run\""
    );
    assert_eq!(
        message(r#"{"format":"bandgap-run","version":"1"}"#),
        "read a run: the file's \"version\" is \"1\", not a format version"
    );
    assert!(message("{\"format\":").contains("line 1 column"));
    assert!(message(r#"{"format":"bandgap-run","version":1}"#).contains("missing field `bandgap`"));
    let mut broken: Value = serde_json::from_str(&run(every_kind()).to_json().unwrap()).unwrap();
    broken["results"][0]["points"][0]["messages"] = "many".into();
    assert!(message(&broken.to_string()).contains("result of kind logp: invalid type"));
}

#[test]
fn a_number_that_json_cannot_hold_is_not_written() {
    let mut logp = small_logp();
    logp.points[0].batches[0].samples[0] = Seconds(Number(f64::NAN));
    let error = run(vec![Outcome::Logp(Box::new(logp))]).to_json().unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(source, "NaN is not a finite number");
}

#[test]
fn a_directory_is_read_by_its_run_file() {
    let parent = tempfile::tempdir().unwrap();
    let directory = RunDir::create(&parent.path().join("run")).unwrap();
    let run = run(every_kind());
    let file = directory.write_run(&run).unwrap();
    assert_eq!(read(directory.path()).unwrap(), run);
    assert_eq!(read(&file).unwrap(), run);

    let missing = read(&parent.path().join("none")).unwrap_err().to_string();
    assert!(missing.starts_with("read ") && missing.ends_with("/none"), "{missing}");
    directory.write(RUN_FILE, b"{}").unwrap();
    let wrong = read(directory.path()).unwrap_err().to_string();
    assert!(wrong.starts_with("read a run: the file's \"format\" is missing"), "{wrong}");
    assert!(wrong.ends_with("run/run.json)"), "{wrong}");
}
