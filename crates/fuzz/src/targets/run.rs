//! Run files.

use bandgap_report::Layout;
use bandgap_results::logp::components::components;
use bandgap_results::{Outcome, Run, summary, text, verdict};
use serde_json::Value;

use crate::{Shape, Target, Verdict};

pub(super) const RUN: Target = Target {
    name: "run-file",
    about: "run.json, and what commands make of it",
    shape: Shape::Json,
    real: &[],
    made,
    wrong: Vec::new,
    words: &[
        "bandgap-run",
        "format",
        "version",
        "kind",
        "results",
        "logp",
        "breakdown",
        "value",
        "low",
        "high",
        "unit",
        "s",
        "B/s",
    ],
    read,
    share: 5,
};

/// The run of every kind of result that a test keeps, as a run of each.
fn made() -> Vec<Vec<u8>> {
    let kept = include_str!(
        "../../../results/src/list/snapshots/bandgap_results__list__tests__the_file_looks_as_documented.snap"
    );
    let json = kept.splitn(3, "---\n").nth(2).unwrap_or_default();
    let run: Value = serde_json::from_str(json).expect("the snapshot is a run");
    let results = run["results"].as_array().cloned().unwrap_or_default();
    let of = |result: &Value| {
        let mut alone = run.clone();
        alone["results"] = Value::Array(vec![result.clone()]);
        alone.to_string().into_bytes()
    };
    results.iter().map(of).collect()
}

fn read(input: &[u8]) -> Verdict {
    let read = Run::from_json(input);
    if let Ok(run) = &read {
        // A number that JSON cannot hold is refused on writing.
        if let Ok(written) = run.to_json() {
            let again =
                Run::from_json(written.as_bytes()).expect("what was read and written can be read");
            assert_eq!(again.to_json().ok(), Some(written));
        }
        let layout = Layout::default();
        let _ =
            (text(&run.results, &layout), summary(&run.results, &layout), verdict(&run.results));
        // Whatever is wrong in it, it is said.
        let _ = components(&run.results, None, run.confidence());
        for outcome in &run.results {
            if let Outcome::Breakdown(breakdown) = outcome {
                let _ = breakdown.table();
            }
        }
    }
    Verdict::from(&read)
}
