//! Results are kept before anything is printed, wherever output goes.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use bandgap_record::RunDir;
use bandgap_results::Run;

use crate::program::subject::{BINARY, INTERRUPTED, OUTPUT, USAGE, Workdir, skipped};

/// Commands that keep what they find in `run`.
const KEEPING: [&str; 6] = [
    "run -t sim:paragon",
    "comms1 -t sim:ipsc860 --sizes 8:1KiB --json run.json",
    "whatif --from thunderx2-connectx4",
    "fit logp samples.csv",
    "topology",
    "comet overlap barrier -t sim:ipsc860 --sizes 8",
];

fn place() -> Workdir {
    let place = Workdir::new();
    place.file("samples.csv", include_str!("../../../../../docs/examples/paragon.csv"));
    place
}

fn kept(place: &Workdir) -> Run {
    bandgap_record::read(&place.path("run")).unwrap()
}

/// The run that was rescued to the place for temporary files.
fn rescued(place: &Workdir) -> Run {
    let names = place.temporary();
    let [name] = &names[..] else { panic!("{names:?}") };
    bandgap_record::read(&place.path("../temporary").join(name)).unwrap()
}

#[test]
fn a_standard_output_that_fails_loses_no_result() {
    for broken in ["> /dev/full", ">&-"] {
        for command in KEEPING {
            let place = place();
            place.shell(&format!("bandgap {command} --out run {broken}")).ends(OUTPUT);
            let run = kept(&place);
            assert_eq!((run.results.is_empty(), run.interrupted), (command == "topology", false));
        }
    }
}

#[test]
fn a_signal_ends_the_wait_for_the_reader_of_a_pipe() {
    let place = place();
    if place.shell("mkfifo pipe").code != Some(0) {
        skipped(format_args!("there is no mkfifo here"));
        return;
    }
    // The signal comes before a reader does, and only once.
    let line = "bandgap comms1 -t sim:ipsc860 --sizes 8 --json pipe --out run & job=$!; \
                until [ -e run/run.json ]; do sleep 0.05; done; sleep 0.2; kill -TERM $job; wait $job";
    let finished = place.shell(line).ends(INTERRUPTED);
    assert!(finished.stderr.contains("pipe"), "{finished:?}");
    assert!(!kept(&place).results.is_empty());
    let read = "bandgap comms1 -t sim:ipsc860 --sizes 8 --json pipe --no-save & cat pipe; wait $!";
    let read = place.shell(read).ends(0).stdout;
    assert!(read.contains("\"results\""), "{read}");
}

#[test]
fn what_is_only_printed_and_cannot_be_ends_with_the_code_of_output() {
    for command in [
        "signature -t sim:paragon --no-save",
        "signature -t sim:paragon --json - --no-save",
        "breakdown --from thunderx2-connectx4",
        "topology --json -",
        "--help",
        "--version",
        "man",
        "completions bash",
    ] {
        for broken in ["> /dev/full", ">&-"] {
            let place = Workdir::new();
            place.shell(&format!("bandgap {command} {broken}")).ends(OUTPUT);
            // What was measured is kept elsewhere, although nobody asked for that.
            match command.starts_with("signature") {
                true => assert!(!rescued(&place).results.is_empty()),
                false => assert!(place.temporary().is_empty()),
            }
            assert!(place.names().is_empty());
        }
        // A reader that has read enough is no failure.
        let finished = Workdir::new().shell(&format!("{{ bandgap {command}; echo $? >&2; }} | :"));
        assert_eq!(finished.stderr.lines().last(), Some("0"), "{command}: {}", finished.stderr);
    }
}

#[test]
fn a_standard_error_that_fails_changes_nothing() {
    let command = "bandgap run -t sim:ipsc860 --out run";
    // The first line says how long it took.
    let table = |printed: &str| printed.split_once('\n').unwrap().1.to_owned();
    let whole = Workdir::new().shell(&format!("{command} 2> notes && test -s notes")).ends(0);
    for broken in ["2>&-", "2> /dev/full", "2>&1 >out | :; test -s out && cat out"] {
        let place = Workdir::new();
        let printed = place.shell(&format!("{command} {broken}")).ends(0).stdout;
        assert_eq!(table(&printed), table(&whole.stdout), "{broken}");
        assert!(!kept(&place).results.is_empty());
    }
}

