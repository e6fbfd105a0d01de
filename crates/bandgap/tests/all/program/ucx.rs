//! Ranks over UCX's messages, started by bandgap itself.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::mpi::{ranks, run};
use crate::program::subject::{BINARY, PATIENCE, RANK, REMOTE, USAGE, Workdir, of_kind, skipped};

/// The library, if it is here.
fn library() -> Option<PathBuf> {
    let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"];
    let mut all = folders.into_iter().map(|folder| PathBuf::from(folder).join("libucp.so.0"));
    let found = all.find(|path| path.exists());
    if found.is_none() {
        skipped(format_args!("no libucp.so.0"));
    }
    found
}

/// CoMet's kernels on the library's messages, as many as there is time for, each batch checked.
fn kernels_are_verified(ranks: usize) {
    if library().is_none() {
        return;
    }
    let place = Workdir::new();
    for transport in ["ucx:posix", "ucx:tcp"] {
        let line = format!("comet --sizes 64 -n {ranks} -t {transport} --check --time-budget 4s");
        let run = place.run(format!("{line} --no-save --json - -q").split(' ')).measured().json();
        let of = &run["conditions"][0];
        assert_eq!((&of["transport"], &of["ranks"]), (&transport.into(), &ranks.into()));
        assert!(of["verified"]["checked"].as_u64() > Some(0), "{of}");
        let library = &run["setup"]["of"][0]["library"];
        assert!(library["name"].as_str().unwrap().starts_with("UCX 1."), "{library}");
        // Active Messages.
        let line =
            format!("signature -n {ranks} -t {transport} --time-budget 2s --no-save --json - -q");
        let run = place.run(line.split(' ')).measured().json();
        assert!(run["conditions"][0]["verified"]["timed"].as_u64() > Some(0), "{run}");
    }
}

#[test]
fn kernels_run_on_ucxs_messages_between_2_ranks_and_are_verified() {
    kernels_are_verified(2);
}

#[test]
fn kernels_run_on_ucxs_messages_between_4_ranks_and_are_verified() {
    kernels_are_verified(4);
}

#[test]
fn its_transports_are_told_apart_in_one_table() {
    if library().is_none() {
        return;
    }
    let place = Workdir::new();
    let line = "comms1 -t ucx,ucx:posix --sizes 8,64KiB --time-budget 4s --no-save --json - -q";
    let mut command = place.command(BINARY);
    // Who names a transport is not refused because of it.
    command.args(line.split(' ')).env("UCX_TLS", "tcp,self");
    let run = run(command).measured().json();
    assert_eq!(run["setup"]["of"][0]["library"]["environment"]["UCX_TLS"], "tcp,self");
    let names = run["conditions"].as_array().unwrap().iter().map(|of| &of["transport"]);
    assert_eq!(names.collect::<Vec<_>>(), ["ucx", "ucx:posix"]);
    assert_eq!(of_kind(&run, "series").len(), 2, "{run}");
}

#[test]
fn what_is_wrong_with_a_ucx_is_told() {
    let place = Workdir::new();
    let refused = |code, args: &str, word: &str| {
        let finished = place.run(format!("synch1 {args} --no-save").split(' ')).ends(code);
        assert!(finished.stderr.contains(word), "{args}: {finished:?}");
    };
    refused(REMOTE, "-t ucx --ucx-lib /nonexistent/libucp.so", "/nonexistent/libucp.so");
    refused(REMOTE, "-t ucx:tcp --ucx-lib libm.so.6", "libm.so.6");
    refused(USAGE, "-t tcp --ucx-lib /nonexistent", "--ucx-lib");
    refused(USAGE, "-t ucx:", "ucx:");
    let Some(library) = library() else { return };
    let bytes = fs::read(library).unwrap();
    let cut = place.file("libucp.so.0", &bytes[..bytes.len() / 2]);
    refused(REMOTE, &format!("-t ucx --ucx-lib {cut}"), &cut);
    // Unknown, and what there is.
    refused(USAGE, "-t ucx:carrier_pigeon", "posix, self, sysv");
}

#[test]
fn a_rank_over_ucx_that_is_killed_is_named_and_leaves_nothing() {
    if library().is_none() {
        return;
    }
    // The makers of System V segments: the fifth column.
    let makers = || {
        let text = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
        let pids = text.lines().filter_map(|line| line.split_whitespace().nth(4)?.parse().ok());
        pids.collect::<Vec<u32>>()
    };
    let place = Workdir::new();
    for (number, transport) in ["ucx:posix", "ucx:sysv", "ucx:tcp"].into_iter().enumerate() {
        let out = format!("run{number}");
        let line = format!("comms1 -t {transport} --sizes 8 --time-budget 100s --out {out}");
        let mark = format!("{}-ucx{number}", std::process::id());
        let mut command = place.command(BINARY);
        command.args(line.split(' ')).args(["--precision", "0.0001%"]);
        command.env("BANDGAP_TEST_RUN", &mark).stdout(Stdio::null()).stderr(Stdio::null());
        let (mut child, begun) = (command.spawn().unwrap(), Instant::now());
        let ranks = loop {
            let ranks = ranks(&format!("BANDGAP_TEST_RUN={mark}"));
            if let ([first, last], true) = (&ranks[..], ranks.iter().all(|of| of.1 > 80)) {
                break [first, last].map(|of| of.0);
            }
            assert!(begun.elapsed() < PATIENCE, "{transport}: no ranks at work: {ranks:?}");
            thread::sleep(Duration::from_millis(20));
        };
        kill_process(Pid::from_raw(ranks[number % 2].cast_signed()).unwrap(), Signal::KILL)
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(RANK), "{transport}");
        let run = fs::read_to_string(place.path(&out).join("run.json")).unwrap();
        let run: Value = serde_json::from_str(&run).unwrap();
        assert!(run["conditions"][0]["batches"]["used"].as_u64() > Some(0), "{transport}");
        assert!(!makers().iter().any(|maker| ranks.contains(maker)), "{transport}");
    }
}
