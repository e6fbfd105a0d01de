//! The example as its users run it: a kernel of one's own is a kernel as any other.

use std::process::{Command, Output};

use serde_json::Value;

const TRANSPORTS: [&str; 3] = ["shm", "tcp", "unix"];

/// The example with these arguments, in an empty folder.
fn ring(args: &[&str]) -> Output {
    let folder = std::env::temp_dir();
    Command::new(env!("CARGO_BIN_EXE_ring")).args(args).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The kernel's series over a transport, as a program reads it.
fn series(transport: &str, args: &[&str]) -> Value {
    let measured = ["comet", "ring", "-t", transport, "--no-save", "--quiet", "--json", "-"];
    let output = ring(&[&measured[..], args].concat());
    let told = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 8)), "{transport}: {told}");
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = run["results"].as_array().unwrap();
    let series = results.iter().find(|result| result["kind"] == "series");
    let series = series.unwrap_or_else(|| panic!("{transport}: {}", run["warnings"])).clone();
    assert_eq!(series["name"], "ring", "{series}");
    series
}

#[cfg(not(feature = "wrong"))]
mod right {
    use super::*;

    #[test]
    fn a_step_takes_what_the_machine_says() {
        let series = series("sim:ipsc860", &["-n", "2,4", "--sizes", "0:64"]);
        let points = series["points"].as_array().unwrap();
        assert!(points.iter().any(|point| point["bytes"] == 64));
        for point in points {
            let bytes = point["bytes"].as_f64().unwrap();
            // A message takes 79 µs + 0.63 µs a byte, and 25 µs for each hop beyond the first; a receive
            // that does not block and its wait 10 µs each. In a hypercube of four it is one hop from 0 to 1 and from 2 to 3, and two from 1 to 2 and
            // from 3 to 0. The chain of messages goes round, so a step takes their mean.
            let hops = if point["ranks"] == 2 { 0.0 } else { 0.5 };
            let expected = (79.0 + 20.0 + 0.63 * bytes + 25.0 * hops) * 1e-6;
            let time = point["time"]["value"].as_f64().unwrap();
            assert!((time - expected).abs() < 1e-6 * expected, "{point}: {expected:e}");
        }
    }

    #[test]
    fn it_runs_on_every_transport_and_each_message_is_compared() {
        // One eager message, and one that needs a rendezvous. A single point has its checked batch
        // however slow the machine is.
        let lengths = ["8", "40KiB"];
        for (transport, size) in TRANSPORTS.into_iter().flat_map(|t| lengths.map(|size| (t, size)))
        {
            let hurried = ["-n", "3", "--sizes", size, "--time-budget", "300ms"];
            let series = series(transport, &hurried);
            assert_eq!((&series["verified"], &series["ranks"]), (&true.into(), &3.into()));
            let checked = &series["checked"];
            let [messages, compared] = ["messages", "compared"].map(|name| checked[name].as_u64());
            assert!(messages > Some(0) && messages == compared, "{transport}: {checked}");
        }
    }

    #[test]
    fn help_and_suggestions_name_it() {
        let help = text(&ring(&["comet", "--help"]).stdout);
        assert!(help.contains(" ring"), "{help}");
        let refused = ring(&["comet", "rong"]);
        let told = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2));
        assert!(told.contains("similar value exists: 'ring'"), "{told}");
    }
}

#[cfg(feature = "wrong")]
#[test]
fn a_mistake_ends_the_run_on_every_transport() {
    for transport in TRANSPORTS {
        let output = ring(&["comet", "ring", "-t", transport, "--no-save", "--sizes", "8"]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(6), "{transport}: {told}");
        // The rank, the place, and what came from where.
        for part in
            ["failed to verify what rank ", "byte 0 of message ", " from rank ", "expected 0x"]
        {
            assert!(told.contains(part), "{transport}: {told}");
        }
    }
    // Empty messages have nothing that could be wrong, and virtual time has no bytes.
    series("shm", &["--sizes", "0", "--time-budget", "300ms"]);
    series("sim:ipsc860", &["--sizes", "8"]);
}

/// Arguments of the commands that the guide shows, and what it says that they print.
#[cfg(not(feature = "wrong"))]
fn shown(guide: &str) -> Vec<(Vec<&str>, String)> {
    let task = guide.split_once("\n## Your own kernel\n").unwrap().1;
    let task = task.split("\n## ").next().unwrap();
    let mut shown: Vec<(Vec<&str>, String)> = Vec::new();
    let mut printed = false;
    for line in task.lines() {
        if line.starts_with("```") {
            printed = false;
            continue;
        }
        let command = line.trim_start_matches("$ ").strip_prefix("cargo run --release -- ");
        match (command, shown.last_mut()) {
            (Some(args), _) => shown.push((args.split(' ').collect(), String::new())),
            (None, Some((_, output))) if printed => *output += &format!("{line}\n"),
            _ => {}
        }
        printed |= command.is_some();
    }
    shown
}

#[cfg(not(feature = "wrong"))]
#[test]
fn the_guides_commands_print_what_it_shows() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../GUIDE.md");
    let guide = std::fs::read_to_string(path).unwrap();
    let shown = shown(&guide);
    for (args, expected) in &shown {
        let own = ["--no-save", "--time-budget", "300ms"];
        let output = ring(&[&args[..], &own].concat());
        let told = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 8)), "{args:?}: {told}");
        let printed = text(&output.stdout);
        assert!(printed.contains(expected), "{args:?}:\n{printed}");
    }
    assert!(shown.len() >= 3 && shown.iter().any(|(_, expected)| !expected.is_empty()));
}