#[test]
fn a_file_of_json_is_replaced_whole() {
    let place = Workdir::new();
    let old = |name: &str| fs::read(place.path(name)).unwrap();
    place.file("run.json", "old");
    let json = |command: &str| place.shell(&format!("bandgap {command} --no-save"));
    // What is refused has not touched it, and makes none.
    json("signature -t sim:cray --json run.json").ends(3);
    json("signature -t sim:cray --json new.json").ends(3);
    assert_eq!((old("run.json"), place.names()), (b"old".into(), vec!["run.json".into()]));
    // A link still leads to the file.
    std::os::unix::fs::symlink("run.json", place.path("link.json")).unwrap();
    json("signature -t sim:paragon --json link.json").ends(0);
    let run = Run::from_json(&old("run.json")).unwrap();
    assert!(!run.results.is_empty() && place.path("link.json").is_symlink());
    assert_eq!(place.names(), ["link.json", "run.json"]);
    // What is no file gets it once.
    let piped = json("signature -t sim:paragon --quiet --json /dev/stderr").ends(0);
    assert_eq!(Run::from_json(piped.stderr.as_bytes()).unwrap().results, run.results);
    // A file that does not fit loses nothing.
    json("signature -t sim:paragon --json /dev/full").ends(OUTPUT);
    assert_eq!(rescued(&place).results, run.results);
    // Nor where another place has the run.
    place.shell("bandgap signature -t sim:paragon --out run --json /dev/full").ends(OUTPUT);
    assert_eq!(kept(&place).results, run.results);
}

#[test]
fn words_that_are_no_text_are_paths_or_refused() {
    let odd = OsStr::from_bytes(b"x\xff");
    for (words, code) in [
        ("topology --out", 0),
        ("signature -t sim:paragon --no-save --json", 0),
        ("topology --transport", 2),
        ("floor", 2),
        ("rank", 2),
        ("fit hockney", 3),
        ("breakdown --from", 3),
    ] {
        let place = Workdir::new();
        let args = words.split(' ').map(OsString::from).chain([odd.to_owned()]);
        place.run(args).ends(code);
        assert_eq!(place.work().join(odd).exists(), code == 0, "{words}");
    }
    // Nothing may depend on an environment that is text.
    let mut command = Workdir::new().command(BINARY);
    command
        .args(["topology"])
        .current_dir("/")
        .envs(["LANG", "LC_ALL", "NO_COLOR"].map(|v| (v, odd)));
    assert_eq!(command.output().unwrap().status.code(), Some(0));
}

#[test]
fn a_run_that_its_directory_does_not_take_is_rescued() {
    let place = Workdir::new();
    fs::create_dir(place.path("disk")).unwrap();
    // In a namespace of its own the file system needs no cleaning up. The run's directory can be made on it, and then
    // nothing more.
    let line = "mount -t tmpfs -o size=8k,nr_inodes=8 none disk || exit 99; head -c 8192 /dev/zero > disk/filling; \
                bandgap signature -t sim:paragon --out disk/run";
    let finished = place.shell(&format!("unshare --mount --map-root-user sh -c '{line}'"));
    if finished.stderr.contains("unshare") || finished.code == Some(99) {
        skipped(format_args!("no small disk can be made: {finished:?}"));
        return;
    }
    finished.ends(OUTPUT);
    assert!(!rescued(&place).results.is_empty());
}

#[test]
fn where_no_file_may_be_long_nothing_is_left() {
    let place = Workdir::new();
    place.shell("ulimit -f 1; bandgap signature -t sim:paragon --out run").ends(OUTPUT);
    assert_eq!((place.names(), place.temporary()), (Vec::new(), Vec::new()));
}

