//! Ranks of an MPI: under its launcher, and started through it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::subject::{
    BINARY, COMMUNICATION, Finished, HOST, MISSING, PATIENCE, RANK, REMOTE, USAGE, Workdir,
    of_kind, skipped, value,
};

/// The launchers of MPIs that are here, or of the one whose folder BANDGAP_MPI names.
pub fn launchers() -> Vec<Vec<String>> {
    let known = ["mpiexec.hydra -n", "mpirun.openmpi --bind-to none --oversubscribe -n"];
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let known = match std::env::var("BANDGAP_MPI") {
        Ok(home) if Path::new(&home).join("bin/mpiexec.hydra").exists() => {
            vec![words(&format!("{home}/bin/{}", known[0]))]
        }
        Ok(home) => vec![words(&known[1].replace("mpirun.openmpi", &format!("{home}/bin/mpirun")))],
        Err(_) => known.map(words).to_vec(),
    };
    let there = |launcher: &Vec<String>| {
        let found = Command::new(&launcher[0]).arg("--version").output().is_ok();
        if !found {
            skipped(format_args!("no {}", launcher[0]));
        }
        found
    };
    known.into_iter().filter(there).collect()
}

fn is_hydra(launcher: &[String]) -> bool {
    launcher[0].ends_with("mpiexec.hydra")
}

/// A command line under a launcher with so many processes.
fn under(place: &Workdir, launcher: &[String], ranks: usize, args: &str) -> Command {
    let mut command = place.command(&launcher[0]);
    command.args(&launcher[1..]).arg(ranks.to_string()).arg(BINARY).args(args.split(' '));
    as_root(&mut command);
    command
}

/// Open MPI refuses root otherwise.
pub fn as_root(command: &mut Command) {
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
}

pub fn run(command: Command) -> Finished {
    let mut command = assert_cmd::Command::from_std(command);
    Finished::from(command.timeout(PATIENCE).output().unwrap())
}

#[test]
fn kernels_run_on_an_mpis_own_messages_and_are_verified() {
    let place = Workdir::new();
    for launcher in launchers() {
        let json = |args: &str| {
            let args = format!("{args} -t mpi --json - -q");
            run(under(&place, &launcher, 2, &args)).measured().json()
        };
        let complete = |budget| {
            let args = format!("comet --sizes 8,64KiB --time-budget {budget} -t mpi --json - -q");
            let run = run(under(&place, &launcher, 2, &args));
            (run.code == Some(0)).then(|| run.json())
        };
        let run = ["15s", "40s"].into_iter().find_map(complete).expect("all kernels");
        let of = &run["conditions"][0];
        assert_eq!((&of["transport"], &of["ranks"]), (&"mpi".into(), &2.into()), "{launcher:?}");
        assert!(of["verified"]["checked"].as_u64() > Some(0), "{of}");
        let results = run["results"].as_array().unwrap();
        let named = |name: &str| results.iter().find(|of| of["name"] == name);
        for name in ["echo", "exchange", "broadcast", "global_sum", "barrier", "transpose"] {
            assert!(named(name).is_some(), "{launcher:?}: {name} of {results:#?}");
        }
        let variants = &named("broadcast").unwrap()["points"][0]["variant"];
        assert_eq!(variants, "library");
        let osu = json(
            "comet echo broadcast global_sum barrier gather --sizes 16 --shape osu --time-budget 5s",
        );
        for of in osu["results"].as_array().unwrap() {
            assert_eq!(of["points"][0]["shape"], "osu", "{of}");
            assert_ne!(of["verified"], false, "{of}");
            let at = |name| of["points"][0][name]["value"].as_f64().unwrap();
            assert!(at("min") <= at("p50") && at("p50") <= at("max"));
            assert!(at("min") < at("time") && at("time") < at("max"));
        }
        let windows = json("comet stream bidirectional --sizes 8,64KiB --time-budget 5s");
        for of in windows["results"].as_array().unwrap().iter().filter(|of| of["kind"] == "series")
        {
            assert_eq!((&of["verified"], &of["labels"]["window"]), (&true.into(), &64.into()));
            let points = of["points"].as_array().unwrap();
            let value = |row: &serde_json::Value, name| row[name]["value"].as_f64().unwrap();
            for row in points {
                let bytes = row["bytes"].as_f64().unwrap();
                let share = value(row, "bandwidth") / (bytes * value(row, "rate"));
                assert!((share - 1.0).abs() < 1e-9, "{row}");
            }
        }
        assert_eq!(osu["results"].as_array().unwrap().len(), 5);
        // Active Messages over it.
        let run = json("signature --time-budget 4s");
        assert_eq!(run["conditions"][0]["transport"], "mpi");
        let own = json("comet barrier --algorithm all --time-budget 4s");
        let points = own["results"][0]["points"].as_array().unwrap().clone();
        let by: Vec<&str> = points.iter().filter_map(|row| row["variant"].as_str()).collect();
        assert_eq!(by, ["library", "dissemination", "tree"]);
    }
}

