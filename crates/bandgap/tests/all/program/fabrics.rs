//! Ranks over the messages of a fabric's library, started by bandgap itself.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::mpi::{as_root, launchers, ranks, run};
use crate::program::subject::{
    BINARY, COMMUNICATION, HOST, PATIENCE, RANK, REMOTE, USAGE, Workdir, of_kind, skipped,
};

/// A library: its transport, its file, how its name begins, and two of its ways between processes of a host.
#[derive(Clone, Copy)]
pub struct Fabric {
    pub name: &'static str,
    file: &'static str,
    called: &'static str,
    pub ways: [&'static str; 2],
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
    /// The one that BANDGAP_UCX or BANDGAP_OFI names, or the system's.
    pub fn library(&self) -> Option<PathBuf> {
        if let Some(named) = std::env::var_os(format!("BANDGAP_{}", self.name.to_uppercase())) {
            return Some(PathBuf::from(named));
        }
        let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"];
        let mut all = folders.into_iter().map(|folder| PathBuf::from(folder).join(self.file));
        all.find(|path| path.exists())
    }

    /// Words of a command line that measures over this way.
    fn over(&self, way: &str) -> String {
        let library = self.library().unwrap();
        format!("-t {way} --{}-lib {}", self.name, library.display())
    }
}

/// The libraries that are here.
pub fn here() -> impl Iterator<Item = Fabric> {
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
        let over = fabric.over(transport);
        let line = format!("comet --sizes 64 -n {ranks} {over} --check --time-budget 4s");
        let run = place.run(format!("{line} --no-save --json - -q").split(' ')).measured().json();
        let of = &run["conditions"][0];
        assert_eq!((&of["transport"], &of["ranks"]), (&transport.into(), &ranks.into()));
        assert!(of["verified"]["checked"].as_u64() > Some(0), "{of}");
        let library = &run["setup"]["of"][0]["library"];
        assert!(library["name"].as_str().unwrap().starts_with(fabric.called), "{library}");
        // Active Messages.
        let line = format!("signature -n {ranks} {over} --time-budget 2s --no-save --json - -q");
        let run = place.run(line.split(' ')).measured().json();
        assert!(run["conditions"][0]["verified"]["timed"].as_u64() > Some(0), "{run}");
    }
}

#[test]
fn kernels_run_on_a_librarys_messages_between_2_ranks_and_are_verified() {
    kernels_are_verified(2);
}

#[test]
fn datagrams_of_a_library_are_verified() {
    let place = Workdir::new();
    for fabric in here().filter(|fabric| fabric.name == "ofi") {
        let line = format!("comet --sizes 64 {} --check", fabric.over("ofi:udp;ofi_rxd"));
        let line = format!("{line} --time-budget 2s --no-save --json - -q");
        let run = place.run(line.split(' ')).measured().json();
        assert!(run["conditions"][0]["verified"]["checked"].as_u64() > Some(0), "{run}");
        let library = &run["setup"]["of"][0]["library"];
        assert_eq!(library["facts"]["provider"], "udp;ofi_rxd", "{library}");
    }
}

