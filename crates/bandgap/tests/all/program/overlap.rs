//! What of an exchange hides behind a computation: known answers in virtual time, and real ranks.

use serde_json::Value;

use crate::program::subject::{Place, measuring, near, of_kind, value, with_time_enough};

/// os, or, L, G up to 100 bytes, and above; g and the time of an element, in ns.
const SHORT: [f64; 4] = [20.0, 30.0, 400.0, 0.5];
const LONG: [f64; 4] = [500.0, 60.0, 700.0, 1.5];
const DAXPY: f64 = 2.0;

/// A machine on which messages move so.
fn machine(place: &Place, progress: &str) -> String {
    let protocol = |limit: &str, [os, or, latency, byte]: [f64; 4]| {
        format!(
            "[[protocol]]\n{limit}send_overhead_ns = {os}\nrecv_overhead_ns = {or}\n\
             latency_ns = {latency}\ngap_per_byte_ns = {byte}\n"
        )
    };
    let text = format!(
        "name = 'm'\nsend_overhead_ns = 20\nrecv_overhead_ns = 30\ngap_ns = 10\nlatency_ns = 400\n\
         progress = '{progress}'\ndaxpy_ns = {DAXPY}\n{}{}",
        protocol("up_to_bytes = 100\n", SHORT),
        protocol("", LONG)
    );
    format!("sim:{}", place.file(&format!("{progress}.toml"), text))
}

fn points(place: &Place, transport: &str, args: &[&str]) -> Vec<Value> {
    let fixed = ["comet", "overlap", "--transport", transport, "--no-save", "--json", "-", "-q"];
    let run = place.run(fixed.iter().chain(args)).ends(0).json();
    let [overlap] = of_kind(&run, "overlap")[..] else { panic!("one overlap") };
    overlap["points"].as_array().unwrap().clone()
}

/// Asserts the times of a point, and returns the share.
fn timed(point: &Value, hides: bool) -> Option<f64> {
    let [n, v] = ["bytes", "elements"].map(|name| point[name].as_f64().unwrap());
    let [os, or, latency, byte] = if n <= 100.0 { SHORT } else { LONG };
    let (way, work) = (latency + n * byte, DAXPY * v);
    // Blocking: os + L + n·G + or + c; non-blocking: os + max(c, L + n·G) + or.
    let blocking = os + way + or + work;
    let begun = if hides { os + way.max(work) + or } else { blocking };
    let overheads = if hides { os + or } else { or };
    for (name, expected) in [
        ("blocking", blocking),
        ("non_blocking", begun),
        ("exchange", os + way + or),
        ("computation", work),
        ("overheads", overheads),
    ] {
        near(name, 1e9 * value(&point[name]), expected, 1e-9);
    }
    near("gain", 1e9 * value(&point["gain"]), blocking - begun, 1e-9);
    point.get("share").map(value)
}

#[test]
fn all_is_hidden_where_messages_move_by_themselves_and_nothing_where_they_do_not() {
    let place = Place::new();
    for (progress, hides) in [("asynchronous", true), ("synchronous", false)] {
        let transport = machine(&place, progress);
        // From where overheads are most of an exchange to where bytes are, and computations from
        // less than either to more.
        let points = points(&place, &transport, &["--vectors", "0,1,100,500,9000,9000,2000000"]);
        assert_eq!(points.len(), 4 * 6);
        for point in &points {
            let share = timed(point, hides);
            assert_eq!(share.is_none(), point["elements"] == 0, "{point}");
            if let Some(share) = share {
                let expected = if hides { 1.0 } else { 0.0 };
                assert!((share - expected).abs() < 1e-9, "{progress}: {point}");
            }
        }
    }
}

#[test]
fn the_ipsc860_gains_a_third_where_both_parts_are_long() {
    // The source observed improvements of over 33 % (CoMet, section 5.1).
    let points = points(&Place::new(), "sim:ipsc860", &[]);
    let relative = |point: &Value| value(&point["gain"]) / value(&point["blocking"]);
    let most = points.iter().map(relative).fold(0.0, f64::max);
    assert!(most > 0.33 && most < 0.5, "{most}");
}

/// The calls of a non-blocking exchange, of 10 µs each: two before the message leaves, one while it is
/// under way, one when it is there.
const CALL: f64 = 10e-6;