#[test]
fn an_mpi_is_named_and_its_collectives_are_verified() {
    let place = Workdir::new();
    for launcher in launchers() {
        let args = "comet all_reduce all_gather all_to_all reduce_scatter reduce gather scatter \
             --sizes 1KiB --time-budget 10s -t mpi --json - -q";
        let run = run(under(&place, &launcher, 2, args)).measured().json();
        let series = of_kind(&run, "series");
        assert_eq!(series.len(), 7, "{run}");
        for of in series {
            let point = &of["points"][0];
            assert_eq!((&point["variant"], &of["verified"]), (&"library".into(), &true.into()));
            let [by, bus] = ["bandwidth", "bus_bandwidth"].map(|of| &point[of]["value"]);
            let factor =
                if of["name"] == "reduce" || of["name"] == "all_reduce" { 1.0 } else { 0.5 };
            let ratio = bus.as_f64().unwrap() / by.as_f64().unwrap();
            assert!((ratio / factor - 1.0).abs() < 1e-9, "{of}");
        }
        let of = &run["setup"]["of"][0]["library"];
        let said = of["launcher"].as_str().unwrap();
        assert!(said.contains(" -n"), "{of}");
        assert!(fs::exists(of["path"].as_str().unwrap()).unwrap(), "{of}");
    }
}

#[test]
fn ranks_are_started_by_the_mpis_launcher_for_each_launch() {
    let place = Workdir::new();
    for launcher in launchers() {
        let mut command = place.command(BINARY);
        as_root(&mut command);
        let with = format!("{} {{ranks}}", launcher.join(" "));
        command.args(["synch1", "-t", "mpi", "-n", "2", "--launches", "2", "--time-budget", "8s"]);
        command.args(["--launch-with", &with, "--no-save", "--json", "-", "-q"]);
        command.env("MPICH_OF_THIS_TEST", "7").env("OMPI_MCA_of_this_test", "7");
        let json = run(command).measured().json();
        let of = &json["setup"]["of"][0]["library"];
        // That of the library, not of others.
        let set = ["MPICH_OF_THIS_TEST", "OMPI_MCA_of_this_test"];
        let is_open_mpi = of["version"].as_str().unwrap().contains("Open MPI");
        let has = set.map(|name| of["environment"][name] == "7");
        assert_eq!(has, [!is_open_mpi, is_open_mpi], "{of}");
        // What the launcher itself sets says nothing of the user's settings.
        for own in ["OMPI_MCA_ess", "OMPI_MCA_initial_wdir"] {
            let mut keys = of["environment"].as_object().unwrap().keys();
            assert!(!keys.any(|key| key.starts_with(own)), "{of}");
        }
        let of = &json["conditions"][0];
        assert_eq!((&of["launches"], &of["ranks"]), (&2.into(), &2.into()), "{launcher:?}");
        assert_eq!(place.names(), Vec::<String>::new());
    }
}

/// A length that goes by rendezvous, or in pieces, has no model, which is a result that is missing.
#[test]
fn a_message_is_divided_inside_an_mpi_that_uses_ucx() {
    let place = Workdir::new();
    for launcher in launchers() {
        let args = "breakdown -t mpi --sizes 8,64KiB --time-budget 14s --no-save --json - -q";
        let run = run(under(&place, &launcher, 2, args));
        if run.code == Some(REMOTE) {
            skipped(format_args!("no UCX below {}: {}", launcher[0], run.stderr.trim()));
            continue;
        }
        let run = run.ends(MISSING).json();
        let of = of_kind(&run, "breakdown")[0];
        assert_eq!((&of["name"], of["models"].as_array().unwrap().len()), (&"mpi".into(), 3));
        for name in ["latency", "coarse_latency", "injection"] {
            let passes = of["measured"]["passes"][name].as_str().unwrap();
            assert!(passes.starts_with("am_short, ") && passes.contains("eager"), "{passes}");
        }
        // Ranks of one host have a line between them.
        for beside in ["stamp", "awaited_stamp", "line"] {
            assert!(value(&of["measured"][beside]) > 0.0, "{of}");
        }
        let notes = run["notes"].as_array().unwrap();
        let off = notes.iter().find(|note| note["code"] == "counts_off").unwrap();
        assert_eq!(off["about"], "breakdown/mpi:bytes=65536/model=latency");
        assert!(off["values"]["count"].as_f64() > Some(1.5), "{off}");
        let facts = &run["setup"]["of"][0]["library"]["facts"];
        assert!(facts["fabric"].as_str().unwrap().starts_with("UCX 1."), "{facts}");
    }
}

