//! What is wrong with a command line or a file is told before anything is measured: with the
//! documented exit code, in words, and without leaving anything.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use crate::program::subject::{Finished, Place};

const USAGE: i32 = 2;
const INPUT: i32 = 3;
const OUTPUT: i32 = 4;

/// Runs `args` in `place`, where they must be refused with `code` and these words.
#[track_caller]
fn refused_in(place: &Place, args: &[&str], code: i32, words: &[&str]) -> Finished {
    let before = place.names();
    let finished = place.run(args).ends(code);
    assert_eq!(finished.stdout, "", "{args:?}");
    for word in words {
        assert!(finished.stderr.contains(word), "{args:?}: no {word:?} in {}", finished.stderr);
    }
    // Nothing is kept of what never began.
    assert_eq!(place.names(), before, "{args:?}");
    assert_eq!(place.temporary(), Vec::<String>::new(), "{args:?}");
    finished
}

#[track_caller]
fn refused(args: &[&str], code: i32, words: &[&str]) {
    refused_in(&Place::new(), args, code, words);
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    refused(&["signature", "-t", "pigeon"], USAGE, &["pigeon", "shm, tcp, unix, udp", "paragon"]);
    refused(&["signature", "-t", "sim:"], USAGE, &["paragon", "meiko-cs2", "myrinet"]);
    refused(&["signature", "-t", "sim:cray"], INPUT, &["cray", "paragon, meiko-cs2, myrinet"]);
    refused(&["floor", "ceiling"], USAGE, &["ceiling", "cache_line", "clock_read"]);
    refused(&["measure"], USAGE, &["measure"]);
    refused(&["signature", "--wait", "sleep"], USAGE, &["sleep", "spin", "block"]);
    refused(&["completions", "dos"], USAGE, &["dos", "bash"]);
}

#[test]
fn impossible_numbers_of_ranks_are_refused() {
    for ranks in ["0", "1"] {
        refused(&["signature", "-n", ranks], USAGE, &[ranks, "at least"]);
        refused(&["signature", "-n", ranks, "--fan-out"], USAGE, &[ranks, "--fan-out takes 2"]);
        refused(&["-n", ranks], USAGE, &["fewer than 2 ranks"]);
        refused(&["floor", "-n", ranks], USAGE, &["other than 2 ranks"]);
    }
    refused(&["synch1", "-n", "1"], USAGE, &["synch1 on 1 rank: it takes 2 at least", "--ranks 2"]);
    refused(&["comms1", "--between", "0,3", "-n", "3"], USAGE, &["it takes 4 at least"]);
    refused(&["comms2", "--between", "1,1"], USAGE, &["rank 1 and itself"]);
    refused(&["signature", "-n", "100000"], USAGE, &["100000 ranks", "at most"]);
    refused(&["comet", "barrier", "-n", "5000"], USAGE, &["5000 ranks", "at most"]);
    refused(&["signature", "-n", "-2"], USAGE, &["-2"]);
    refused(&["signature", "-n", "two"], USAGE, &["two"]);
    refused(&["signature", "-n", "3", "--pairs"], USAGE, &["3 ranks", "even"]);
    refused(&["signature", "--fan-in", "0"], USAGE, &["K is at least 1"]);
    refused(
        &["signature", "--fan-in", "4", "-n", "3"],
        USAGE,
        &["with 3 ranks: --fan-in 4 takes 5"],
    );
    refused(&["signature", "-n", "1"], USAGE, &["with 1 rank: this takes 2 at least"]);
    refused(&["bulk", "-n", "1"], USAGE, &["among 1 rank: this takes 2 at least"]);
    // What is refused is not warned of.
    for command in ["signature", "run"] {
        let finished = Place::new().run([command, "-n", "999"]).ends(USAGE);
        assert!(!finished.stderr.contains("round trips of all pairs"), "{}", finished.stderr);
    }
    let most = u64::MAX.to_string();
    refused(&["signature", "--fan-in", &most], USAGE, &["at most"]);
    refused(&["signature", "--pairs", "--fan-out"], USAGE, &["cannot be used with"]);
    let small = "name = \"small\"\nsend_overhead_ns = 1\nrecv_overhead_ns = 1\ngap_ns = 1\n\
                 latency_ns = 1\nranks = 4\n";
    let place = Place::new();
    place.file("small.toml", small);
    refused_in(&place, &["signature", "-t", "sim:small.toml", "-n", "5"], USAGE, &["small has 4"]);
}

