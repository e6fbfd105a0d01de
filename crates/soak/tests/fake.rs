//! The driver on a program that breaks one rule: it must find it, and nothing else.
#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use bandgap_soak::checks::{Rule, broken, was_late};
use bandgap_soak::faults::named;
use bandgap_soak::plan::{Moment, Plan};
use bandgap_soak::trial::{Seen, Tried, carry_out};
use tempfile::TempDir;

const DRIVER: &str = env!("CARGO_BIN_EXE_soak");

/// The fake, as a program that breaks the rule of this name.
fn fake(breaks: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let begin = format!("#!/bin/sh\nFAKE={breaks}");
    let script = include_str!("fake.sh").replacen("#!/bin/sh", &begin, 1);
    let path = folder.path().join("fake");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    // Some trials are those of another user.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    (folder, path)
}

/// A trial on a command whose batches are counted.
fn plan(fault: &str) -> Plan {
    let fault = named(fault).unwrap();
    let counted = |plan: &Plan| plan.subject.words == ["signature"];
    let plan = (0..).map(|number| Plan::draw(1, fault, number)).find(counted).unwrap();
    Plan { moment: Moment::Ranks(Duration::from_millis(100)), ..plan }
}

/// A trial on a command whose messages have contents.
fn comparing(fault: &str) -> Plan {
    let fault = named(fault).unwrap();
    let fits = |plan: &Plan| plan.subject.compares();
    (0..).map(|number| Plan::draw(1, fault, number)).find(fits).unwrap()
}

/// What comes of a trial of the fake; `None` where this machine cannot do it.
fn tried(breaks: &str, plan: &Plan) -> Option<Seen> {
    let (_folder, path) = fake(breaks);
    match carry_out(plan, &path, DRIVER.as_ref()).unwrap() {
        Tried::Seen(seen, _place) => Some(*seen),
        Tried::Skipped(_) => None,
    }
}

/// The same of what every machine can do.
fn seen(breaks: &str, plan: &Plan) -> Seen {
    tried(breaks, plan).unwrap()
}

