use std::collections::BTreeSet;

use bandgap_record::{Bandgap, timestamp};
use bandgap_report::Layout;
use serde_json::Value;

use super::*;
use crate::kind::{Among, Shown};
use crate::run::Run;

fn run(results: Vec<Outcome>) -> Run {
    Run {
        bandgap: Bandgap { version: "0.1.0".into(), revision: None },
        command: vec!["bandgap".into()],
        started: timestamp(std::time::UNIX_EPOCH),
        seed: 1,
        interrupted: false,
        host: Value::Null,
        plan: Value::Null,
        results,
        warnings: vec![],
    }
}

fn kind(outcome: &Outcome) -> String {
    serde_json::to_value(outcome).unwrap()["kind"].as_str().unwrap().to_owned()
}

fn read(json: &str) -> Result<Run, String> {
    Run::from_json(json.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn every_kind_comes_back_as_it_was() {
    let all = run(Outcome::samples());
    let json = all.to_json().unwrap();
    assert_eq!(read(&json).unwrap(), all);
}

#[test]
fn every_kind_shows_itself() {
    let all = Outcome::samples();
    let mut names = BTreeSet::new();
    for outcome in &all {
        let shown = outcome.as_shown();
        let among = Among::new([shown]);
        let kind = kind(outcome);
        for width in [60, 100, 132] {
            let text = shown.text(&among, &Layout { width, ..Layout::default() });
            assert!(text.trim().len() > 10, "{kind} shows nothing");
            let wide = text.lines().find(|line| line.chars().count() > usize::from(width));
            // The names of floors and layers stay whole.
            assert!(wide.is_none() || width < 80, "{kind}: {wide:?}");
        }
        let quantities = shown.quantities();
        let unestimated = ["noise", "batches", "verification"];
        assert_eq!(quantities.is_empty(), unestimated.contains(&&*kind), "{kind}");
        for (name, _) in quantities {
            assert!(names.insert(name.clone()), "two quantities are called {name}");
        }
        let drawn = ["logp", "series", "hops", "overlap", "whatif", "pcie_trace"].contains(&&*kind);
        assert_eq!(!shown.figures(&among).is_empty(), drawn, "{kind}");
        // Bars are no curves over two axes.
        let filed = drawn || kind == "breakdown";
        assert_eq!(!shown.files(&among).unwrap().is_empty(), filed, "{kind}");
        for file in shown.files(&among).unwrap() {
            assert!(!file.contents.is_empty() && is_plain(&file.name), "{}", file.name);
        }
        // What is recorded as findings is said.
        let sentences = shown.findings();
        assert!(sentences.iter().all(|sentence| !sentence.is_empty()), "{kind}");
        let recorded = serde_json::to_value(outcome).unwrap()["findings"].take();
        let recorded: Vec<String> = serde_json::from_value(recorded).unwrap_or_default();
        assert_eq!(sentences, recorded, "{kind}");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = words(&shown.text(&among, &Layout::default()));
        for sentence in sentences {
            assert!(text.contains(&words(sentence)), "{kind} does not say {sentence}");
        }
    }
}

/// Whether a file lies in the run's directory, or in its folder for gnuplot.
fn is_plain(name: &str) -> bool {
    !name.strip_prefix("gnuplot/").unwrap_or(name).contains('/')
}

#[test]
fn every_kind_is_documented() {
    let format = include_str!("../../../../docs/run-format.md");
    let kinds = format.split("\n### ").find(|section| section.starts_with("Kinds of result\n"));
    let kinds = kinds.unwrap();
    for name in Outcome::samples().iter().map(kind) {
        let row = format!("\n| `{name}` | ");
        assert!(kinds.contains(&row), "docs/run-format.md does not say what {name} is");
        let fields = [format!("### Kind `{name}`"), format!("| `{name}` | `")];
        assert!(fields.iter().any(|fields| format.contains(fields)), "no fields of {name}");
    }
}

#[test]
fn results_of_unknown_kinds_are_kept_byte_for_byte() {
    let raw = r#"{ "kind":"dilution",  "components" : [1.50, 1e400, {"x":null}] }"#;
    let json = run(vec![]).to_json().unwrap().replace("[]", &format!("[{raw}]"));
    let json = json.replace("\"command\": [\"bandgap\"]", "\"command\": []");
    let json = json.replace(&format!("\"warnings\": [{raw}]"), "\"warnings\": []");
    let kept = read(&json).unwrap();
    let [Outcome::Unknown(unknown)] = &kept.results[..] else { panic!("{:?}", kept.results) };
    assert_eq!((unknown.kind.as_str(), unknown.raw.get()), ("dilution", raw));
    assert!(kept.to_json().unwrap().contains(raw));
    let text = unknown.text(&Among::new([]), &Layout::default());
    assert!(text.contains("dilution"), "{text}");
}

#[test]
fn a_broken_result_of_a_known_kind_is_an_error_with_its_place() {
    let whole: Value = serde_json::from_str(&run(Outcome::samples()).to_json().unwrap()).unwrap();
    for (index, kind) in Outcome::samples().iter().map(kind).enumerate() {
        let mut broken = whole.clone();
        let fields = broken["results"][index].as_object_mut().unwrap();
        let name = fields.keys().find(|name| *name != "kind" && *name != "name").unwrap().clone();
        fields.insert(name, Value::from(-1.5));
        let error = read(&broken.to_string()).unwrap_err();
        assert!(error.contains(&format!("results[{index}]: of kind {kind}: invalid")), "{error}");
    }
    let mut broken = whole;
    broken["results"][2].as_object_mut().unwrap().remove("kind");
    let error = read(&broken.to_string()).unwrap_err();
    assert!(error.contains("results[2]: missing field `kind`"), "{error}");
}

#[test]
fn fields_of_later_versions_are_ignored() {
    let all = run(Outcome::samples());
    let mut value: Value = serde_json::from_str(&all.to_json().unwrap()).unwrap();
    for result in value["results"].as_array_mut().unwrap() {
        result["colour"] = "new".into();
    }
    assert_eq!(read(&value.to_string()).unwrap(), all);
}

#[test]
fn the_file_looks_as_documented() {
    insta::assert_snapshot!(run(Outcome::samples()).to_json().unwrap());
}

#[test]
fn results_that_belong_together_are_printed_once() {
    let all: Vec<Outcome> = Outcome::samples().into_iter().chain(Outcome::samples()).collect();
    let text = crate::run::text(&all, &Layout { width: 100, ..Layout::default() });
    // Both fits stand in one table, and so do both floors and both layers over theirs.
    assert_eq!(text.matches("t(n) = (n + n½)/r∞").count(), 1, "{text}");
    assert_eq!(text.matches("one store seen by the other core").count(), 2, "{text}");
    assert_eq!(text.matches("over its floor").count(), 1, "{text}");
    assert_eq!(text.matches("LogP signature over").count(), 4, "{text}");
}