#[test]
fn places_that_take_no_files_are_refused_before_anything_is_measured() {
    let place = Workdir::new();
    fs::create_dir(place.path("full")).unwrap();
    place.file("full/notes.txt", "keep me");
    place.file("plain", "");
    let before = place.names();
    let long = "x".repeat(300);
    // Nobody makes a file in the last, root neither.
    for out in ["full", "plain", "plain/below", "/dev/full/run", &long, "/proc/tty/ldisc"] {
        let finished = place.run(["signature", "--out", out]).ends(OUTPUT);
        assert_eq!((finished.stdout, place.names()), (String::new(), before.clone()), "{out}");
    }
    for json in ["none/run.json", "full"] {
        place.run(["signature", "-t", "sim:paragon", "--no-save", "--json", json]).ends(OUTPUT);
    }
    assert_eq!(place.names(), before);
    assert!(Path::new(&place.path("full/notes.txt")).exists());
}

/// The barrier moves no byte, and the machine does not say what one costs.
#[test]
fn what_was_measured_outlives_a_later_measurement_that_cannot_be_begun() {
    let place = Workdir::new();
    place.run(["comet", "barrier", "overlap", "-t", "sim:paragon", "--out", "run"]).ends(3);
    let run = kept(&place);
    assert!(run.interrupted && !run.results.is_empty());
}

/// The newest run is the last that measured something.
#[test]
fn a_run_without_anything_measured_keeps_no_place_of_its_own() {
    let place = Workdir::new();
    place.run(["signature", "-t", "sim:ipsc860", "-q"]).ends(0);
    let missing = ["comms1", "-t", "ucx", "--ucx-lib", "/nonexistent.so"];
    place.run(missing).ends(10);
    let last = place.run(["show", "LAST"]);
    last.ends(0);
    assert_eq!(std::fs::read_dir(place.path("bandgap-runs")).unwrap().count(), 1);
    // A place that was named has what there is.
    place.run([&missing[..], &["--out", "failed"]].concat()).ends(10);
    assert!(place.path("failed/run.json").exists());
}

#[test]
fn the_beginning_of_several_names_is_that_of_none() {
    let place = Workdir::new();
    for name in ["20260101T000000Z-signature", "20260102T000000Z-bulk"] {
        let command = name.split('-').next_back().unwrap();
        let out = format!("bandgap-runs/{name}");
        place.run([command, "-t", "sim:ipsc860", "-q", "--out", &out]).ends(0);
    }
    // Without a name: all of them.
    let all = place.run(["show"]).ends(0);
    let lines: Vec<_> = all.stdout.lines().filter(|line| line.contains("ipsc860")).collect();
    assert!(lines.len() == 2 && lines[0].contains("bulk") && lines[1].contains("signature"));
    // One that still goes on, since its journal is locked.
    let going_on = RunDir::create(&place.path("bandgap-runs/20260103T000000Z-run")).unwrap();
    place.run(["show", "20260103"]).ends(OUTPUT);
    for name in ["2026", "20260101", "LAST", "20260102T000000Z-bulk"] {
        let finished = place.run(["show", name]);
        assert_eq!(finished.code, Some(if name == "2026" { USAGE } else { 0 }), "{name}");
        let names = ["20260101T000000Z-signature", "20260102T000000Z-bulk"];
        assert!(name != "2026" || names.iter().all(|name| finished.stderr.contains(name)));
    }
    drop(going_on);
    // A figure of a signature is named by its size.
    let names = std::fs::read_dir(place.path("bandgap-runs/20260102T000000Z-bulk")).unwrap();
    let names: Vec<_> = names.map(|of| of.unwrap().file_name().into_string().unwrap()).collect();
    let figures: Vec<_> = names.iter().filter(|name| name.starts_with("logp")).collect();
    assert!(figures.len() > 2 && figures.iter().all(|name| name.contains("bytes_")), "{names:?}");
}
