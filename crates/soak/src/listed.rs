//! Whether a run file has the batches that its results say they are of.
//!
//! A signature and a series list, with each point, all batches of it; a point none of whose batches counts is not there.
//! An overlap lists all that were timed for it. What no fit could be made of is itself a list. Other kinds list none.

use std::collections::BTreeMap;

use serde_json::Value;

/// The name of the state of a machine that shows but one.
const ONLY: &str = "only";

/// How many results lack batches that they say they have.
pub fn lacking(results: &[Value]) -> usize {
    results.iter().filter(|result| lacks(result)).count()
}

/// Whether the signatures and series over some transport together have fewer batches that count than their run had. Where it
/// also had round trips of all pairs, or bursts of transfers, that says nothing: these are listed nowhere.
pub fn lack_points(results: &[Value]) -> bool {
    let mut over = BTreeMap::<&str, (u64, u64)>::new();
    for result in results {
        let (counting, there) = over.entry(result["transport"].as_str().unwrap_or("")).or_default();
        match kind(result) {
            "logp" | "series" => {
                let own = &result["state"];
                *counting = without_floors(own, number(&own["batches"])).max(*counting);
                let points = list(&result["points"]).iter();
                *there += points.flat_map(|point| listed(point, &own["label"])).count() as u64;
            }
            "batches" => *there += list(&result["batches"]).len() as u64,
            _ => {}
        }
    }
    over.values().any(|(counting, there)| there < counting)
}

/// Whether a result lacks batches that it says it has.
fn lacks(result: &Value) -> bool {
    match kind(result) {
        "logp" | "series" => list(&result["points"]).iter().any(|point| {
            let samples = listed(point, state(result, point)).map(samples_of).sum::<u64>();
            samples < number(&point["summary"]["samples"])
        }),
        "overlap" => {
            let all = list(&result["batches"]).iter().flat_map(|of| list(&of["batches"]));
            let timed = all.filter(|batch| samples_of(batch) > 0).count() as u64;
            let state = &result["state"];
            let set_aside = state["set_aside"]["timed"].as_u64();
            timed < without_floors(state, set_aside.unwrap_or(number(&state["batches"])))
        }
        "batches" => {
            number(&result["checked"]["timed_batches"]) > 0 && list(&result["batches"]).is_empty()
        }
        _ => false,
    }
}

/// So many batches of a run without those of floors beside, which no result lists.
fn without_floors(state: &Value, batches: u64) -> u64 {
    batches.saturating_sub(number(&state["floor_batches"]))
}

/// The state that a point is seen from.
fn state<'a>(result: &'a Value, point: &'a Value) -> &'a Value {
    if kind(result) == "series" { &point["state"] } else { &result["state"]["label"] }
}

/// The batches of a point that count in a state; one that was not probed counts in each, and all count where none is told
/// from others.
fn listed<'a>(point: &'a Value, state: &'a Value) -> impl Iterator<Item = &'a Value> {
    let counts = move |batch: &&Value| {
        let is_here = batch["probe"].is_null() || *state == ONLY || batch["state"] == *state;
        batch["rejected"].is_null() && is_here
    };
    list(&point["batches"]).iter().filter(counts)
}

fn kind(result: &Value) -> &str {
    result["kind"].as_str().unwrap_or_default()
}

