//! What a run directory holds, as its readers see it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bandgap_record::{RUN_FILE, read};
use bandgap_results::Run;
use serde_json::Value;

use crate::listed::{lack_points, lacking};

/// What is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Results.
    pub results: usize,
    /// Batches that these are of, as far as the run file says: set aside or not.
    pub batches: u64,
    /// Results that do not list the batches that they say they are of.
    pub lacking: usize,
    /// Whether results list fewer batches that count than there were: where a run lists all of them.
    pub lacks_points: bool,
    /// Messages that were to be compared and were not, in batches that compare every message.
    pub unchecked: u64,
    /// Messages that were compared.
    pub compared: u64,
    /// Points that had no batch that compares every message.
    pub left_out: u64,
    /// Whether the run says that it ended early.
    pub interrupted: bool,
}

/// Reads a run directory; `None` where it has no run file.
///
/// # Errors
/// The run file cannot be read: what is measured is lost.
pub fn kept(directory: &Path) -> Result<Option<Kept>, String> {
    let path = directory.join(RUN_FILE);
    if !path.exists() {
        return Ok(None);
    }
    // The reader that every command uses.
    let run: Run = read(directory).map_err(|error| error.to_string())?;
    let text = fs::read(&path).map_err(|error| error.to_string())?;
    let raw: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let results = raw["results"].as_array().map_or(&[][..], Vec::as_slice);
    let mut batches = BTreeMap::new();
    let (mut unchecked, mut compared, mut left_out) = (0, 0, 0);
    for result in results {
        // All results over a transport are of the same batches.
        let over = result["transport"].as_str().unwrap_or_default();
        let most: &mut u64 = batches.entry(over).or_default();
        *most = (*most).max(batches_of(result));
        let checked = &result["checked"];
        let number = |name: &str| checked[name].as_u64().unwrap_or(0);
        unchecked += number("messages").saturating_sub(number("compared"));
        compared += number("compared");
        left_out += number("points_left_out");
    }
    let batches = batches.values().sum();
    Ok(Some(Kept {
        results: run.results.len(),
        batches,
        lacking: lacking(results),
        lacks_points: lack_points(results),
        unchecked,
        compared,
        left_out,
        interrupted: run.interrupted,
    }))
}

/// The batches that a result is made of, with those set aside.
fn batches_of(result: &Value) -> u64 {
    let state = &result["state"];
    let timed = state["set_aside"]["timed"].as_u64();
    let timed = timed.or_else(|| state["batches"].as_u64());
    let listed = (result["kind"] == "batches").then(|| result["batches"].as_array()).flatten();
    timed.unwrap_or(0).max(listed.map_or(0, |list| list.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(results: &str) -> Result<Option<Kept>, String> {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            r#"{{"format": "bandgap-run", "version": 1, "bandgap": {{"version": "0", "revision": null}},
            "command": [], "started": "", "seed": 1, "interrupted": true, "results": [{results}]}}"#
        );
        fs::write(folder.path().join(RUN_FILE), text).unwrap();
        kept(folder.path())
    }

    #[test]
    fn batches_are_counted_over_transports_and_once_over_results_of_one() {
        let series = |over, batches| {
            format!(
                r#"{{"kind": "new", "transport": "{over}", "state": {{"batches": {batches}}}}}"#
            )
        };
        let many = r#"{"kind": "new", "transport": "shm",
            "checked": {"messages": 9, "compared": 8, "points_left_out": 3},
            "state": {"batches": 2, "set_aside": {"timed": 50}}}"#;
        let results = [series("shm", 30), many.to_owned(), series("tcp", 7)].join(",");
        let found = of(&results).unwrap().unwrap();
        let expected = Kept {
            results: 3,
            batches: 57,
            lacking: 0,
            lacks_points: false,
            unchecked: 1,
            compared: 8,
            left_out: 3,
            interrupted: true,
        };
        assert_eq!(found, expected);
        let listed = r#"{"kind": "batches", "transport": "shm", "reason": "", "unit": "ns",
            "batches": []}"#;
        assert_eq!(of(listed).unwrap().unwrap().batches, 0);
    }

    #[test]
    fn half_a_run_file_is_an_error_and_none_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(kept(folder.path()), Ok(None));
        fs::write(folder.path().join(RUN_FILE), "{\"format\": \"bandgap-r").unwrap();
        assert!(kept(folder.path()).is_err());
    }

    /// The runs in the documentation have been measured, and say of how many batches. They list these.
    #[test]
    fn stored_runs_are_counted() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/runs/shm"));
        let found = kept(root).unwrap().unwrap();
        assert!(found.batches > 100 && found.results > 0 && !found.interrupted, "{found:?}");
        assert!(found.lacking == 0 && !found.lacks_points, "{found:?}");
        assert!(found.compared > 0 && found.unchecked == 0, "{found:?}");
        // The same without its batches, which still says how many there were.
        let text = fs::read(root.join(RUN_FILE)).unwrap();
        let mut raw: Value = serde_json::from_slice(&text).unwrap();
        for point in raw["results"][0]["points"].as_array_mut().unwrap() {
            point["batches"] = Value::Array(Vec::new());
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(RUN_FILE), raw.to_string()).unwrap();
        let emptied = kept(folder.path()).unwrap().unwrap();
        assert_eq!(emptied, Kept { lacking: 1, lacks_points: true, ..found });
    }
}
