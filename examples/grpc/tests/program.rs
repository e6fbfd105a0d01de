//! The example as its users run it: gRPC is a transport as any other.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

const BOTH: [&str; 2] = ["grpc", "grpc-stream"];
/// Budgets that are tried one after the other, until one brings all that is asked for.
const BUDGETS: [&str; 4] = ["3s", "10s", "30s", "90s"];

fn grpc(command: &str) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_grpc"));
    program
        .args(command.split(' '))
        .args(["--no-save", "--quiet"])
        .current_dir(std::env::temp_dir());
    program
}

/// The series and floors that a command brings, as transport and name, but no series whose bytes were not compared.
fn results(command: &str) -> BTreeSet<String> {
    let output = grpc(command).args(["--json", "-"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 8)), "{command}: {told}");
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = run["results"].as_array().unwrap().iter();
    let of = results.filter(|of| of["kind"] == "series" || of["kind"] == "floor");
    let of = of.filter(|of| of["verified"] != false);
    of.map(|of| format!("{} {}", of["transport"], of["name"]).replace('"', "")).collect()
}

/// Asserts that a command brings these.
fn brings(command: &str, expected: impl IntoIterator<Item = String>) {
    let mut missing: BTreeSet<_> = expected.into_iter().collect();
    assert!(!missing.is_empty());
    for budget in BUDGETS {
        if !missing.is_empty() {
            let found = results(&format!("{command} --time-budget {budget}"));
            missing = missing.difference(&found).cloned().collect();
        }
    }
    assert!(missing.is_empty(), "{command}: {missing:?}");
}

#[test]
fn every_kernel_of_comet_is_verified() {
    for (transport, ranks) in BOTH.into_iter().flat_map(|name| [2, 4].map(|ranks| (name, ranks))) {
        let own = format!("-n {ranks} --sizes 8,40KiB --dimension 64:64");
        let all = results(&format!("comet -t sim:ipsc860 {own}"));
        assert!(all.len() > 10, "{all:?}");
        let all = all.iter().map(|name| name.replace("sim:ipsc860", transport));
        brings(&format!("comet -t {transport} {own} --check"), all);
    }
}

#[test]
fn layers_and_floors_stand_beside_the_others() {
    let over = "shm,unix,tcp,grpc";
    let each = over.split(',').map(|name| format!("{name} echo"));
    brings(&format!("layers echo -t {over} --sizes 8"), each.chain(["null layers".to_owned()]));
    let floors = "grpc grpc_sleeping grpc_stream grpc_stream_sleeping";
    brings(&format!("floor {floors}"), floors.split(' ').map(|name| format!("null {name}")));
}

/// The processes of a run's ranks, once there are two.
fn ranks(launcher: &Child) -> Vec<String> {
    let begun = Instant::now();
    loop {
        let id = launcher.id();
        let listed = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        let ranks: Vec<_> = listed.split_whitespace().map(str::to_owned).collect();
        if ranks.len() == 2 {
            return ranks;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{listed}");
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_rank_that_is_killed_or_stopped_ends_the_run() {
    for (transport, (signal, code)) in
        BOTH.into_iter().flat_map(|name| [("-KILL", 5), ("-STOP", 6)].map(|end| (name, end)))
    {
        let endless = "comms1 --time-budget 100s --precision 1e-9 --deadline 2s";
        let mut run = grpc(&format!("{endless} -t {transport}"));
        let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let told = Command::new("kill").args([signal, &ranks(&run)[1]]).status().unwrap();
        assert!(told.success());
        assert_eq!(run.wait().unwrap().code(), Some(code), "{transport} {signal}");
    }
}
