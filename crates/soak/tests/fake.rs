//! The driver on a program that breaks one rule: it must find it, and nothing else.
#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use bandgap_soak::checks::{Rule, broken};
use bandgap_soak::faults::named;
use bandgap_soak::plan::{Moment, Plan};
use bandgap_soak::trial::{Tried, carry_out};
use tempfile::TempDir;

const DRIVER: &str = env!("CARGO_BIN_EXE_soak");

/// The fake, as a program that breaks the rule of this name.
fn fake(breaks: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let script =
        include_str!("fake.sh").replacen("#!/bin/sh", &format!("#!/bin/sh\nFAKE={breaks}"), 1);
    let path = folder.path().join("fake");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    (folder, path)
}

/// A trial on a command whose batches are counted.
fn plan(fault: &str) -> Plan {
    let fault = named(fault).unwrap();
    let counted = |plan: &Plan| plan.subject.words == ["signature"];
    let plan = (0..).map(|number| Plan::draw(1, fault, number)).find(counted).unwrap();
    Plan { moment: Moment::Ranks(Duration::from_millis(100)), ..plan }
}

/// The rules that the driver finds broken when a rank of the fake is killed.
fn found(breaks: &str) -> Vec<Rule> {
    let (_folder, path) = fake(breaks);
    let plan = plan("kill-rank");
    let plan = match breaks {
        // It is sure to hang; so there is no need to wait for as long as a real run may take.
        "hangs" => {
            Plan { deadline: Duration::from_millis(10), grace: Duration::from_millis(10), ..plan }
        }
        _ => Plan { grace: Duration::from_secs(60), ..plan },
    };
    let tried = carry_out(&plan, &path, DRIVER.as_ref()).unwrap();
    let Tried::Seen(seen, _place) = tried else { panic!("{tried:?}") };
    assert!(seen.struck.is_some(), "{seen:?}");
    broken(&plan, &seen).into_iter().map(|broken| broken.rule).collect()
}

#[test]
fn a_program_that_does_all_right_breaks_no_rule() {
    assert_eq!(found("nothing"), []);
}

#[test]
fn each_lapse_is_found() {
    for (breaks, rules) in [
        ("leaves-process", &[Rule::Leftover] as &[Rule]),
        ("leaves-rank", &[Rule::Leftover]),
        ("leaves-file", &[Rule::Leftover]),
        ("leaves-unfinished", &[Rule::Leftover]),
        ("loses", &[Rule::Lost]),
        ("loses-some", &[Rule::Lost]),
        ("half", &[Rule::Lost]),
        ("defect", &[Rule::Unfitting]),
        ("undocumented", &[Rule::Undocumented]),
        ("silent", &[Rule::Message]),
        ("panics", &[Rule::Message]),
    ] {
        assert_eq!(found(breaks), rules, "{breaks}");
    }
}

#[test]
fn a_program_that_hangs_is_ended_and_told_apart() {
    let rules = found("hangs");
    assert!(rules.contains(&Rule::Hang) && !rules.contains(&Rule::Leftover), "{rules:?}");
}

fn soak(words: &[&str]) -> (Option<i32>, String) {
    let run = Command::new(DRIVER).args(words).output().unwrap();
    (run.status.code(), String::from_utf8(run.stdout).unwrap())
}

#[test]
fn what_failed_is_told_with_the_command_that_repeats_it() {
    let (_folder, path) = fake("undocumented");
    let binary = path.to_str().unwrap();
    let number = plan("kill-rank").number.to_string();
    let again = ["--seed", "1", "--fault", "kill-rank", "--trial", &number, "--binary", binary];
    let (code, text) = soak(&again);
    assert_eq!(code, Some(1), "{text}");
    let command = format!("FAILED: ./soak {}", again.join(" "));
    assert!(text.contains(&command) && text.contains("undocumented: exit code 77"), "{text}");
    assert!(text.contains("1 trials failed, 0 were skipped; seed 1"), "{text}");
}

#[test]
fn limits_hold_for_the_program_that_comes_after_them() {
    let script = "ulimit -n; grep -c '^Seccomp:.2' /proc/self/status; grep Cpus_allowed_list /proc/self/status";
    let limits = ["under", "--no-memfd", "--descriptors", "17", "--processor", "0", "--"];
    let words: Vec<&str> = limits.into_iter().chain(["sh", "-c", script]).collect();
    let (code, text) = soak(&words);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((code, lines[0], lines[1]), (Some(0), "17", "1"), "{text}");
    assert!(lines[2].ends_with("\t0"), "{text}");
}

/// A shell lets programs in the background ignore SIGINT and SIGQUIT; those that the driver starts must not.
#[test]
fn signals_are_as_usual_in_the_programs_that_are_tried() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shows");
    let shows = folder.path().join("shown");
    let script = format!("#!/bin/sh\ngrep SigIgn /proc/self/status > {}\n", shows.display());
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let background = format!(
        "trap '' INT QUIT HUP TERM; {DRIVER} --fault one-processor --trials 1 --binary {}",
        path.display()
    );
    Command::new("sh").args(["-c", &background]).output().unwrap();
    let shown = fs::read_to_string(shows).unwrap();
    let ignored = u64::from_str_radix(shown.split_whitespace().last().unwrap(), 16).unwrap();
    // A mask whose lowest bit is signal 1.
    for signal in [1, 2, 3, 15] {
        assert_eq!(ignored >> (signal - 1) & 1, 0, "signal {signal}: {shown}");
    }
}