#[test]
fn registered_memory_is_refused_where_there_is_none() {
    for transport in ["tcp", "unix", "udp"] {
        for args in [&["comms1"][..], &["comms2"], &["comet", "echo", "exchange"]] {
            for memory in ["registered", "private,registered"] {
                let args = [args, &["-t", transport, "--memory", memory]].concat();
                let words = ["registered memory", transport, "--memory private", "shm"];
                refused(&args, USAGE, &words);
            }
        }
    }
    refused(&["comms1", "--memory", "public"], USAGE, &["public", "private, registered"]);
}

#[test]
fn options_that_the_named_kernels_have_no_use_for_are_refused() {
    let refused = |line: &str, words: &[&str]| {
        refused(&line.split(' ').collect::<Vec<_>>(), USAGE, words);
    };
    refused(
        "comet echo --algorithm all",
        &["--algorithm: echo has no use", "it is for barrier, broad"],
    );
    refused("comet echo exchange --mesh 2x2", &["echo, exchange have no use", "transpose"]);
    refused("comet barrier --sizes 8", &["--sizes: barrier has no use", "echo"]);
    refused("comet echo --vectors 100", &["--vectors: echo has no use", "it is for overlap"]);
    refused("comms3 --between 0,1", &["--between: comms3 has no use", "comms1"]);
    // A name that is nearly right is answered with the right one.
    refused(
        "comet broadcast --algorithm binomal",
        &["a similar value exists: 'binomial'", "chain"],
    );
    refused("comet brodcast", &["a similar value exists: 'broadcast'"]);
    refused(
        "comet broadcast --algorithm ring",
        &["measure broadcast: ", "there are linear, binomial"],
    );
}

#[test]
fn meshes_matrices_and_vectors_that_do_not_fit_are_answered_with_those_that_do() {
    let refused = |line: &str, words: &[&str]| {
        refused(&line.split(' ').collect::<Vec<_>>(), USAGE, words);
    };
    refused("comet transpose -n 3", &["over 3 ranks", "take 2 or 4 ranks, or --mesh 3x1 or 1x3"]);
    refused("comet transpose -n 6 --mesh 2x2", &["that takes 4", "--ranks 4, or --mesh 3x2"]);
    // Where no number of ranks is that of the mesh, nothing is left out instead.
    refused("comet -n 6 --mesh 2x2", &["that takes 4", "--ranks 4, or --mesh 3x2"]);
    refused("comet transpose -n 4 --dimension 63", &["one of 62 or 64 does"]);
    refused(
        "comet transpose -n 4 --dimension 1000000",
        &["too large", "which one of 23166 has at most"],
    );
    refused("comet global_sum --sizes 17:23", &["no whole number of doubles", "16 or 24"]);
    refused("comet global_sum -n 4 --sizes 8 --algorithm ring", &["4 blocks", "these fit: tree"]);
}

#[test]
fn memory_is_weighed_for_all_kernels_before_the_first_is_measured() {
    // 256 GiB for overlap, more than a machine for tests has; barriers take none.
    let args = ["comet", "barrier", "overlap", "--sizes", "1GiB", "-n", "128"];
    refused(&args, USAGE, &["are left for this process", "--sizes"]);
}

#[test]
fn cores_that_are_not_there_are_refused() {
    refused(&["signature", "--cores", "65000"], USAGE, &["core 65000", "allowed here"]);
    refused(&["signature", "--cores", "65000", "-t", "tcp"], USAGE, &["core 65000"]);
    for garbage in ["x", "0-", "1-0", "0,,1", "0:1", "-1", "99999999999999999999"] {
        let cores = format!("--cores={garbage}");
        refused(&["signature", &cores], USAGE, &["list of cores", garbage]);
        refused(&["floor", &cores], USAGE, &["list of cores", garbage]);
    }
    refused(&["signature", "--cores", ""], USAGE, &["list of cores is empty"]);
}

#[test]
fn shares_and_times_out_of_range_are_refused() {
    // No measurement is infinitely precise.
    for wrong in ["much", "5%%", "-5%", "200%", "", "nan", "0", "0%", "-0"] {
        refused(&["signature", &format!("--precision={wrong}")], USAGE, &["--precision"]);
    }
    // No interval holds with certainty, and none with no confidence says anything.
    for wrong in ["0", "0%", "1", "100%", "95"] {
        refused(&["signature", &format!("--confidence={wrong}")], USAGE, &["--confidence"]);
    }
    for option in ["--time-budget", "--deadline"] {
        for wrong in ["soon", "5", "-1s", "1e300h", "1e30s", "1 fortnight", "inf", "nan"] {
            refused(&["signature", &format!("{option}={wrong}")], USAGE, &[option]);
        }
    }
    refused(&["signature", "--deadline", "0s"], USAGE, &["--deadline"]);
    refused(&["signature", "--launches", "0"], USAGE, &["--launches"]);
    refused(&["signature", "--seed", "x"], USAGE, &["--seed"]);
}