/// A system that refuses to change the protection of a page, and such a page with a jump slot in it.
#[test]
fn a_jump_slot_that_may_not_be_changed_leaves_no_breakdown() {
    const REFUSES: &str = "#define _GNU_SOURCE
        #include <errno.h>
        #include <stddef.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        extern __attribute__((weak)) void ucp_tag_send_nbx(void);
        void *slot(void) { return (void *)ucp_tag_send_nbx; }
        int mprotect(void *at, size_t bytes, int how) {
            if (how != 3) return syscall(SYS_mprotect, at, bytes, how);
            errno = EACCES;
            return -1;
        }";
    let place = Workdir::new();
    let (source, library) = (place.file("refuses.c", REFUSES), place.path("refuses.so"));
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-Wl,-z,now", "-Wl,-z,relro", "-o"])
        .arg(&library)
        .arg(place.path(&source));
    if !cc.status().is_ok_and(|status| status.success()) {
        return skipped(format_args!("no cc"));
    }
    for launcher in launchers() {
        let mut command = place.command(BINARY);
        as_root(&mut command);
        let with = format!("{} {{ranks}}", launcher.join(" "));
        command.args(["breakdown", "-t", "mpi", "-q", "--no-save", "--json", "-"]);
        command.args(["--launch-with", &with]).env("LD_PRELOAD", &library);
        let finished = run(command);
        // Where MPI does not use UCX nothing is changed.
        if finished.code != Some(REMOTE) {
            let run = finished.ends(HOST).json();
            assert_eq!(of_kind(&run, "breakdown"), Vec::<&Value>::new());
        }
    }
}

/// An MPICH in which one collective has another name, and then a function that must be there has, too. From the ELF-64 object file format: tables 1, 4 and 7.
#[test]
fn a_collective_that_a_library_lacks_is_named_and_the_others_are_measured() {
    let place = Workdir::new();
    let path = Path::new("/usr/lib/x86_64-linux-gnu/libmpich.so.12");
    let Some(launcher) = launchers().into_iter().find(|of| is_hydra(of) && path.exists()) else {
        return skipped(format_args!("no {} with its launcher", path.display()));
    };
    let mut bytes = fs::read(path).unwrap();
    let number = |bytes: &[u8], at: usize, long: usize| {
        bytes[at..at + long].iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte))
    };
    let sections = number(&bytes, 40, 8);
    let of = |index: usize, field: usize| number(&bytes, sections + 64 * index + field, 8);
    let symbols = (0..number(&bytes, 60, 2)).find(|at| of(*at, 4) as u32 == 11).unwrap();
    let names = of(number(&bytes, sections + 64 * symbols + 40, 4), 24);
    let places = (of(symbols, 24)..of(symbols, 24) + of(symbols, 32)).step_by(24);
    let cut = place.path("libmpi-cut.so");
    let mut rename = |name: &[u8]| {
        let is_its = |at: &usize| bytes[names + number(&bytes, *at, 4)..].starts_with(name);
        let at = places.clone().find(is_its).unwrap();
        bytes[at] += 4;
        fs::write(&cut, &bytes).unwrap();
    };
    rename(b"MPI_Gather\0");
    let lib = cut.display();
    let args = format!("comet gather scatter -t mpi --mpi-lib {lib} --sizes 1KiB,8KiB --json - -q");
    let under = || run(under(&place, &launcher, 2, &format!("{args} --time-budget 4s")));
    let run = under().measured().json();
    let series = |name: &str| of_kind(&run, "series").iter().any(|of| of["name"] == name);
    assert_eq!(["gather", "scatter"].map(series), [false, true]);
    let mut notes = run["notes"].as_array().unwrap().iter();
    let note = notes.find(|of| of["code"] == "collective_unavailable").unwrap();
    assert_eq!(note["about"], "series/gather/mpi");
    rename(b"MPI_Isend\0");
    assert!(under().ends(HOST).stderr.contains("MPI_Isend"));
}

