use std::time::{Duration, UNIX_EPOCH};

use bandgap_units::Ns;
use serde_json::json;

use super::*;
use crate::{ExperimentSetup, Library, MachineSetup, Number, Quantity, RunDir, Seconds, Unit};

/// A result as any kind may have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Thing {
    time: Quantity,
    samples: Vec<Seconds>,
}

fn thing(samples: &[f64]) -> Thing {
    let (interval, evidence) = (Some((2.64e-8, 2.79e-8)), ("median", 100, true));
    let time = Quantity::new(2.71e-8, interval, Unit::Second, evidence).unwrap();
    Thing { time, samples: samples.iter().map(|ns| Ns(*ns).into()).collect() }
}

fn run(results: Vec<Thing>) -> Run<Thing> {
    Run {
        bandgap: Bandgap { version: "0.1.0".into(), revision: Some("0123abc".into()) },
        command: ["bandgap", "signature"].map(str::to_owned).into(),
        started: timestamp(UNIX_EPOCH + Duration::from_secs(1_792_000_000)),
        elapsed: Number(1.5),
        seed: u64::MAX,
        interrupted: true,
        host: serde_json::json!({"cpu": "some", "cores": [0, 1]}),
        hosts: vec![serde_json::json!({"name": "a", "network": null})],
        plan: serde_json::json!({"precision": 0.05}),
        results,
        conditions: Vec::new(),
        notes: Vec::new(),
        setup: setup(),
    }
}

fn setup() -> Setup {
    let machine = MachineSetup { hosts: vec!["a".into()], cores: Some(2), ..Default::default() };
    let library = Library { name: "MPICH 4.0.2".into(), ..Default::default() };
    let of = ExperimentSetup {
        experiment: "series".into(),
        transport: "mpi".into(),
        sizes: vec![8, 64],
        library: Some(library),
        ..Default::default()
    };
    Setup { machine, of: vec![of] }
}

fn both() -> Run<Thing> {
    run(vec![thing(&[1734.0, 1750.25]), thing(&[0.1 + 0.2])])
}

#[test]
fn every_field_comes_back() {
    assert_eq!(Run::from_json(both().to_json().unwrap().as_bytes()).unwrap(), both());
}

#[test]
fn the_file_looks_as_documented() {
    insta::assert_snapshot!(both().to_json().unwrap());
}

#[test]
fn unknown_fields_are_ignored() {
    let mut value: Value = serde_json::from_str(&both().to_json().unwrap()).unwrap();
    value["cluster"] = "new".into();
    value["results"][0]["time"]["colour"] = "new".into();
    value["setup"]["of"][0]["shade"] = "new".into();
    assert_eq!(Run::from_json(value.to_string().as_bytes()).unwrap(), both());
}

#[test]
fn other_files_are_refused_with_the_reason() {
    let error = |text: &str| Run::<Thing>::from_json(text.as_bytes()).unwrap_err();
    for version in ["1", "3", "\"2\"", "null"] {
        let text = format!(r#"{{"format":"bandgap-run","version":{version},"results":"moved"}}"#);
        assert!(matches!(error(&text), RecordError::Version { found, own: 2 } if found == version));
    }
    for text in ["{}", r#"{"format":"perf","version":1}"#] {
        assert!(matches!(error(text), RecordError::WrongFormat(_)), "{text}");
    }
    for text in ["{\"format\":", r#"{"format":"bandgap-run","version":2}"#] {
        assert!(matches!(error(text), RecordError::Decode(_)), "{text}");
    }
    let mut broken: Value = serde_json::from_str(&both().to_json().unwrap()).unwrap();
    broken["results"][1]["samples"][0] = "many".into();
    assert!(matches!(error(&broken.to_string()), RecordError::Decode(_)));
}

#[test]
fn a_number_that_json_cannot_hold_is_not_written() {
    let mut run = both();
    run.results[0].samples[0] = Seconds(Number(f64::NAN));
    assert!(matches!(run.to_json(), Err(RecordError::Encode(_))));
}

#[test]
fn the_level_of_intervals_is_in_the_plan() {
    let of = |plan: Value| Run { plan, ..both() }.confidence();
    let deep =
        json!({"name": "bulk", "plan": {"steps": [1], "series": {"asked": {"confidence": 0.9}}}});
    assert_eq!(of(deep), Some(0.9));
    assert_eq!(of(json!({"plan": [{"confidence": 0.5}, {"confidence": 0.6}]})), Some(0.5));
    for none in [
        Value::Null,
        json!({"confidence": "high"}),
        json!({"confidence": 1}),
        json!({"plan": 0.95}),
    ] {
        assert_eq!(of(none.clone()), None, "{none}");
    }
}

#[test]
fn a_directory_is_read_by_its_run_file() {
    let parent = tempfile::tempdir().unwrap();
    let directory = RunDir::create(&parent.path().join("run")).unwrap();
    let file = directory.write(RUN_FILE, both().to_json().unwrap().as_bytes()).unwrap();
    assert_eq!(read::<Thing>(directory.path()).unwrap(), both());
    assert_eq!(read::<Thing>(&file).unwrap(), both());

    let missing = read::<Thing>(&parent.path().join("none")).unwrap_err();
    assert!(matches!(missing, RecordError::Io { path, .. } if path.ends_with("none")));
    directory.write(RUN_FILE, b"{}").unwrap();
    let wrong = read::<Thing>(directory.path()).unwrap_err();
    assert!(matches!(wrong, RecordError::InFile(path, _) if path.ends_with("run/run.json")));
}

#[test]
fn a_run_file_without_end_is_refused_before_it_fills_the_memory() {
    /// Counts what is taken from it.
    struct Endless(u64);

    impl Read for Endless {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            // A reader without a bound stops here, and not where it should.
            let count = if self.0 > 1 << 24 { 0 } else { bytes.len() };
            bytes[..count].fill(b' ');
            Ok(count)
        }
    }

    let mut endless = Endless(0);
    let error = whole(&mut endless, 1000).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    assert_eq!(endless.0, 1001);
    assert_eq!(whole(&[b' '; 1000][..], 1000).unwrap().len(), 1000);
    assert_eq!(LONGEST, 1 << 30, "as the message says");
}
