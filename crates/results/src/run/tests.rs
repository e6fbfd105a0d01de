use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bandgap_record::{RunDir, read};
use serde_json::Value;

use super::*;

/// The folders of the runs in the documentation.
fn stored() -> Vec<PathBuf> {
    let runs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/runs"));
    std::fs::read_dir(runs).unwrap().map(|folder| folder.unwrap().path()).collect()
}

/// The tables and pictures in the documentation are those of the runs stored beside them.
#[test]
fn every_stored_file_is_that_of_its_stored_run() {
    let fresh = tempfile::tempdir().unwrap();
    let mut pictures = 0;
    for folder in stored() {
        let run: Run = read(&folder).unwrap();
        let written = RunDir::create(&fresh.path().join(folder.file_name().unwrap())).unwrap();
        write_all(&written, &run, false).unwrap();
        for file in std::fs::read_dir(&folder).unwrap() {
            let name = file.unwrap().file_name();
            let [stored, drawn] = [&*folder, written.path()]
                .map(|place| std::fs::read_to_string(place.join(&name)).unwrap());
            assert!(stored == drawn, "{}/{name:?} is another file", folder.display());
            pictures += usize::from(name.to_str().unwrap().ends_with(".svg"));
        }
    }
    assert!(pictures > 0, "no stored run has a picture");
}

/// What the guide says was compared is what the stored run of shared memory says.
#[test]
fn the_guide_quotes_what_the_stored_run_says_was_compared() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let run: Run = read(&root.join("docs/runs/shm")).unwrap();
    let of_signature = run.results.iter().find_map(|result| match result {
        Outcome::Verification(found) if found.name == "signature" => Some(&found.checked),
        _ => None,
    });
    let said = words(&of_signature.unwrap().sentence());
    let guide = words(&std::fs::read_to_string(root.join("GUIDE.md")).unwrap());
    assert!(guide.contains(&said), "GUIDE.md has another sentence than the run: {said}");
}

#[test]
fn no_two_quantities_of_a_run_have_one_name() {
    for folder in stored() {
        let run: Run = read(&folder).unwrap();
        let quantities = run.results.iter().flat_map(|result| result.as_shown().quantities());
        let names: Vec<String> = quantities.map(|(name, _)| name).collect();
        let distinct: BTreeSet<&String> = names.iter().collect();
        assert!(!names.is_empty() && distinct.len() == names.len(), "{names:#?}");
    }
}

/// The numbers of this name in a run's plan.
fn asked(plan: &Value, name: &str) -> Option<f64> {
    match plan {
        Value::Object(fields) => fields
            .get(name)
            .and_then(Value::as_f64)
            .or_else(|| fields.values().find_map(|value| asked(value, name))),
        _ => None,
    }
}

/// Calls `see` with every quantity that has an interval, and the field it is in.
fn quantities<'a>(value: &'a Value, name: &'a str, see: &mut dyn FnMut(&'a str, &'a Value)) {
    match value {
        Value::Object(fields) if fields.contains_key("converged") && value["low"].is_f64() => {
            see(name, value);
        }
        Value::Object(fields) => fields.iter().for_each(|(name, of)| quantities(of, name, see)),
        Value::Array(all) => all.iter().for_each(|of| quantities(of, name, see)),
        _ => {}
    }
}

/// The README's rule, applied to the numbers as they stand in the file.
#[test]
fn what_a_stored_run_calls_converged_is_as_narrow_as_the_readme_says() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for folder in stored() {
        let text = std::fs::read_to_string(folder.join("run.json")).unwrap();
        let run: Value = serde_json::from_str(&text).unwrap();
        let [precision, stamp] =
            ["precision", "stamp"].map(|name| asked(&run["plan"], name).unwrap());
        assert_eq!(precision, 0.05);
        for result in run["results"].as_array().unwrap() {
            let parameter = |name: &str| result["parameters"][name]["value"].as_f64();
            quantities(result, "", &mut |name, of| {
                let [value, low, high] =
                    ["value", "low", "high"].map(|end| of[end].as_f64().unwrap());
                let whole = match name {
                    "latency" => parameter("rtt").unwrap() / 2.0,
                    "idle" => parameter("gap").unwrap(),
                    _ => value,
                };
                // What was written and read back may differ in the last digit.
                let within = |of: f64| (high - low) / 2.0 <= precision * of.abs() * (1.0 + 1e-9);
                let is_right = match (of["converged"].as_bool(), of["clock_limited"].as_bool()) {
                    (Some(true), None) => within(whole),
                    (Some(false), Some(true)) => !within(whole) && within(stamp * 1e-9),
                    (Some(false), None) => true,
                    _ => false,
                };
                seen += 1;
                if !is_right {
                    wrong.push(format!("{}: {name} {of}", folder.display()));
                }
            });
            for point in result["points"].as_array().into_iter().flatten() {
                let of = if point["elapsed"].is_object() { "elapsed" } else { "time" };
                let is_known = |from: &Value| {
                    [&from["converged"], &from["clock_limited"]].map(|flag| flag == true)
                };
                assert_eq!(is_known(point), is_known(&point[of]));
                if is_known(point).contains(&true) {
                    assert!(point[of]["samples"].as_u64().unwrap() >= 5, "{}", point[of]);
                }
            }
        }
    }
    assert!(seen > 0);
    assert!(wrong.is_empty(), "{} of {seen}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_transport_without_a_signature_is_named_below_the_table_of_those_that_have_one() {
    use bandgap_campaign::load::Load;
    use bandgap_campaign::signature::rtt;
    let unfitted = |of: bandgap_campaign::Key| {
        let mut batches = crate::batches::tests::sample();
        batches.batches[0].of = of;
        Outcome::from(batches)
    };
    let signature = |transport: &str| {
        Outcome::from(logp::tests::example(transport, 2.05, 14.0, 27.1, 120.0, &[0.0, 50.0]))
    };
    let words = unfitted(rtt(Load::Words));
    let both = [signature("shm"), words.clone(), signature("unix")];
    let text = summary(&both, &Layout::default());
    assert!(text.ends_with("tcp: no signature: find a second M.\n"), "{text}");
    // Transfers have signatures of their own.
    let transfers = unfitted(rtt(Load::Store { bytes: 64 }));
    let text = summary(&[signature("shm"), transfers, signature("unix")], &Layout::default());
    assert!(!text.contains("no signature"), "{text}");
    assert_eq!(summary(&[signature("shm"), words], &Layout::default()), "");
}