#[test]
fn the_ipsc860_loses_at_length_0_by_the_calls_of_a_non_blocking_exchange() {
    let place = Place::new();
    // Computations of 0, 200 µs and 2 ms; 0 bytes are under way for 25 µs, 1 KiB for 445 µs.
    let args = ["--sizes", "0:1024", "--vectors", "0,1000,10000"];
    let points = points(&place, "sim:ipsc860", &args);
    let at = |bytes: u64, elements: u64| {
        let found = points.iter().find(|p| p["bytes"] == bytes && p["elements"] == elements);
        found.unwrap_or_else(|| panic!("{bytes} B, {elements} elements"))
    };
    let gains = |point: &Value, expected: f64| {
        let found = value(&point["gain"]);
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}: {point}");
    };
    let (mut lost, mut gained) = (0, 0);
    for point in &points {
        let [bytes, elements] = ["bytes", "elements"].map(|of| point[of].as_f64().unwrap());
        let per_byte = if bytes <= 100.0 { 0.63e-6 } else { 0.41e-6 };
        let (way, work) = (25e-6 + per_byte * bytes, 200e-9 * elements);
        let gain = way + work - way.max(work + CALL) - 3.0 * CALL;
        gains(point, gain);
        lost += u32::from(gain < 0.0);
        gained += u32::from(gain > 0.0);
    }
    assert!(lost > 0 && gained > 0, "{lost} {gained}");
    // Without a computation, by just the calls that nothing hides; with any, of 0 bytes.
    gains(at(0, 0), -3.0 * CALL);
    gains(at(0, 1000), 25e-6 - 4.0 * CALL);
    gains(at(1024, 10_000), 25e-6 + 0.41e-6 * 1024.0 - 4.0 * CALL);
}

#[test]
fn real_ranks_bring_every_point_with_messages_compared_and_files() {
    let _measuring = measuring();
    let (place, text, overlap) = with_time_enough(|budget| {
        let place = Place::new();
        let args = ["comet", "overlap", "--time-budget", budget, "--sizes", "0:16KiB"];
        let more = ["--vectors", "0,100", "--out", "run"];
        let text = place.run(args.iter().chain(&more)).measured().stdout;
        let run = std::fs::read(place.path("run/run.json")).unwrap();
        let run: Value = serde_json::from_slice(&run).unwrap();
        let found = of_kind(&run, "overlap").into_iter().cloned();
        // A share is of a computation.
        let has_share = |overlap: &Value| {
            let points = overlap["points"].as_array().unwrap();
            let all_checked = overlap["checked"]["points_left_out"] == 0;
            all_checked && points.iter().any(|point| point["share"].is_object())
        };
        found.clone().find(has_share).map(|overlap| (place, text, overlap))
    });
    assert!(text.contains("hidden: n \\ v"), "{text}");
    assert!(text.contains("Contents compared: all"), "{text}");
    // Every point has a value, or is among those of which it is said that they have none.
    let points = overlap["points"].as_array().unwrap().len();
    let said = |have| format!("{} of 6 points {have} no value", 6 - points);
    let findings = overlap["findings"].to_string();
    let is_said = ["has", "have"].iter().any(|have| findings.contains(&said(have)));
    assert_eq!(is_said, points < 6, "{overlap}");
    for batches in overlap["batches"].as_array().unwrap() {
        assert!(!batches["batches"].as_array().unwrap().is_empty(), "{batches}");
    }
    let files: Vec<String> = std::fs::read_dir(place.path("run"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in ["overlap.csv", "overlap.svg"] {
        assert!(files.iter().any(|file| file == name), "{files:?}");
    }
}

#[test]
fn what_holds_for_the_whole_run_is_warned_of_once() {
    let _measuring = measuring();
    let args = ["comet", "barrier", "overlap", "--cores", "0", "--time-budget", "200ms"];
    let run = Place::new().run(args.iter().chain(&["--sizes", "8", "--no-save"])).measured();
    assert_eq!(run.stderr.matches("oversubscribed").count(), 1, "{}", run.stderr);
}

#[test]
fn vectors_and_pairs_that_cannot_be_are_refused_before_anything_runs() {
    let place = Place::new();
    for (args, expected) in [
        (["--vectors", "4000000000"], "vectors of 4000000000 elements"),
        (["--between", "1,1"], "ranks 1 and 1 are not two of 2 ranks"),
    ] {
        let run = place.run(["comet", "overlap"].iter().chain(&args)).ends(2);
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    }
}