#[test]
fn ranks_cannot_block_on_memory() {
    refused(&["signature", "--wait", "block"], USAGE, &["shm", "--wait yield"]);
    refused(&["signature", "--wait", "block", "-t", "shm"], USAGE, &["shm"]);
}

const MACHINE: &str = "name = \"m\"\nsend_overhead_ns = 100\nrecv_overhead_ns = 100\n\
                       gap_ns = 300\nlatency_ns = 500\n";

#[test]
fn wrong_machine_files_are_refused_with_the_place() {
    let place = Place::new();
    let machine = |text: &str, words: &[&str]| {
        place.file("m.toml", text);
        let words: Vec<&str> = words.iter().chain(&["m.toml"]).copied().collect();
        refused_in(&place, &["signature", "-t", "sim:m.toml"], INPUT, &words);
    };
    machine(&format!("{MACHINE}colour = 3\n"), &["line 6", "colour"]);
    machine(&MACHINE.replace("= 300", "= -300"), &["gap_ns", "-300"]);
    machine(&MACHINE.replace("= 300", "= 0"), &["gap_ns"]);
    machine(&MACHINE.replace("= 500", "= nan"), &["latency_ns"]);
    machine(&MACHINE.replace("= 500", "= 1e99"), &["latency_ns"]);
    machine(&MACHINE.replace("= 500", "= \"far\""), &["line 5"]);
    machine(&MACHINE.replace("gap_ns = 300\n", ""), &["gap_ns"]);
    machine(&format!("{MACHINE}capacity = 0\n"), &["capacity"]);
    machine(&format!("{MACHINE}ranks = 0\n"), &["ranks"]);
    machine("= =", &["line 1"]);
    machine("", &["name"]);
    std::fs::write(place.path("m.toml"), b"name = \"\xff\"").unwrap();
    refused_in(&place, &["signature", "-t", "sim:m.toml"], INPUT, &["m.toml", "UTF-8"]);
    std::fs::create_dir(place.path("folder")).unwrap();
    refused_in(&place, &["signature", "-t", "sim:folder"], INPUT, &["folder", "directory"]);
}

#[test]
fn wrong_tables_are_refused_with_the_line() {
    let place = Place::new();
    let header = "kind,messages,delay_ns,elapsed_ns\n";
    let table = |text: &[u8], words: &[&str]| {
        place.file("t.csv", text);
        let words: Vec<&str> = words.iter().chain(&["t.csv"]).copied().collect();
        refused_in(&place, &["fit", "logp", "t.csv"], INPUT, &words);
    };
    table(b"", &["empty", "kind,messages,delay_ns,elapsed_ns"]);
    table(b"\n# nothing\n\n", &["empty"]);
    table(header.as_bytes(), &["no rows"]);
    table(b"kind,messages,elapsed_ns\nrtt,1,5\n", &["line 1", "delay_ns", "missing"]);
    table(b"kind,kind,messages,delay_ns,elapsed_ns\n", &["line 1", "twice"]);
    for (row, words) in [
        ("issue,1,0", ["line 3", "3 fields"]),
        ("issue,1,0,5,6", ["line 3", "5 fields"]),
        ("issues,1,0,5", ["line 3", "issue or rtt"]),
        ("issue,0,0,5", ["line 3", "at least one"]),
        ("issue,-1,0,5", ["line 3", "whole number"]),
        ("issue,1.5,0,5", ["line 3", "whole number"]),
        ("issue,99999999999999999999,0,5", ["line 3", "whole number"]),
        ("issue,1,x,5", ["line 3", "delay_ns"]),
        ("issue,1,0,", ["line 3", "elapsed_ns"]),
        ("issue,1,0,-5", ["line 3", "negative"]),
        ("issue,1,0,inf", ["line 3", "finite"]),
        ("issue,1,0,nan", ["line 3", "finite"]),
    ] {
        table(format!("{header}rtt,1,0,5\n{row}\n").as_bytes(), &words);
    }
    table(&[header.as_bytes(), b"rtt,1,0,\xff\n"].concat(), &["line 2", "UTF-8"]);
    let long = format!("{header}rtt,1,0,{}\n", "9".repeat(70_000));
    table(long.as_bytes(), &["line 2", "longer"]);
    // Right in form, and nothing to fit: no round trips, one message count, no times at all.
    let issues: String = (1..40).map(|m| format!("issue,{m},0,{}\n", 100 * m).repeat(3)).collect();
    table(format!("{header}{issues}").as_bytes(), &["rtt"]);
    table(format!("{header}rtt,1,0,5\nrtt,1,0,6\n").as_bytes(), &["issue"]);
}

