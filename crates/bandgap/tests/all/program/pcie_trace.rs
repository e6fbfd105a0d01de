//! `bandgap breakdown --pcie-trace`: traces with known answers, through the whole program.

#[path = "../../../../record/tests/support/synthetic.rs"]
mod synthetic;

use serde_json::Value;

use crate::program::subject::{Workdir, named, near, of_kind, value};
use synthetic::{Machine, PAPER, Traffic};

fn files() -> Workdir {
    let place = Workdir::new();
    place.file("ping-pong.csv", PAPER.text());
    place.file("direct.csv", Machine { switch: 0.0, ..PAPER }.text());
    let posts = Machine { traffic: Traffic::Injection, jitter: 5.0, ..PAPER };
    place.file("posts.csv", posts.text());
    place
}

fn components(run: &Value, of: &[(&str, f64)]) {
    let breakdown = of_kind(run, "breakdown")[0];
    for (name, expected) in of {
        let component = named(&breakdown["components"], name);
        near(name, value(&component["time"]), expected * 1e-9, 1e-3);
        assert_eq!(component["provenance"], "derived", "{name}");
    }
}

const PAPERS: [(&str, f64); 4] =
    [("pcie", 137.49), ("wire", 274.81), ("switch", 108.0), ("rc_to_mem_8", 240.96)];

#[test]
fn the_papers_components_come_out_of_traces() {
    let place = files();
    let traces = "breakdown --pcie-trace ping-pong.csv --without-switch direct.csv";
    let run = place.json(&format!("{traces} --set llp_post=175.42ns --set llp_prog=61.63ns"));
    components(&run, &PAPERS);
    let breakdown = of_kind(&run, "breakdown")[0];
    let latency = named(&breakdown["models"], "llp_latency");
    near("latency", value(&latency["modelled"]), 1135.80e-9, 1e-3);

    // With the paper's table, LLP_post and LLP_prog are its own.
    let run = place.json(&format!("{traces} --from thunderx2-connectx4"));
    components(&run, &PAPERS);
    let models = &of_kind(&run, "breakdown")[0]["models"];
    near("latency", value(&named(models, "latency")["modelled"]), 1387.02e-9, 1e-3);

    let run = place.run(["breakdown", "--pcie-trace", "posts.csv", "--json", "-"]).ends(0).json();
    let trace = of_kind(&run, "pcie_trace")[0];
    let counts = ["posts", "completions", "payloads"].map(|name| trace["labels"][name].as_u64());
    assert_eq!(counts, [Some(2000), Some(2000), Some(0)]);
    let why = |part: &str| {
        let about = format!("pcie_trace/trace/part={part}");
        let note = run["notes"].as_array().unwrap().iter().find(|note| note["about"] == about);
        note.map(|note| note["code"].as_str().unwrap().to_owned())
    };
    assert_eq!((why("network").as_deref(), why("pcie")), (Some("pcie_no_ping_pong"), None));
    let run = place.json("breakdown --from thunderx2-connectx4 --pcie-trace posts.csv");
    let injection = named(&of_kind(&run, "breakdown")[0]["models"], "llp_injection").clone();
    near("injection", value(&injection["observed"]), 282.33e-9, 2e-3);
    near("injection", value(&injection["modelled"]), 295.73e-9, 1e-9);
    assert_eq!(injection["within"], "holds");
}

#[test]
fn what_is_kept_can_be_read_again() {
    let place = files();
    let args = "breakdown --pcie-trace ping-pong.csv --without-switch direct.csv -q --out kept";
    place.run(args.split(' ')).ends(0);
    let run = place.run(["breakdown", "--from", "kept", "--json", "-"]).ends(0).json();
    components(&run, &PAPERS[..3]);
    place.run(["whatif", "--from", "kept", "--reduce", "switch=50%"]).ends(0);
}

#[test]
fn standard_input_is_read() {
    let place = files();
    let text = Machine { traffic: Traffic::Injection, ..PAPER }.text();
    let args = ["breakdown", "--pcie-trace", "-", "--json", "-"];
    let run = place.run_with_input(args, text.as_bytes()).ends(0).json();
    components(&run, &PAPERS[..1]);
    let twice = ["breakdown", "--pcie-trace", "-", "--without-switch", "-"];
    place.run_with_input(twice, text.as_bytes()).ends(2);
}

#[test]
fn bad_traces_are_refused() {
    let place = files();
    let whole = PAPER.text();
    let cut = &whole[..whole.len() / 2];
    let cut = &cut[..cut.rfind(',').unwrap() - 3];
    let mut lines: Vec<&str> = whole.lines().collect();
    lines.swap(40, 41);
    let disordered = lines.join("\n");
    let acks: Vec<&str> = whole.lines().filter(|line| !line.contains(",MWr,64,")).collect();
    for text in [cut, &disordered, &acks.join("\n"), "", "time_ns,direction,type\n"] {
        place.file("bad.csv", text);
        for args in [
            ["breakdown", "--pcie-trace", "bad.csv"].as_slice(),
            &["breakdown", "--pcie-trace", "ping-pong.csv", "--without-switch", "bad.csv"],
        ] {
            assert_eq!(place.run(args).ends(3).stdout, "");
        }
    }
    place.run(["breakdown", "--pcie-trace", "none.csv"]).ends(3);
    place.run(["breakdown", "--without-switch", "direct.csv"]).ends(2);
    place.run(["breakdown", "--pcie-trace", "posts.csv", "--set", "pio=3ns"]).ends(2);
    place.run(["breakdown", "--pcie-trace", "posts.csv", "--set", "llp_post=-3ns"]).ends(2);
}