/// A library of UCX that is cut ends whoever opens it by SIGBUS.
#[test]
fn doctor_tells_which_libraries_are_here_and_which_an_mpi_uses() {
    let place = Workdir::new();
    let doctor = |folder: &str| {
        let mut command = place.command(BINARY);
        command.args(["doctor", "--json", "-", "-q"]).env("UCX_TLS", "tcp,posix,self");
        if !folder.is_empty() {
            command.env("LD_LIBRARY_PATH", place.path(folder));
        }
        let finished = run(command);
        assert!(matches!(finished.code, Some(0 | 1)), "{finished:?}");
        finished.json()["host"].clone()
    };
    let all = doctor("");
    let of = |all: &Value, called: &str| {
        let mut fabrics = all["fabrics"].as_array().unwrap().iter();
        fabrics.find(|of| of["name"].as_str().unwrap().starts_with(called)).cloned()
    };
    for fabric in here() {
        let found = of(&all, fabric.called).unwrap();
        let path = fs::canonicalize(fabric.library().unwrap()).unwrap();
        assert_eq!(found["path"], path.to_str().unwrap());
        let version = found["version"].as_str().unwrap();
        assert!(found["name"].as_str().unwrap().ends_with(version), "{found}");
        let [near, far] = fabric.ways.map(|way| way.split_once(':').unwrap().1);
        assert_eq!(found["ways"][near].as_array().map(Vec::len), Some(1), "{found}");
        let far = found["ways"].as_object().unwrap().iter().find(|way| way.0.starts_with(far));
        assert!(far.unwrap().1.as_array().unwrap().contains(&"lo".into()), "{found}");
        if fabric.name == "ucx" {
            assert_eq!(found["environment"]["UCX_TLS"], "tcp,posix,self");
            assert!(found["ways"]["sysv"].is_null());
            // Debian's MPICH is linked with it, and its Open MPI has a plug-in that is.
            for mpi in all["mpi"].as_array().into_iter().flatten() {
                assert!(mpi["fabrics"].as_array().unwrap().contains(&found["path"]), "{mpi}");
            }
        }
    }
    let Some(ucx) = here().find(|fabric| fabric.name == "ucx") else { return };
    let bytes = fs::read(ucx.library().unwrap()).unwrap();
    place.file(ucx.file, &bytes[..bytes.len() / 2]);
    let all = doctor(".");
    assert!(of(&all, "ucx").unwrap()["facts"]["error"].is_string(), "{all}");
    assert_eq!(here().count(), all["fabrics"].as_array().unwrap().len());
}