/// The rules that the driver finds broken when a rank of the fake is killed.
fn found(breaks: &str) -> Vec<Rule> {
    let plan = plan("kill-rank");
    let plan = match breaks {
        // It is sure to hang; so there is no need to wait for as long as a real run may take.
        "hangs" => {
            Plan { deadline: Duration::from_millis(10), grace: Duration::from_millis(10), ..plan }
        }
        _ => Plan { grace: Duration::from_secs(60), ..plan },
    };
    let seen = seen(breaks, &plan);
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
        ("leaves-beside", &[Rule::Leftover]),
        ("leaves-pipe", &[Rule::Leftover]),
        ("leaves-empty", &[Rule::Leftover]),
        ("loses", &[Rule::Lost]),
        ("loses-mark", &[Rule::Lost]),
        ("swallows", &[Rule::Unfitting]),
        ("swallows-at-once", &[Rule::Unfitting]),
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

/// All was measured when the rank was killed: its end is none that must be told.
#[test]
fn a_rank_that_had_finished_may_be_killed() {
    assert_eq!(found("finishes"), []);
}

/// Several launches are no excuse: whether the ranks that there were went on is known of each.
#[test]
fn a_death_that_is_swallowed_is_found_with_several_launches() {
    let launches = |plan: &Plan| plan.subject.words.contains(&"--launches");
    let fault = named("kill-rank").unwrap();
    let several = (0..).map(|number| Plan::draw(1, fault, number)).find(launches).unwrap();
    let several = Plan { moment: Moment::Ranks(Duration::from_millis(100)), ..several };
    let rules = broken(&several, &seen("swallows", &several)).into_iter().map(|found| found.rule);
    assert_eq!(rules.collect::<Vec<_>>(), [Rule::Unfitting]);
}

/// A run that may go on and fails instead has no more time than one that must fail.
#[test]
fn a_failure_has_only_the_deadline_even_where_a_run_may_go_on() {
    let short = Duration::from_millis(1);
    let plan = Plan { deadline: short, grace: short, ..plan("term-rank") };
    let seen = seen("nothing", &plan);
    assert_eq!(seen.bound, 2 * short);
    assert!(broken(&plan, &seen).iter().any(|broken| broken.rule == Rule::Hang), "{seen:?}");
}

/// What is met only when all is measured is timed from there.
#[test]
fn a_failure_after_the_measurement_is_timed_from_its_end() {
    let millis = Duration::from_millis;
    let hangs = |grace| {
        let plan = Plan { deadline: millis(1), grace, ..plan("short-files") };
        let seen = seen("fails-late", &plan);
        assert_eq!(seen.bound, plan.deadline + grace);
        broken(&plan, &seen).iter().any(|broken| broken.rule == Rule::Hang)
    };
    // It measures for half a second, and then does nothing for a second.
    assert!(hangs(millis(100)) && !hangs(Duration::from_secs(60)));
}

/// Where the run is kept instead is named too, and does not say what could not be written.
#[test]
fn a_file_that_cannot_be_written_and_is_not_named_is_found() {
    for (fault, removed) in
        [("small-disk", ""), ("short-files", ""), ("directory-removed", " REMOVED=yes")]
    {
        let plan = Plan { grace: Duration::from_secs(60), ..plan(fault) };
        for (breaks, rules) in [("names-file", &[] as &[Rule]), ("names-none", &[Rule::Message])] {
            // To mount a small file system takes rights that not everybody has.
            let Some(seen) = tried(&format!("{breaks}{removed}"), &plan) else { continue };
            let found: Vec<Rule> = broken(&plan, &seen).iter().map(|broken| broken.rule).collect();
            assert_eq!(found, rules, "{fault} {breaks}: {seen:?}");
        }
    }
}

/// It must not wait for a reader that never comes.
#[test]
fn a_program_that_waits_for_who_reads_its_messages_is_found() {
    let plan = plan("error-unread");
    let quiet = seen("quiet", &plan);
    assert_eq!(broken(&plan, &quiet), [], "{quiet:?}");
    let short = Duration::from_secs(1);
    let plan = Plan { deadline: short, grace: short, slack: short, budget: short / 10, ..plan };
    let seen = seen("ends", &plan);
    assert!(broken(&plan, &seen).iter().any(|broken| broken.rule == Rule::Hang), "{seen:?}");
}

#[test]
fn a_program_whose_limits_become_low_goes_on_or_says_which() {
    for (fault, limit) in [("processes-later", "processes"), ("descriptors-later", "open")] {
        // As high as it may be: a shell needs descriptors too.
        let plan = Plan { grace: Duration::from_secs(60), limit: 1.0, ..plan(fault) };
        for (breaks, rules) in
            [("goes-on", &[] as &[Rule]), ("refused", &[]), ("refused-silently", &[Rule::Message])]
        {
            // To be another user takes rights that not everybody has.
            let breaks = format!("{breaks} LIMIT={limit}");
            let Some(seen) = tried(&breaks, &plan) else { continue };
            assert!(seen.struck.is_some(), "{seen:?}");
            let found: Vec<Rule> = broken(&plan, &seen).iter().map(|broken| broken.rule).collect();
            assert_eq!(found, rules, "{fault} {breaks}: {seen:?}");
        }
    }
}

#[test]
fn a_command_that_no_trial_runs_fails_the_campaign() {
    let (_folder, path) = fake("nothing");
    let run = Command::new(DRIVER).args(["--quick", "--binary", path.to_str().unwrap()]).output();
    let run = run.unwrap();
    let said = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(said.contains("no line in subject.rs for comms4"), "{said}");
}

#[test]
fn messages_that_were_not_compared_are_found() {
    for fault in ["control", "datagrams", "one-processor"] {
        for (compares, said) in [
            ("", None),
            (" COMPARED=8", Some("1 messages were not compared")),
            (" MESSAGES=0 COMPARED=0", Some("nothing was compared")),
        ] {
            let plan = comparing(fault);
            let broken = broken(&plan, &seen(&format!("ends{compares}"), &plan));
            let found: Vec<&str> = broken.iter().map(|broken| &*broken.what).collect();
            assert_eq!(found, said.into_iter().collect::<Vec<_>>(), "{fault}{compares}");
            assert!(broken.iter().all(|broken| broken.rule == Rule::Lost));
        }
    }
}

/// A run without a port that takes anything has met no strangers.
#[test]
fn strangers_who_reach_nobody_are_late() {
    let plan = plan("strangers");
    let seen = seen("ends", &plan);
    assert!(seen.struck.is_none() && was_late(&plan, &seen), "{seen:?}");
}

/// The socket of a rank outlives the run in a process that has none of its environment.
#[test]
fn a_socket_that_stays_is_found_whatever_the_fault() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let plan = Plan { grace: Duration::from_secs(60), ..plan("kill-rank") };
    let seen = seen(&format!("leaves-socket PORT={port}"), &plan);
    assert!(seen.left.iter().any(|left| left.starts_with("socket ")), "{seen:?}");
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

/// Too little for a result may come of many faults, so every code 8 fits: trials without a fault tell.
#[test]
fn a_program_that_measures_nothing_fails_the_campaign() {
    let (_folder, path) = fake("measures-nothing");
    let binary = path.to_str().unwrap();
    let (code, text) = soak(&["--fault", "one-processor", "--trials", "1", "--binary", binary]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("--fault control --trial"), "{text}");
    assert!(text.contains("unfitting: exit code 8"), "{text}");
    // The fault's own trial fails as well: nothing is kept.
    assert!(text.contains("FAILED: ./soak --seed 1 --fault one-processor --trial 0"), "{text}");
    assert!(text.contains("4 trials failed"), "{text}");
}

#[test]
fn limits_that_cannot_be_set_are_the_drivers_failure() {
    let run = Command::new(DRIVER).args(["under", "--group", "/nowhere", "--", "true"]).output();
    assert_eq!(run.unwrap().status.code(), Some(99));
    let (_folder, path) = fake("nothing");
    let fails = path.with_file_name("driver");
    fs::write(&fails, "#!/bin/sh\necho no memory >&2\nexit 99\n").unwrap();
    fs::set_permissions(&fails, fs::Permissions::from_mode(0o755)).unwrap();
    let error = carry_out(&plan("one-processor"), &path, &fails).unwrap_err().to_string();
    assert!(error.contains("set limits: no memory"), "{error}");
}

#[test]
fn runs_over_udp_that_do_not_end_or_compare_nothing_fail() {
    let udp = |breaks: &str, more: &[&str]| {
        let (_folder, path) = fake(breaks);
        let words = ["udp", "--runs", "1", "--binary", path.to_str().unwrap()];
        soak(&[&words, more].concat())
    };
    let (code, text) = udp("nothing", &["--only", "synch1", "--limit", "1"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("it did not end within 1 s"), "{text}");
    for breaks in ["ends", "too-little"] {
        for (compares, said) in [
            ("MESSAGES=0 COMPARED=0", "nothing was compared"),
            ("COMPARED=8", "1 messages were not compared"),
        ] {
            let breaks = format!("{breaks} {compares}");
            let (code, text) = udp(&breaks, &["--only", "comms2"]);
            assert_eq!(code, Some(1), "{text}");
            assert!(text.contains(said), "{text}");
        }
        assert_eq!(udp(breaks, &["--only", "comms2"]).0, Some(0), "{breaks}");
    }
    // A barrier has no contents.
    assert_eq!(udp("ends MESSAGES=0 COMPARED=0", &["--only", "synch1"]).0, Some(0));
    assert_eq!(udp("ends", &["--only", "no-such-word"]).0, Some(2));
}

/// That there was no time to compare a point is no failure, and is seen.
#[test]
fn points_that_were_left_out_over_udp_are_counted() {
    let (_folder, path) = fake("ends LEFT_OUT=2");
    let binary = path.to_str().unwrap();
    let (code, text) = soak(&["udp", "--runs", "2", "--only", "comms2", "--binary", binary]);
    assert_eq!(code, Some(0), "{text}");
    let cells = |begin: &str| -> Vec<&str> {
        let line = text.lines().find(|line| line.starts_with(begin)).unwrap();
        line[50..].split_whitespace().collect()
    };
    assert_eq!(cells("command").concat(), "runsfailed8comparedleftoutbatches");
    assert_eq!(cells("comms2"), ["2", "0", "0", "18", "4", "24"]);
}

#[test]
fn runs_over_udp_that_a_signal_stopped_are_not_counted() {
    let (folder, path) = fake("nothing");
    let words = ["udp", "--runs", "3", "--only", "synch1", "--binary", path.to_str().unwrap()];
    let driver = Command::new(DRIVER).args(words).stdout(Stdio::piped()).spawn().unwrap();
    while !folder.path().join("began").exists() {
        std::thread::yield_now();
    }
    Command::new("kill").arg(driver.id().to_string()).status().unwrap();
    let run = driver.wait_with_output().unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    assert_eq!(run.status.code(), Some(1), "{text}");
    assert!(text.contains("stopped by a signal"), "{text}");
    let row = text.lines().find(|line| line.starts_with("synch1")).unwrap();
    assert_eq!(row.split_whitespace().nth(3), Some("0"), "{text}");
}