#[test]
fn what_is_wrong_with_an_mpi_is_told_and_nothing_hangs() {
    let place = Workdir::new();
    let refused = |args: &[&str]| place.run([&["synch1", "-n", "2", "--no-save"], args].concat());
    let missing = refused(&["-t", "mpi", "--mpi-lib", "/nonexistent/libmpi.so"]).ends(REMOTE);
    assert!(missing.stderr.contains("/nonexistent/libmpi.so"), "{missing:?}");
    let with = |command| refused(&["-t", "mpi", "--launch-with", command]);
    assert!(with("false").ends(REMOTE).stderr.contains("false"));
    assert!(with("/nonexistent -n {ranks}").ends(REMOTE).stderr.contains("/nonexistent"));
    // Before another transport is measured.
    let layers = "layers synch1 -t shm,mpi --mpi-lib /nonexistent --json - --no-save";
    assert!(place.run(layers.split(' ')).ends(REMOTE).stdout.is_empty());
    // Each process of a launcher has a rank.
    for launcher in launchers() {
        let args = "comms1 -t mpi --no-save --deadline 20s";
        let finished = run(under(&place, &launcher, 3, args));
        assert_eq!(finished.code, Some(REMOTE), "{launcher:?}: {finished:?}");
        // What is wrong with the options is told at once: the others do not wait for the first.
        let finished = run(under(&place, &launcher, 2, "comet barrier -t mpi --sizes 8"));
        assert_eq!(finished.code, Some(USAGE), "{launcher:?}: {finished:?}");
        // Help is said once.
        let help = run(under(&place, &launcher, 2, "synch1 --help")).stdout;
        assert_eq!(help.trim_end(), place.run(["synch1", "--help"]).stdout.trim_end());
        // An initialisation that waits for a third rank has no end.
        let more = format!("{} 3", launcher.join(" "));
        let mut command = place.command(BINARY);
        as_root(&mut command);
        command.args(["synch1", "-t", "mpi", "-n", "2", "--no-save", "--deadline", "3s"]);
        let finished = run({
            command.args(["--launch-with", &more]);
            command
        });
        assert_eq!(finished.code, Some(COMMUNICATION), "{launcher:?}: {finished:?}");
    }
    // What a library does, another transport does not.
    place.run(["comet", "barrier", "--algorithm", "library", "--no-save"]).ends(USAGE);
    let launchers = launchers();
    let [hydra, open_mpi] = &launchers[..] else { return };
    for (launcher, library) in [(open_mpi, "libmpich.so.12"), (hydra, "libmpi.so.40")] {
        let args = format!("synch1 -t mpi --mpi-lib {library} --no-save --deadline 20s");
        let finished = run(under(&place, launcher, 2, &args));
        let ended = finished.code.is_some_and(|code| code != 0);
        assert!(ended, "{launcher:?}: {finished:?}");
    }
}

#[test]
fn a_rank_that_is_killed_is_named_and_batches_are_kept() {
    let place = Workdir::new();
    let trials = std::env::var("BANDGAP_FAULTS").ok().and_then(|count| count.parse().ok());
    let all = launchers();
    let count = trials.unwrap_or(all.len());
    for (number, launcher) in all.iter().cycle().take(count).enumerate() {
        let out = format!("run{number}");
        let args = format!(
            "comms1 -t mpi --sizes 8,64 --time-budget 100s --precision 0.0001% --out {out}"
        );
        let mut command = under(&place, launcher, 2, &args);
        let mark = format!("{}-mpi{number}", std::process::id());
        command.env("BANDGAP_TEST_RUN", &mark);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        let rank = loop {
            // They have worked for a while, in each trial for another time.
            let (least, which) = (80 + number as u64 * 37 % 100, number / all.len() % 2);
            let ranks = ranks(&format!("BANDGAP_TEST_RUN={mark}"));
            if let ([first, last], true) = (&ranks[..], ranks.iter().all(|of| of.1 > least)) {
                break [last, first][which].0;
            }
            assert!(begun.elapsed() < PATIENCE, "{launcher:?}: no ranks at work: {ranks:?}");
            std::thread::sleep(Duration::from_millis(20));
        };
        kill_process(Pid::from_raw(rank.cast_signed()).unwrap(), Signal::KILL).unwrap();
        let status = child.wait().unwrap();
        assert!(!status.success(), "{launcher:?}");
        let run = fs::read_to_string(place.path(&out).join("run.json")).unwrap();
        let run: Value = serde_json::from_str(&run).unwrap();
        assert!(run["conditions"][0]["batches"]["used"].as_u64() > Some(0), "{launcher:?}");
        if is_hydra(launcher) {
            assert_eq!(status.code(), Some(RANK));
        }
    }
}

/// The ranks whose environment has this in it, and the hundredths of a second that they have used.
pub fn ranks(mark: &str) -> Vec<(u32, u64)> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let of = |pid: u32| {
        let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).ok();
        let line = String::from_utf8_lossy(&read("cmdline")?).replace('\0', " ");
        let environment = String::from_utf8_lossy(&read("environ")?).into_owned();
        let stat = String::from_utf8_lossy(&read("stat")?).into_owned();
        let used = stat.rsplit_once(") ")?.1.split(' ').nth(11)?.parse().ok()?;
        let is = line.contains("bandgap rank") && environment.contains(mark);
        is.then_some((pid, used))
    };
    pids.filter_map(of).collect()
}
