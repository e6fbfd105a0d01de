//! Results are kept before anything is printed, wherever output goes.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use bandgap_results::Run;
use rustix::fs::{CWD, Mode, OFlags, fcntl_getfl, fcntl_setfl, mkfifoat};
use rustix::pipe::fcntl_setpipe_size;

use crate::program::residue::poll;
use crate::program::subject::{BINARY, Place, measuring};

const OUTPUT: i32 = 4;
const MACHINE: &str = "-t sim:paragon";

/// Commands that keep what they find in `run`, and what they are run on.
fn keeping() -> [String; 17] {
    [
        format!("signature {MACHINE}"),
        format!("run {MACHINE}"),
        "comms1 -t sim:ipsc860 --sizes 8:1KiB --json run.json".into(),
        "breakdown --from thunderx2-connectx4".into(),
        "whatif --from thunderx2-connectx4".into(),
        "fit logp samples.csv".into(),
        "fit hockney times.csv".into(),
        "topology".into(),
        "pairs -t sim:paragon".into(),
        "bulk -t sim:ipsc860 --sizes 8:1KiB --no-surface".into(),
        "synch1 -t sim:paragon".into(),
        "comet overlap -t sim:ipsc860 --sizes 8".into(),
        "comet contention -t sim:ipsc860 --sizes 8".into(),
        "signature -t sim:paragon --fan-in 2".into(),
        "floor clock_read --time-budget 300ms".into(),
        "breakdown -t unix --time-budget 1s".into(),
        "doctor".into(),
    ]
}

fn place() -> Place {
    let place = Place::new();
    place.run(["signature", "-t", "sim:paragon", "--quiet", "--out", "made"]).ends(0);
    fs::rename(place.path("made/samples.csv"), place.path("samples.csv")).unwrap();
    let time = |n: u32| format!("{},{}\n", 1 << n, 1000 + (1 << n));
    place.file("times.csv", "bytes,time_ns\n".to_owned() + &(3..16).map(time).collect::<String>());
    place
}

/// A pipe that nobody reads, and that has no room.
fn full() -> (PipeReader, PipeWriter) {
    let (unread, mut full) = pipe().unwrap();
    fcntl_setpipe_size(&full, 4096).unwrap();
    full.write_all(&[b'-'; 4096]).unwrap();
    (unread, full)
}

/// The run as `command` keeps it while it cannot go on printing to one of these.
fn kept_unprinted(place: &Place, command: &str, streams: [Stdio; 2], unread: PipeReader) -> Run {
    let mut bandgap = place.command(BINARY);
    bandgap.args(command.split(' ')).args(["--out", "run"]);
    let [stdout, stderr] = streams;
    let mut running = bandgap.stdout(stdout).stderr(stderr).spawn().unwrap();
    // It still has the writing end.
    drop(bandgap);
    let read = || bandgap_record::read(&place.path("run")).ok();
    let kept =
        poll(command, || read().filter(|run: &Run| !run.host.is_null() || !run.results.is_empty()));
    // Whoever goes away has read enough.
    drop(unread);
    assert!(matches!(running.wait().unwrap().code(), Some(0 | 1 | 8)), "{command}");
    kept
}

#[test]
fn everything_is_kept_before_it_is_printed() {
    let _alone = measuring();
    for command in &keeping() {
        let (place, (unread, full)) = (place(), full());
        let kept = kept_unprinted(&place, command, [full.into(), Stdio::null()], unread);
        assert_eq!(kept.results.is_empty(), command == "topology", "{command}");
    }
}

#[test]
fn everything_is_kept_before_it_is_warned_of() {
    let _alone = measuring();
    for command in ["synch1 -t tcp --wait block", "floor clock_read --cores 0"] {
        let (place, (unread, full)) = (Place::new(), full());
        let command = format!("{command} --time-budget 300ms");
        let kept = kept_unprinted(&place, &command, [Stdio::null(), full.into()], unread);
        assert!(!kept.results.is_empty() && !kept.warnings.is_empty(), "{command}");
    }
}

#[test]
fn everything_is_kept_before_the_noise_of_cores_is_looked_at() {
    let _alone = measuring();
    let (place, (unread, full)) = (Place::new(), full());
    let command = "synch1 -t tcp --time-budget 300ms";
    let kept = kept_unprinted(&place, command, [full.into(), Stdio::null()], unread);
    let whole: Run = bandgap_record::read(&place.path("run")).unwrap();
    assert_eq!((kept.results, kept.interrupted), (whole.results, true));
    assert_eq!(kept.host["noise"], serde_json::json!([]));
    assert!(!whole.host["noise"].as_array().unwrap().is_empty() && !whole.interrupted);
}

