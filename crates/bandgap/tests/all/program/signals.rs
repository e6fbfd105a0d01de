//! Signals to the launcher: the run ends in order, at once, or pauses.

use std::fs;
use std::io::{Write, pipe};
use std::process::Stdio;
use std::time::Duration;

use bandgap_results::Run;
use rustix::pipe::fcntl_setpipe_size;
use rustix::process::{Pid, Signal, getpid, kill_process};

use crate::program::faults::{kept, start};
use crate::program::residue::{Watched, are_stopped, poll};
use crate::program::subject::{BINARY, Place, measuring};

/// Whether a process ignores SIGHUP.
fn ignores_hangups(process: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1
}

#[test]
fn a_signal_ends_the_run_in_order() {
    let _alone = measuring();
    for (transport, signal, hundredths) in [
        ("shm", Signal::INT, 30),
        ("tcp", Signal::TERM, 10),
        ("unix", Signal::INT, 0),
        ("shm", Signal::QUIT, 10),
        ("tcp", Signal::HUP, 20),
    ] {
        if signal == Signal::HUP && ignores_hangups(getpid()) {
            eprintln!("SKIPPED: SIGHUP is ignored here, as under nohup");
            continue;
        }
        let place = Place::new();
        let mut run = start(&place, transport, &[]);
        run.ranks_after(hundredths);
        run.signal(signal);
        run.ended().ends(130);
        // Who ends a run does not wait for a look at its cores.
        assert_eq!(kept(&place).host["noise"], serde_json::json!([]));
    }
}

#[test]
fn a_signal_ends_all_transports_of_a_run() {
    let _alone = measuring();
    let place = Place::new();
    let args = ["--time-budget", "100s", "--precision", "1e-9", "--out", "run", "--launches", "3"];
    let mut run = Watched::start(&place, 2, &args);
    run.ranks_after(10);
    run.signal(Signal::TERM);
    run.ended().ends(130);
    kept(&place);
}

#[test]
fn a_signal_ends_a_simulation() {
    let place = Place::new();
    let machine = place.file(
        "machine.toml",
        "name = \"slow to simulate\"\nsend_overhead_ns = 1\nrecv_overhead_ns = 1\ngap_ns = 1\n\
         latency_ns = 1000000\ncapacity = 4096\n",
    );
    let transport = format!("sim:{machine}");
    // A hundred requesters with thousands of messages each: minutes, if nobody interrupts.
    let args = ["signature", "-t", &transport, "--fan-in", "100", "--out", "run"];
    let run = Watched::start(&place, 0, &args);
    run.launcher_after(20);
    run.signal(Signal::INT);
    let finished = run.ended().ends(130);
    assert!(finished.stderr.contains("bandgap: ended early"), "{}", finished.stderr);
    let kept: Run = bandgap_record::read(&place.path("run")).unwrap();
    assert!(kept.interrupted);
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let _alone = measuring();
    let place = Place::new();
    let line = format!(
        "trap '' HUP; exec {BINARY} signature --time-budget 100s --precision 1e-9 --out run"
    );
    let mut run = Watched::start_program(&place, "sh", 2, &["-c", &line]);
    run.ranks_after(10);
    assert!(ignores_hangups(run.pid()));
    run.signal(Signal::HUP);
    run.signal(Signal::TERM);
    run.ended().ends(130);
    kept(&place);
}

#[test]
fn a_run_that_is_halted_halts_its_ranks_and_goes_on_with_them() {
    let _alone = measuring();
    let place = Place::new();
    let mut run = start(&place, "shm", &[]);
    let ranks = run.ranks_after(10);
    let all: Vec<Pid> = ranks.into_iter().chain([run.pid()]).collect();
    for _ in 0..2 {
        run.signal(Signal::TSTP);
        are_stopped(&all, true);
        run.signal(Signal::CONT);
        are_stopped(&all, false);
    }
    run.signal(Signal::INT);
    run.ended().ends(130);
    kept(&place);
}

/// This prints more than the smallest pipe takes.
const MUCH: [&str; 5] = ["comms1", "-t", "sim:ipsc860", "--out", "run"];

/// A run that has measured and kept everything, and cannot go on printing it.
fn measured(place: &Place) -> Watched<'_> {
    let (small, theirs) = pipe().unwrap();
    fcntl_setpipe_size(&small, 4096).unwrap();
    let run = Watched::start_into((small, theirs), place, BINARY, 0, &MUCH);
    let results = || bandgap_record::read(&place.path("run")).ok().map(|run: Run| run.results);
    poll("for results to be kept", || results().filter(|results| !results.is_empty()));
    run
}

#[test]
fn a_signal_is_not_forgotten_once_everything_is_measured() {
    let place = Place::new();
    let mut run = measured(&place);
    run.signal(Signal::INT);
    run.tells("bandgap: interrupted: ");
    run.read_to_the_end().ends(130);
    // What is there is whole.
    let all = Place::new();
    all.run(MUCH).ends(0);
    let [kept, whole] = [&place, &all].map(|of| bandgap_record::read(&of.path("run")).unwrap());
    let (kept, whole): (Run, Run) = (kept, whole);
    assert!(!kept.interrupted);
    assert_eq!(kept.results, whole.results);
}

#[test]
fn a_second_signal_ends_a_program_that_cannot_go_on() {
    let place = Place::new();
    let run = measured(&place);
    run.signal_until_ended(Signal::INT).ends(130);
}

/// What nobody takes is standard error.
#[test]
fn a_second_signal_ends_a_program_whose_words_nobody_takes() {
    let place = Place::new();
    let (_unread, mut full) = pipe().unwrap();
    fcntl_setpipe_size(&full, 4096).unwrap();
    full.write_all(&[b'-'; 4096]).unwrap();
    let mut command = place.command(BINARY);
    let mut launcher = command.args(MUCH).stdout(Stdio::null()).stderr(full).spawn().unwrap();
    let results = || bandgap_record::read(&place.path("run")).ok().map(|run: Run| run.results);
    poll("for results to be kept", || results().filter(|results| !results.is_empty()));
    let status = poll("for the program to end", || {
        kill_process(Pid::from_child(&launcher), Signal::INT).unwrap();
        launcher.try_wait().unwrap()
    });
    assert_eq!(status.code(), Some(130));
}

/// With these a batch system warns of the end.
#[test]
fn what_batch_systems_send_ends_a_run_in_order() {
    let _alone = measuring();
    for signal in [Signal::USR1, Signal::USR2, Signal::XCPU] {
        let place = Place::new();
        let mut run = start(&place, "shm", &[]);
        run.ranks_after(0);
        run.signal(signal);
        run.ended().ends(130);
        kept(&place);
    }
}

#[test]
fn a_signal_at_the_start_leaves_nothing_behind() {
    for moment in 0..12 {
        let place = Place::new();
        let args = ["signature", "-t", "sim:paragon", "--out", "run"];
        let mut command = place.command(BINARY);
        let mut launcher =
            command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // At any moment of the start; none of them is right.
        std::thread::sleep(Duration::from_millis(4 * moment));
        kill_process(Pid::from_child(&launcher), Signal::TERM).unwrap();
        let status = launcher.wait().unwrap();
        match status.code() {
            // Before signals are taken there is nothing yet.
            None => assert_eq!(place.names(), Vec::<String>::new(), "{status}"),
            Some(code) => assert!([0, 130].contains(&code), "{status}"),
        }
        if !place.names().is_empty() {
            assert!(place.path("run/run.json").exists(), "after {moment}: {status}");
        }
    }
}