#[test]
fn tables_with_too_few_batches_say_which_and_what_is_missing() {
    let place = Place::new();
    // The documented table, each row in the batch that `batch` says of its place among those of its
    // point.
    let example = include_str!("../../../../../docs/examples/paragon.csv");
    let table = |batch: &dyn Fn(&str, usize) -> usize| {
        let mut seen = std::collections::BTreeMap::<String, usize>::new();
        let rows = example.lines().skip(1).map(|row| {
            let point = row.rsplit_once(',').unwrap().0.to_owned();
            let at = seen.entry(point.clone()).or_default();
            *at += 1;
            format!("{row},{}\n", batch(&point, *at))
        });
        let rows: String = rows.collect();
        place.file("t.csv", format!("kind,messages,delay_ns,elapsed_ns,batch\n{rows}"));
        place.run(["fit", "logp", "t.csv"])
    };
    let said = |text: &str, words: &[&str]| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.iter().all(|words| text.contains(words)), "{words:?}: {text}");
    };
    // All rows of each of the 14 points in one batch: nothing says how much they scatter.
    let none = table(&|_, _| 1).ends(INPUT).stderr;
    said(
        &none,
        &["no point has more than one batch", "14 of 14 points", "…", "needs two at least"],
    );
    // Without round trips there is no L, and it is said that those which are there are too few.
    let no_rtt =
        table(&|point, at| if point.starts_with("rtt") { 1 } else { at }).ends(INPUT).stderr;
    said(&no_rtt, &["no rtt", "1 of 14 points", "(the round trip)", "measure these points again"]);
    // One can do without this point.
    let without = table(&|point, at| if point == "issue,96,0" { 1 } else { at }).ends(0).stdout;
    said(&without, &["1 of 14 points", "(M = 96 at Δ = 0 ns)", "os send overhead 1.40 µs"]);
    let complete = table(&|_, at| at).ends(0).stdout;
    assert!(!complete.contains("Left out"), "{complete}");
}

#[test]
fn files_that_are_not_there_are_named() {
    for model in ["logp", "hockney"] {
        refused(&["fit", model, "."], INPUT, &["it is a directory", "samples.csv"]);
    }
    refused(&["fit", "logp", "none.csv"], INPUT, &["none.csv", "No such file"]);
    refused(&["signature", "-t", "sim:none.toml"], INPUT, &["none.toml"]);
    refused(&["fit", "logp"], USAGE, &["FILE"]);
}

#[test]
fn places_that_take_no_files_are_refused_before_measuring() {
    let place = Place::new();
    std::fs::create_dir(place.path("full")).unwrap();
    std::fs::write(place.path("full/notes.txt"), "keep me").unwrap();
    place.file("plain", "");
    let out = |name: &str, words: &[&str]| {
        refused_in(&place, &["signature", "--out", name], OUTPUT, words);
        refused_in(&place, &["signature", "-t", "sim:paragon", "--out", name], OUTPUT, words);
        refused_in(&place, &["floor", "clock_read", "--out", name], OUTPUT, words);
    };
    out("full", &["full", "not empty"]);
    out("plain", &["plain", "not a directory"]);
    out("plain/below", &["plain/below", "not a directory"]);
    out("/dev/full/run", &["/dev/full/run", "not a directory"]);
    assert_eq!(std::fs::read_to_string(place.path("full/notes.txt")).unwrap(), "keep me");
    refused_in(&place, &["signature", "--json", "none/run.json"], OUTPUT, &["none/run.json"]);
    refused_in(&place, &["signature", "--json", "full"], OUTPUT, &["full"]);
    refused_in(&place, &["signature", "--out", "a", "--no-save"], USAGE, &["cannot be used with"]);
}

#[test]
fn the_systems_reason_is_told() {
    if rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: the_systems_reason_is_told: root may write everywhere");
        return;
    }
    let place = Place::new();
    let locked = place.path("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, Permissions::from_mode(0o500)).unwrap();
    refused_in(&place, &["signature", "--out", "locked/run"], OUTPUT, &["Permission denied"]);
}