#[test]
fn a_named_pipe_for_json_needs_a_reader_and_waits_while_that_is_slow() {
    let place = Place::new();
    mkfifoat(CWD, place.path("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    let args = ["signature", "-t", "sim:paragon", "--json", "pipe"];
    let refused = place.run(args).ends(OUTPUT);
    assert!(refused.stderr.contains("write pipe: nobody reads this pipe"), "{}", refused.stderr);
    assert_eq!(place.names(), ["pipe"]);
    let mut bandgap = place.command(BINARY);
    bandgap.args(args).args(["--out", "run"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = bandgap.spawn().unwrap();
    let mut reader = fs::File::open(place.path("pipe")).unwrap();
    fcntl_setpipe_size(&reader, 4096).unwrap();
    // What is longer than the pipe is on its way by the time that the files are whole.
    let read = || bandgap_record::read(&place.path("run")).ok();
    let kept = poll("for a whole run", || read().filter(|run: &Run| !run.interrupted));
    let mut json = Vec::new();
    reader.read_to_end(&mut json).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(0));
    assert!(json.len() > 4096);
    assert_eq!(Run::from_json(&json).unwrap().results, kept.results);
}

#[test]
fn a_standard_output_that_fails_loses_no_result() {
    let _alone = measuring();
    for (broken, reason) in [("> /dev/full", "No space left"), (">&-", "it is closed")] {
        for command in &keeping() {
            let place = place();
            let finished =
                place.shell(&format!("bandgap {command} --out run {broken}")).ends(OUTPUT);
            let said = format!("bandgap: failed to write to standard output: {reason}");
            assert!(finished.stderr.contains(&said), "{command}: {}", finished.stderr);
            assert!(finished.stderr.contains("kept in run"), "{command}: {}", finished.stderr);
            let run: Run = bandgap_record::read(&place.path("run")).unwrap();
            assert!(!run.interrupted);
            assert_eq!(run.results.is_empty(), command == "topology", "{command}");
        }
    }
}

#[test]
fn ranks_go_on_where_nobody_can_read_what_is_printed() {
    let _alone = measuring();
    let place = Place::new();
    let measured =
        place.shell("bandgap run --time-budget 300ms --out run > /dev/full").ends(OUTPUT);
    assert!(measured.stderr.contains("kept in run"), "{}", measured.stderr);
    let run: Run = bandgap_record::read(&place.path("run")).unwrap();
    // The first result that is printed is not the last that is measured.
    let plan = run.plan.to_string();
    assert!(run.results.len() >= 3 && !run.interrupted, "{} results, {plan}", run.results.len());
}

#[test]
fn what_is_only_printed_and_cannot_be_ends_with_the_code_of_output() {
    let unkept =
        ["signature -t sim:paragon --no-save", "breakdown --from thunderx2-connectx4", "topology"];
    let texts = ["--help", "--version", "help fit", "man", "completions bash"];
    let json = ["topology --json -", "signature -t sim:paragon --json - --no-save"];
    for command in unkept.into_iter().chain(texts).chain(json) {
        for broken in ["> /dev/full", ">&-"] {
            let place = Place::new();
            let finished =
                place.shell(&format!("TMPDIR=$PWD/refuge bandgap {command} {broken}")).ends(OUTPUT);
            let said = "bandgap: failed to write to standard output: ";
            assert_eq!(finished.stderr.matches(said).count(), 1, "{command}: {}", finished.stderr);
            // What was measured is kept elsewhere, although nobody asked for that.
            let measured = command.starts_with("signature");
            assert_eq!(place.names(), if measured { vec!["refuge"] } else { vec![] }, "{command}");
            assert_eq!(finished.stderr.contains("the run is kept in "), measured, "{command}");
        }
        // A reader that has read enough is no failure.
        let line = format!("{{ bandgap {command}; echo $? >&2; }} | :");
        let finished = Place::new().shell(&line).ends(0);
        assert_eq!(finished.stderr.lines().last(), Some("0"), "{command}: {}", finished.stderr);
    }
}

#[test]
fn a_standard_error_that_fails_changes_nothing() {
    // One warning for each transport that has no use for the option.
    let command = "bandgap run -t sim:paragon --wait block --out run";
    let printed = Place::new().shell(&format!("{command} 2> notes")).ends(0).stdout;
    for broken in ["2>&-", "2> /dev/full", "2>&1 >out | :; test -s out && cat out"] {
        let place = Place::new();
        let finished = place.shell(&format!("{command} {broken}")).ends(0);
        assert_eq!(finished.stdout, printed, "{broken}");
        let run: Run = bandgap_record::read(&place.path("run")).unwrap();
        assert!(run.warnings.iter().any(|warning| warning.contains("--wait")));
    }
}

#[test]
fn a_file_of_json_is_replaced_whole_at_the_end() {
    let place = Place::new();
    let old = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    place.file("run.json", "old");
    let json = |command: &str| place.shell(&format!("bandgap {command}"));
    // What is refused has not touched it, and makes none.
    json("signature -t sim:cray --json run.json --no-save").ends(3);
    json("signature -t sim:cray --json new.json --no-save").ends(3);
    assert_eq!((old("run.json"), place.names()), ("old".into(), vec!["run.json".into()]));
    // A link still leads to the file.
    std::os::unix::fs::symlink("run.json", place.path("link.json")).unwrap();
    json("signature -t sim:paragon --json link.json --no-save").ends(0);
    let run = Run::from_json(old("run.json").as_bytes()).unwrap();
    assert!(!run.results.is_empty());
    assert!(place.path("link.json").is_symlink());
    assert_eq!(place.names(), ["link.json", "run.json"]);
    // What is no file gets it once.
    let piped = json("signature -t sim:paragon --no-save --quiet --json /dev/stderr").ends(0);
    let piped = Run::from_json(piped.stderr.as_bytes()).unwrap();
    assert_eq!(piped.results, run.results);
    // A file that does not fit loses nothing: the run is elsewhere.
    let full = json("signature -t sim:paragon --no-save --json /dev/full").ends(OUTPUT);
    let (_, rescued) = full.stderr.rsplit_once("the run is kept in ").unwrap();
    let rescued: Run = bandgap_record::read(std::path::Path::new(rescued.trim_end())).unwrap();
    assert_eq!(rescued.results, run.results);
}

#[test]
fn a_file_of_json_does_not_take_the_place_of_a_kept_runs() {
    let place = Place::new();
    let table = "bytes,time_ns\n0,2002\n64,2062\n256,2258\n1024,3022\n4096,6098\n";
    let file = place.file("times.csv", table);
    let fit = |args: &[&str]| place.run(["fit", "hockney", &file, "-q"].iter().chain(args));
    fit(&["--out", "kept"]).ends(0);
    std::os::unix::fs::symlink("kept/run.json", place.path("link.json")).unwrap();
    let before = fs::read(place.path("kept/run.json")).unwrap();
    for name in ["kept/run.json", "link.json"] {
        let told = fit(&["--confidence", "50%", "--json", name]).ends(OUTPUT).stderr;
        assert!(
            told.contains(&format!("write {name}: it is the run file of a kept run")),
            "{told}"
        );
    }
    assert_eq!(fs::read(place.path("kept/run.json")).unwrap(), before);
    // Another file in the folder, and one of the same name that belongs to no kept run, are written again and again.
    for name in ["kept/other.json", "kept/other.json", "run.json", "run.json"] {
        fit(&["--json", name]).ends(0);
    }
}

#[test]
fn words_that_are_no_text_are_paths_or_refused() {
    let odd = OsStr::from_bytes(b"x\xff");
    let args = |words: &[&str], last| {
        words.iter().map(OsString::from).chain([OsString::from(last)]).collect::<Vec<OsString>>()
    };
    for (words, code) in [
        (&["topology", "--out"][..], 0),
        (&["signature", "-t", "sim:paragon", "--no-save", "--json"], 0),
        (&["topology", "--transport"], 2),
        (&["floor"], 2),
        (&["whatif", "--from", "thunderx2-connectx4", "--reduce"], 2),
        (&["rank"], 2),
        (&[], 2),
        (&["fit", "hockney"], 3),
        (&["fit", "logp"], 3),
        (&["breakdown", "--pcie-trace"], 3),
        (&["breakdown", "--from"], 3),
    ] {
        let place = Place::new();
        let finished = place.run(args(words, odd)).ends(code);
        assert!(code == 0 || !finished.stderr.is_empty(), "{words:?}");
        assert_eq!(place.path("").join(odd).exists(), code == 0, "{words:?}");
    }
    // Nothing may depend on an environment that is text.
    let place = Place::new();
    let mut command = place.command(crate::program::subject::BINARY);
    command
        .args(["topology", "--out", "run"])
        .envs(["LANG", "LC_ALL", "NO_COLOR"].map(|v| (v, odd)));
    assert_eq!(command.output().unwrap().status.code(), Some(0));
}

#[test]
fn a_limit_on_the_length_of_files_is_told_as_a_full_disk_is() {
    let place = Place::new();
    let command = "ulimit -f 8; exec bandgap signature -t sim:paragon --quiet --out run";
    let finished = place.shell(command).ends(OUTPUT);
    assert!(finished.stderr.contains("File too large"), "{}", finished.stderr);
    // It is the same everywhere.
    for words in ["nothing is kept: it cannot be written to ", ", /dev/shm", "raise `ulimit -f`"] {
        assert!(finished.stderr.contains(words), "{words}: {}", finished.stderr);
    }
    assert!(!finished.stderr.contains(".unfinished"), "{}", finished.stderr);
    assert_eq!((place.names(), place.temporary()), (Vec::new(), Vec::new()));
}

#[test]
fn a_run_is_kept_elsewhere_where_there_is_no_place_for_temporary_files_either() {
    for temporary in ["/proc/none", "near", ""] {
        let place = Place::new();
        fs::create_dir(place.path("near")).unwrap();
        let command = "bandgap signature -t sim:paragon --no-save --json /dev/full";
        let finished = place.shell(&format!("TMPDIR={temporary} {command}")).ends(OUTPUT);
        let (_, rescued) = finished.stderr.rsplit_once("the run is kept in ").unwrap();
        let rescued = std::path::Path::new(rescued.trim_end());
        // Who reads it may be in another directory.
        assert!(rescued.is_absolute(), "{}", rescued.display());
        let run: Run = bandgap_record::read(rescued).unwrap();
        fs::remove_dir_all(rescued).unwrap();
        assert!(!run.results.is_empty());
    }
}

#[test]
fn a_directory_that_another_run_uses_or_that_takes_no_files_is_refused_before_anything_is_measured()
{
    let place = Place::new();
    fs::create_dir(place.path("taken")).unwrap();
    let other = fs::File::open(place.path("taken")).unwrap();
    other.try_lock().unwrap();
    let args = ["signature", "-t", "sim:paragon", "--out"];
    let refused = place.run(args.iter().chain(&["taken"])).ends(OUTPUT);
    assert!(refused.stderr.contains("another run uses it"), "{}", refused.stderr);
    assert!(refused.stdout.is_empty());
    drop(other);
    place.run(args.iter().chain(&["taken"])).ends(0);
    // Nobody makes a file there, root neither.
    let refused = place.run(args.iter().chain(&["/proc/tty/ldisc"])).ends(OUTPUT);
    let said = "failed to make files in the directory /proc/tty/ldisc: ";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    assert!(refused.stdout.is_empty() && !refused.stderr.contains("kept"), "{}", refused.stderr);
}

/// Another program may have made it one that does not wait, as some that start programs over a network do.
#[test]
fn a_standard_output_that_does_not_wait_is_waited_for() {
    let place = Place::new();
    let (mut unread, full) = full();
    fcntl_setfl(&full, fcntl_getfl(&full).unwrap() | OFlags::NONBLOCK).unwrap();
    let mut bandgap = place.command(BINARY);
    bandgap.args(["signature", "-t", "sim:paragon", "--json", "-", "--no-save"]);
    let mut running = bandgap.stdout(full).stderr(Stdio::null()).spawn().unwrap();
    drop(bandgap);
    let mut read = Vec::new();
    unread.read_to_end(&mut read).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(0));
    Run::from_json(&read[4096..]).unwrap();
}

/// The barrier moves no byte, and the machine does not say what one costs.
#[test]
fn what_was_measured_outlives_a_later_measurement_that_cannot_be_begun() {
    let place = Place::new();
    let args = ["comet", "barrier", "overlap", "-t", "sim:paragon", "--out", "run", "--json", "-"];
    let finished = place.run(args).ends(3);
    assert!(finished.stderr.contains("what a byte costs"), "{}", finished.stderr);
    let (run, kept) = (finished.json(), bandgap_record::read(&place.path("run")).unwrap());
    let kept: Run = kept;
    assert_eq!(run["results"][0]["name"], "barrier", "{run}");
    assert!(kept.interrupted && !kept.results.is_empty() && !kept.warnings.is_empty());
}

#[test]
fn json_is_printed_where_no_file_takes_the_run() {
    let place = Place::new();
    let line = "ulimit -f 1; bandgap signature -t sim:paragon --json - --out run";
    let finished = place.shell(line).ends(OUTPUT);
    assert_eq!(finished.json()["results"][0]["kind"], "logp");
}

#[test]
fn of_two_places_the_one_that_takes_the_run_has_all_of_it() {
    let place = Place::new();
    let line = "bandgap run -t sim:paragon --out run --json /dev/full";
    let finished = place.shell(line).ends(OUTPUT);
    for words in ["write /dev/full", "the run is kept in run"] {
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
    let run: Run = bandgap_record::read(&place.path("run")).unwrap();
    assert!(!run.interrupted && !run.results.is_empty());
}
