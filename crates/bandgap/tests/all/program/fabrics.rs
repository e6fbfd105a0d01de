//! Ranks over the messages of a fabric's library, started by bandgap itself.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::mpi::{as_root, launchers, ranks, run};
use crate::program::subject::{BINARY, PATIENCE, RANK, REMOTE, USAGE, Workdir, of_kind, skipped};

/// A library: its transport, its file, how its name begins, and two of its ways between processes of a host.
#[derive(Clone, Copy)]
struct Fabric {
    name: &'static str,
    file: &'static str,
    called: &'static str,
    ways: [&'static str; 2],
}

const FABRICS: [Fabric; 2] = [
    Fabric { name: "ucx", file: "libucp.so.0", called: "UCX 1.", ways: ["ucx:posix", "ucx:tcp"] },
    Fabric {
        name: "ofi",
        file: "libfabric.so.1",
        called: "libfabric ",
        ways: ["ofi:shm", "ofi:tcp"],
    },
];

impl Fabric {
    fn library(&self) -> Option<PathBuf> {
        let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"];
        let mut all = folders.into_iter().map(|folder| PathBuf::from(folder).join(self.file));
        all.find(|path| path.exists())
    }
}

/// The libraries that are here.
fn here() -> impl Iterator<Item = Fabric> {
    FABRICS.into_iter().filter(|fabric| {
        let is_here = fabric.library().is_some();
        if !is_here {
            skipped(format_args!("no {}", fabric.file));
        }
        is_here
    })
}

/// CoMet's kernels on the library's messages, as many as there is time for, each batch checked.
fn kernels_are_verified(ranks: usize) {
    let place = Workdir::new();
    for (fabric, transport) in here().flat_map(|fabric| fabric.ways.map(|way| (fabric, way))) {
        let line = format!("comet --sizes 64 -n {ranks} -t {transport} --check --time-budget 4s");
        let run = place.run(format!("{line} --no-save --json - -q").split(' ')).measured().json();
        let of = &run["conditions"][0];
        assert_eq!((&of["transport"], &of["ranks"]), (&transport.into(), &ranks.into()));
        assert!(of["verified"]["checked"].as_u64() > Some(0), "{of}");
        let library = &run["setup"]["of"][0]["library"];
        assert!(library["name"].as_str().unwrap().starts_with(fabric.called), "{library}");
        // Active Messages.
        let line =
            format!("signature -n {ranks} -t {transport} --time-budget 2s --no-save --json - -q");
        let run = place.run(line.split(' ')).measured().json();
        assert!(run["conditions"][0]["verified"]["timed"].as_u64() > Some(0), "{run}");
    }
}

#[test]
fn kernels_run_on_a_librarys_messages_between_2_ranks_and_are_verified() {
    kernels_are_verified(2);
}

#[test]
fn kernels_run_on_a_librarys_messages_between_4_ranks_and_are_verified() {
    kernels_are_verified(4);
}

/// Each has a floor, a plain loop on the library's own calls.
#[test]
fn ways_are_told_apart_in_one_table_with_their_floors() {
    let place = Workdir::new();
    for Fabric { name, ways: [way, _], .. } in here() {
        // On a noisy machine few batches of a floor count.
        let complete = |budget| {
            let line = format!("comms1 -t {name},{way} --sizes 8,64KiB --time-budget {budget}");
            let mut command = place.command(BINARY);
            // Who names a transport is not refused because of it.
            command.args(line.split(' ')).args(["--no-save", "--json", "-", "-q"]);
            command.env("UCX_TLS", "tcp,self");
            let run = run(command).measured().json();
            if name == "ucx" {
                let set = &run["setup"]["of"][0]["library"]["environment"]["UCX_TLS"];
                assert_eq!(set, "tcp,self");
            }
            let names = run["conditions"].as_array().unwrap().iter().map(|of| &of["transport"]);
            assert_eq!(names.collect::<Vec<_>>(), [name, way]);
            let series = of_kind(&run, "series");
            assert_eq!(series.len(), 2, "{run}");
            series.iter().all(|of| of.to_string().contains("over_floor"))
        };
        assert!(["6s", "15s", "40s"].into_iter().any(complete), "{name}: no ratio to its floor");
    }
}

/// The transport layer of UCX is a layer, and so is an MPI that is known to send over UCX.
#[test]
fn layers_of_ucx_and_an_mpi_stand_on_each_other() {
    let place = Workdir::new();
    if !here().any(|fabric| fabric.name == "ucx") || launchers().is_empty() {
        return;
    }
    let complete = |budget| {
        let line = format!("layers echo --sizes 8 -t ucx:posix,mpi --time-budget {budget}");
        let mut command = place.command(BINARY);
        as_root(command.args(line.split(' ')).args(["--no-save", "--json", "-", "-q"]));
        let run = run(command).measured().json();
        let stands = |name: &str| {
            let all = of_kind(&run, "series").into_iter().filter(|of| of["name"] == "layers");
            let mut rows = all.flat_map(|of| of["points"].as_array().unwrap());
            rows.any(|row| row["transport"] == name && row["cost"].is_object())
        };
        let with = &run["setup"]["of"][1]["library"]["sends_with"];
        stands("ucx:posix") && stands("mpi") == (with == "pml ucx" || with == "ch4:ucx")
    };
    assert!(["6s", "15s", "40s"].into_iter().any(complete));
}

#[test]
fn what_is_wrong_with_a_library_is_told() {
    let place = Workdir::new();
    let refused = |code, args: &str, word: &str| {
        let finished = place.run(format!("synch1 {args} --no-save").split(' ')).ends(code);
        assert!(finished.stderr.contains(word), "{args}: {finished:?}");
    };
    for Fabric { name, .. } in FABRICS {
        refused(REMOTE, &format!("-t {name} --{name}-lib /nonexistent/l.so"), "/nonexistent/l.so");
        refused(REMOTE, &format!("-t {name}:tcp --{name}-lib libm.so.6"), "libm.so.6");
        refused(USAGE, &format!("-t tcp --{name}-lib /nonexistent"), &format!("--{name}-lib"));
        refused(USAGE, &format!("-t {name}:"), &format!("{name}:"));
    }
    for fabric in here() {
        let (name, bytes) = (fabric.name, fs::read(fabric.library().unwrap()).unwrap());
        let cut = place.file(fabric.file, &bytes[..bytes.len() / 2]);
        refused(REMOTE, &format!("-t {name} --{name}-lib {cut}"), &cut);
        // Unknown, and what there is.
        let there = fabric.ways[0].split(':').next_back().unwrap();
        refused(USAGE, &format!("-t {name}:carrier_pigeon"), there);
        if name == "ofi" {
            refused(USAGE, "-t ofi:sockets", "sockets");
        }
    }
}

#[test]
fn a_rank_over_a_library_that_is_killed_is_named_and_leaves_nothing() {
    // The makers of System V segments: the fifth column.
    let makers = || {
        let text = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
        let pids = text.lines().filter_map(|line| line.split_whitespace().nth(4)?.parse().ok());
        pids.collect::<Vec<u32>>()
    };
    let place = Workdir::new();
    let all = |of: Fabric| of.ways.into_iter().chain(Some("ucx:sysv").filter(|_| of.name == "ucx"));
    for (number, transport) in here().flat_map(all).enumerate() {
        let out = format!("run{number}");
        let line = format!("comms1 -t {transport} --sizes 8 --time-budget 100s --out {out}");
        let mark = format!("{}-fabric{number}", std::process::id());
        let mut command = place.command(BINARY);
        command.args(line.split(' ')).args(["--precision", "0.0001%"]);
        command.env("BANDGAP_TEST_RUN", &mark).stdout(Stdio::null()).stderr(Stdio::null());
        let (mut child, begun) = (command.spawn().unwrap(), Instant::now());
        let ranks = loop {
            let ranks = ranks(&format!("BANDGAP_TEST_RUN={mark}"));
            if let ([first, last], true) = (&ranks[..], ranks.iter().all(|of| of.1 > 200)) {
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
        let left = fs::read_dir("/dev/shm").unwrap().map(|of| of.unwrap().file_name());
        let left: Vec<String> = left.filter_map(|name| name.into_string().ok()).collect();
        let is_its = |name: &String| ranks.iter().any(|of| name.contains(&format!("{of}:")));
        assert!(!left.iter().any(is_its), "{transport}: {left:?}");
    }
}