/// A library that prints more than a pipe holds when it is opened.
#[test]
fn doctor_reads_all_that_a_library_prints() {
    const CHATTY: &str = "#include <stdio.h>
        #include <string.h>
        __attribute__((constructor)) static void begin(int count, char **words) {
            if (count > 1 && strcmp(words[1], \"survey\") == 0)
                for (int i = 0; i < 20000; i++) puts(\"a library is here\");
            fflush(stdout);
        }";
    let place = Workdir::new();
    let (source, library) = (place.file("chatty.c", CHATTY), place.path("chatty.so"));
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(place.path(&source));
    if !cc.status().is_ok_and(|status| status.success()) {
        return skipped(format_args!("no cc"));
    }
    let mut command = place.command(BINARY);
    command.args(["doctor", "--json", "-", "-q"]).env("LD_PRELOAD", &library);
    let host = run(command).json()["host"].clone();
    let names = |of: &Value| of["name"].as_str().unwrap().to_owned();
    let found: Vec<String> = host["fabrics"].as_array().unwrap().iter().map(names).collect();
    for fabric in here() {
        assert!(found.iter().any(|name| name.starts_with(fabric.called)), "{host}");
    }
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
            let claims = &run["setup"]["of"][0]["library"]["claims"]["8"];
            assert_eq!(claims.as_f64() > Some(0.0), name == "ucx", "{run}");
            let claimed = |of: &Value| of.to_string().contains("claimed") == (name == "ucx");
            assert!(series.iter().all(|of| claimed(of)), "{run}");
            series.iter().all(|of| of.to_string().contains("over_floor"))
        };
        assert!(["6s", "15s", "40s"].into_iter().any(complete), "{name}: no ratio to its floor");
    }
}

/// A way that lacks one has no row of it.
#[test]
fn puts_are_floors_of_the_ways_that_have_them() {
    let place = Workdir::new();
    for Fabric { name, ways: [way, other], .. } in here() {
        let [both, near] = if name == "ucx" { ["ucp_put", "uct_put"] } else { ["fi_writedata"; 2] };
        let wanted = [[both, way], [near, way], [both, other]];
        let complete = |budget| {
            let line = format!("floor {both} -t {way},{other} --launches 1 --time-budget {budget}");
            let names = if near == both { String::new() } else { format!(" {near}") };
            let run = place.run(format!("{line} --no-save --json - -q{names}").split(' '));
            let run = run.measured().json();
            let text = |of: &Value| of.as_str().unwrap().to_owned();
            let floors = of_kind(&run, "floor").into_iter();
            let found: Vec<_> =
                floors.map(|of| [&of["name"], &of["transport"]].map(text)).collect();
            let is_there = |of: &[&str; 2]| found.iter().any(|one| one == of);
            assert!(near == both || !is_there(&[near, other]), "{run}");
            wanted.iter().all(is_there)
        };
        assert!(["2s", "6s", "20s"].into_iter().any(complete), "{name}: {wanted:?}");
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
        let line = format!("floor -t {name} --{name}-lib /nonexistent/l.so --no-save");
        let finished = place.run(line.split(' ')).ends(REMOTE);
        assert!(finished.stderr.contains("/nonexistent/l.so"), "{finished:?}");
    }
    for fabric in here() {
        let (name, bytes) = (fabric.name, fs::read(fabric.library().unwrap()).unwrap());
        let cut = place.file(fabric.file, &bytes[..bytes.len() / 2]);
        refused(REMOTE, &format!("-t {name} --{name}-lib {cut}"), &cut);
        // What leaves nothing is named.
        let (variable, code) = match name {
            "ucx" => ("UCX_TLS", COMMUNICATION),
            _ => ("FI_PROVIDER", USAGE),
        };
        let mut command = place.command(BINARY);
        command.args(["synch1", "-t", name, "--no-save"]).env(variable, "carrier_pigeon");
        let told = run(command).ends(code).stderr;
        assert!(told.contains(&format!("{variable}=carrier_pigeon")), "{told}");
        // Unknown, and what there is.
        let there = fabric.ways[0].split(':').next_back().unwrap();
        refused(USAGE, &format!("-t {name}:carrier_pigeon"), there);
        if name == "ofi" {
            refused(USAGE, "-t ofi:sockets", "sockets");
            // So much memory that no machine has it.
            let mut command = place.command(BINARY);
            command.args("synch1 --no-save -t ofi:tcp;ofi_rxm".split(' '));
            command.env("FI_OFI_RXM_BUFFER_SIZE", "1000000000000");
            assert!(run(command).ends(HOST).stderr.contains("ulimit -l"));
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
    let ways =
        |of: Fabric| of.ways.into_iter().chain(Some("ucx:sysv").filter(|_| of.name == "ucx"));
    let all: Vec<_> = here().flat_map(|of| ways(of).map(move |way| (of, way))).collect();
    let trials = std::env::var("BANDGAP_FAULTS").ok().and_then(|count| count.parse().ok());
    let count = trials.unwrap_or(all.len());
    for (number, (fabric, transport)) in all.iter().cycle().take(count).enumerate() {
        let out = format!("run{number}");
        let over = fabric.over(transport);
        let line = format!("comms1 {over} --sizes 8 --time-budget 100s --out {out}");
        let mark = format!("{}-fabric{number}", std::process::id());
        let mut command = place.command(BINARY);
        command.args(line.split(' ')).args(["--precision", "0.0001%"]);
        command.env("BANDGAP_TEST_RUN", &mark).stdout(Stdio::null()).stderr(Stdio::null());
        let (mut child, begun) = (command.spawn().unwrap(), Instant::now());
        let ranks = loop {
            let ranks = ranks(&format!("BANDGAP_TEST_RUN={mark}"));
            // They have worked for a while, in each trial for another time.
            let least = 80 + number as u64 * 37 % 150;
            if let ([first, last], true) = (&ranks[..], ranks.iter().all(|of| of.1 > least)) {
                break [first, last].map(|of| of.0);
            }
            assert!(begun.elapsed() < PATIENCE, "{transport}: no ranks at work: {ranks:?}");
            thread::sleep(Duration::from_millis(20));
        };
        // Libraries take signals. Of SEGV the first alone is not meant: no instruction repeats it.
        let signal = [Signal::SEGV, Signal::KILL, Signal::TERM][number % 3];
        let rank = Pid::from_raw(ranks[number % 2].cast_signed()).unwrap();
        kill_process(rank, signal).unwrap();
        thread::sleep(Duration::from_millis(20));
        let _ = kill_process(rank, signal);
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