#[test]
fn a_long_name_is_refused_with_the_systems_reason() {
    let name = "x".repeat(300);
    refused(&["signature", "--out", &name], OUTPUT, &[&name, "File name too long"]);
}

#[test]
fn results_that_cannot_be_written_are_an_error_of_their_own() {
    let place = Place::new();
    let simulated = ["signature", "-t", "sim:paragon", "--no-save"];
    let args: Vec<&str> = simulated.iter().chain(&["--json", "/dev/full"]).copied().collect();
    let finished = place.run(args).ends(OUTPUT);
    for word in ["/dev/full", "No space left"] {
        assert!(finished.stderr.contains(word), "{}", finished.stderr);
    }
    for command in ["signature -t sim:paragon --no-save", "topology --json -", "man", "--help"] {
        let finished = place.shell(&format!("bandgap {command} > /dev/full"));
        if command != "--help" {
            assert!(finished.stderr.contains("No space left"), "{command}: {}", finished.stderr);
            assert_eq!(finished.code, Some(OUTPUT), "{command}");
        }
    }
}

#[test]
fn a_full_disk_loses_nothing_that_was_measured() {
    let place = Place::new();
    let disk = place.path("disk");
    std::fs::create_dir(&disk).unwrap();
    // In a namespace of its own the file system needs no cleaning up. The run's directory can be
    // made on it, and then nothing more.
    let line = "mount -t tmpfs -o size=8k,nr_inodes=8 none disk || exit 99; \
                head -c 8192 /dev/zero > disk/filling; \
                bandgap signature -t sim:paragon --out disk/run";
    let finished = place.shell(&format!("unshare --mount --map-root-user sh -c '{line}'"));
    if finished.stderr.contains("unshare") || finished.code == Some(99) {
        eprintln!("SKIPPED: a_full_disk_loses_nothing: no small disk can be made: {finished:?}");
        return;
    }
    let finished = finished.ends(OUTPUT);
    assert!(finished.stderr.contains("No space left"), "{}", finished.stderr);
    assert!(finished.stdout.contains("LogP signature over sim:paragon"));
    let (_, rescue) = finished.stderr.split_once("the run is kept in ").unwrap();
    let run: bandgap_results::Run = bandgap_record::read(rescue.trim().as_ref()).unwrap();
    assert_eq!(run.results.len(), 1);
}

#[test]
fn a_reader_that_has_read_enough_is_no_failure() {
    let place = Place::new();
    for command in [
        "signature -t sim:paragon --no-save",
        "signature -t sim:paragon --no-save --json -",
        "man",
        "topology",
        "completions bash",
    ] {
        // The status of the first command, not that of head; `sleep` lets head be gone already.
        for reader in ["head -n 1", "true"] {
            let line = format!("{{ bandgap {command}; echo \"status $?\" >&2; }} | {reader}");
            let finished = place.shell(&line).ends(0);
            assert_eq!(finished.stderr, "status 0\n", "{command}");
        }
    }
}

#[test]
fn a_rank_cannot_be_started_by_hand() {
    let place = Place::new();
    let own = std::process::id().to_string();
    // Process 1 has not started it; whoever has is no launcher.
    for parent in ["1", &own] {
        refused_in(&place, &["rank", parent], USAGE, &["start a rank by hand"]);
    }
}

#[test]
fn names_in_files_do_not_speak_to_the_terminal() {
    let place = Place::new();
    let machine = "name = \"a\\u001b[2Jb\"\nsend_overhead_ns = 1\nrecv_overhead_ns = 1\ngap_ns = 1\nlatency_ns = 1\n";
    place.file("m.toml", machine);
    let told = ["m.toml", "without control characters", "a\\u{1b}[2Jb"];
    let finished = refused_in(&place, &["signature", "-t", "sim:m.toml"], INPUT, &told);
    assert!(!finished.stderr.contains('\u{1b}'), "{}", finished.stderr);

    // A table's names may be anything, and are printed as what they are.
    let table = "name,category,layer,side,time_ns,\u{9b}2J\n\u{1b}[2Jone,cpu,llp,target,5,1\n";
    place.file("t.csv", table);
    let finished = place.run(["breakdown", "--from", "t.csv", "--no-save"]).ends(0);
    let all = finished.stdout + &finished.stderr;
    assert!(all.contains("\\u{1b}[2J"), "{all}");
    assert!(!all.contains(|c: char| c.is_control() && c != '\n'), "{all}");
}