fn samples_of(batch: &Value) -> u64 {
    list(&batch["samples"]).len() as u64
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// How many results lack batches, and whether there are too few points, once `spoil` has changed a result.
    fn lacking_of(mut result: Value, spoil: fn(&mut Value)) -> (usize, bool) {
        spoil(&mut result);
        let results = [result];
        (lacking(&results), lack_points(&results))
    }

    fn points(result: &mut Value) -> &mut Vec<Value> {
        result["points"].as_array_mut().unwrap()
    }

    #[test]
    fn a_series_without_a_batch_or_a_point_is_noticed() {
        let batch = |state: &str| json!({"samples": [1e-6, 2e-6], "probe": [1, 1], "state": state});
        let unprobed = json!({"samples": [1e-6], "probe": null, "state": "unknown"});
        let rejected = json!({"samples": [1e-6], "probe": null, "state": "N", "rejected": "why"});
        let some = json!([batch("N"), batch("far"), unprobed, rejected, batch("N")]);
        let other = json!({"state": "N", "summary": {"samples": 2}, "batches": [batch("N")]});
        let series = json!({"kind": "series", "name": "comms1", "transport": "shm",
            "state": {"label": "N", "batches": 9, "floor_batches": 5},
            "points": [{"state": "N", "summary": {"samples": 5}, "batches": some}, other]});
        let of = |spoil| lacking_of(series.clone(), spoil);
        assert_eq!(of(|_| ()), (0, false));
        // One that does not count may be absent: nothing says how many there were.
        let other = |series: &mut Value| points(series)[0]["batches"][1] = json!({"rejected": ""});
        assert_eq!(of(other), (0, false));
        // Both the point and the run say that there were more.
        let one = |series: &mut Value| points(series)[0]["batches"][0] = json!({"rejected": ""});
        assert_eq!(of(one), (1, true));
        assert_eq!(of(|series| points(series)[1]["batches"] = json!([])), (1, true));
        let empty = |series: &mut Value| points(series)[1]["batches"][0]["samples"] = json!([]);
        assert_eq!(of(empty), (1, false));
        assert_eq!(of(|series| drop(points(series).pop())), (0, true));
        assert_eq!(of(|series| points(series).clear()), (0, true));
    }

    #[test]
    fn several_series_of_a_run_have_its_batches_together() {
        let series = |name: &str, batches: usize| {
            let batch = json!({"samples": [1e-6], "probe": null, "state": "only"});
            let of = vec![batch; batches];
            let point = json!({"state": "only", "summary": {"samples": batches}, "batches": of});
            json!({"kind": "series", "name": name, "transport": "tcp", "points": [point],
                "state": {"label": "only", "batches": 5}})
        };
        let unfitted = json!({"kind": "batches", "transport": "tcp", "batches": [{}]});
        assert!(!lack_points(&[series("a", 2), series("b", 3)]));
        assert!(lack_points(&[series("a", 2), series("b", 2)]));
        assert!(!lack_points(&[series("a", 2), series("b", 2), unfitted]));
        let elsewhere = Value::from_iter([("kind", "hockney"), ("transport", "shm")]);
        assert!(lack_points(&[series("a", 2), series("b", 2), elsewhere]));
    }

    #[test]
    fn an_overlap_has_all_that_was_timed_for_it() {
        let batch = json!({"samples": [1e-6], "probe": null, "state": "only"});
        let empty = json!({"samples": [], "probe": null, "state": "only", "rejected": "why"});
        let overlap = json!({"kind": "overlap", "transport": "shm",
            "state": {"label": "only", "batches": 1, "floor_batches": 1, "set_aside": {"timed": 4}},
            "batches": [{"mode": "blocking", "batches": [batch, empty]},
                {"mode": "exchange", "batches": [batch, batch]}]});
        let of = |spoil| lacking_of(overlap.clone(), spoil).0;
        assert_eq!(of(|_| ()), 0);
        assert_eq!(of(|overlap| overlap["batches"][0]["batches"] = json!([])), 1);
        assert_eq!(of(|overlap| overlap["batches"] = json!([])), 1);
        // Nothing was set aside.
        let all = |overlap: &mut Value| overlap["state"] = json!({"batches": 4});
        assert_eq!(of(all), 1);
    }

    #[test]
    fn what_no_fit_was_made_of_is_not_empty_if_something_was_timed() {
        let of = |timed: u64, list: Value| {
            let checked = json!({"timed_batches": timed});
            lacking(&[json!({"kind": "batches", "checked": checked, "batches": list})])
        };
        assert_eq!([of(3, json!([])), of(0, json!([])), of(3, json!([{}]))], [1, 0, 0]);
    }
}
