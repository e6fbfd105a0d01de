//! What is wrong with a command line or a file is told before anything is measured: with the documented exit code, and without
//! leaving anything.

use std::fs;

use crate::program::subject::{INPUT, USAGE, Workdir};

/// Asserts that each of these command lines is refused with this code.
#[track_caller]
fn refused_in(place: &Workdir, code: i32, commands: &[&str]) {
    commands.iter().for_each(|command| place.refuses(code, command));
}

fn refused(commands: &[&str]) {
    refused_in(&Workdir::new(), USAGE, commands);
}

#[test]
fn unknown_names() {
    refused(&[
        "signature -t pigeon",
        "signature -t sim:",
        "floor ceiling",
        "floor cache_line -H a,b",
        "floor tcp --sizes 64",
        "floor udp --sizes 4",
        "floor udp --sizes 64KiB",
        "measure",
        "signature --wait sleep",
        "completions dos",
        "comet brodcast",
        "layers brodcast -t shm,unix",
        "comet comms1 bulk_get",
        "comet broadcast --algorithm ring",
        "rank 1",
        "fit logp",
    ]);
    refused_in(&Workdir::new(), INPUT, &["signature -t sim:cray", "signature -t sim:none.toml"]);
}

#[test]
fn a_word_of_another_tool_is_answered_with_the_command_for_it() {
    let place = Workdir::new();
    place.file("osu.log", "8 1.5\n");
    place.file("logp.csv", "kind,messages,delay_ns,elapsed_ns\nrtt,1,0,5\n");
    for (words, command) in [
        ("latency", "comms1"),
        ("--latency", "comms1"),
        ("--bandwidth=4", "comms1"),
        ("help lat", "comms1"),
        ("bw -t tcp", "comet stream -t tcp"),
        // What the command does not take is left away.
        ("pingpong --iterations 5", "comms1"),
        ("osu_bibw", "comet bidirectional -t mpi"),
        ("IMB-MPI1 PingPong", "comms1 -t mpi"),
        ("bandwith", "comms1"),
        ("bcast -n 4", "comet broadcast -n 4"),
        ("MPI_Allreduce", "comet all_reduce -t mpi"),
        ("barrier", "comet barrier"),
        ("comet bcast", "comet broadcast"),
        ("signature --latency", "comms1"),
        ("layers allgather -t shm,tcp", "layers all_gather -t shm,tcp"),
        ("-q alltoall -n 4", "comet all_to_all -q -n 4"),
        ("tcp", "run -t tcp"),
        ("netperf", "fit hockney FILE"),
        ("sockperf", "fit hockney FILE"),
        ("osu.log", "fit hockney osu.log"),
        ("fit osu.log --segments 2", "fit hockney osu.log --segments 2"),
        ("logp.csv", "fit logp logp.csv"),
    ] {
        let told = place.run(words.split(' ')).ends(USAGE).stderr;
        let line = format!("bandgap {command}");
        assert!(told.lines().any(|of| of.ends_with(&line)), "{words}: {told}");
    }
    // An option of the command itself is nearer.
    let told = place.run(["comms1", "--core", "0,1"]).ends(USAGE).stderr;
    assert!(told.contains("'--cores'") && !told.contains("topology"), "{told}");
    // What bandgap starts itself is no command of anybody else.
    for words in ["gent", "rnk", "ranks", "help agent", "--take-u x"] {
        let told = place.run(words.split(' ')).ends(USAGE).stderr;
        let is_own = |word: &str| ["agent", "rank", "--take-up"].contains(&word.trim_matches('\''));
        assert!(!told.lines().skip(1).any(|line| line.split(' ').any(is_own)), "{words}: {told}");
    }
}

#[test]
fn hosts_that_are_options_and_lines_without_end() {
    let place = Workdir::new();
    place.file("options", "h1 user=-oProxyCommand=id\n");
    place.file("long", vec![b' '; 2 << 20]);
    place.file("line.goal", vec![b' '; 1 << 20]);
    let hosts =
        ["options", "long"].map(|file| format!("comms1 --hostfile {file} --ssh-command ./no"));
    let commands = [&*hosts[0], &*hosts[1], "simulate line.goal"];
    refused_in(&place, INPUT, &commands);
}

#[test]
fn numbers_of_ranks() {
    let most = format!("signature --fan-in {}", u64::MAX);
    refused(&[
        "signature -n 0",
        "signature -n 1",
        "signature -n 1 --fan-out",
        "-n 1",
        "floor -n 3",
        "synch1 -n 1",
        "comms1 -n 4294967296",
        "synch1 -t tcp -n 18446744073709551615",
        "bulk -n 1",
        "breakdown -n 4",
        "breakdown -n 2,4",
        "comms1 --between 0,3 -n 3",
        "comms2 --between 1,1",
        "comet overlap --between 1,1",
        "comet contention -n 3",
        "signature -n 100000",
        "comet barrier -n 5000",
        "signature -n -2",
        "signature -n two",
        "signature -n 3 --pairs",
        "signature --pairs --fan-out",
        "signature --fan-in 0",
        "signature --fan-in 4 -n 3",
        &most,
    ]);
    let place = Workdir::new();
    place.file(
        "small.toml",
        "name = \"small\"\nsend_overhead_ns = 1\nrecv_overhead_ns = 1\ngap_ns = 1\nlatency_ns = 1\nranks = 4\n",
    );
    refused_in(&place, USAGE, &["signature -t sim:small.toml -n 5"]);
}

#[test]
fn options_that_do_not_fit() {
    refused(&[
        "comet echo --algorithm all",
        "comet echo exchange --mesh 2x2",
        "comet barrier --sizes 8",
        "comet barrier --perturb",
        "comet barrier --breaks 64KiB",
        "comet echo --vectors 100",
        "layers barrier -t shm,unix --buffers fresh",
        "layers barrier -t shm,unix --between 0,1",
        "layers barrier -t shm,unix --breaks 64",
        "comet transpose -n 4 --breaks 64KiB",
        "topology --ssh-command ssh",
        "doctor --copy",
        "doctor --interface lo",
        "topology --copy",
        "topology --interface lo",
        "doctor --mpi-lib libmpi.so",
        "comms3 --between 0,1",
        "comet transpose -n 3",
        "comet -n 6 --mesh 2x2",
        "comet transpose -n 4 --dimension 63",
        "comet transpose -n 4 --dimension 1000000",
        "comet global_sum --sizes 17:23",
        "comet global_sum -n 4 --sizes 8 --algorithm ring",
        "comet overlap --vectors 4000000000",
        // 256 GiB for overlap, more than a machine for tests has; barriers take none.
        "comet barrier overlap --sizes 1GiB -n 128",
        "bulk --sizes 1MiB:1KiB",
        "bulk --sizes 0:2GiB",
        "bulk --sizes=-1:4",
        "signature --wait block",
        "breakdown -t tcp --sizes 64",
        "breakdown -t tcp --wait block",
        "breakdown -t sim:paragon",
        "breakdown -t unix --insert 2ms",
        "breakdown --insert 1us",
        "breakdown --signature tcp",
        "breakdown -t unix --set llp_post=1ns",
        "breakdown --from thunderx2-connectx4 -H a,b",
        "simulate barrier -t sim:myrinet -n 4 --strict",
        "signature --out a --no-save",
    ]);
}

#[test]
fn cores_shares_and_times() {
    let commands = ["signature --cores 65000".to_owned(), "signature --seed x".to_owned()];
    let with = |option: &str, wrong: &[&str]| -> Vec<String> {
        wrong.iter().map(|wrong| format!("signature {option}={wrong}")).collect()
    };
    let commands = [
        commands.to_vec(),
        with("--cores", &["x", "0-", "1-0", "0,,1", "-1", "99999999999999999999", ""]),
        with("--precision", &["much", "5%%", "-5%", "200%", "", "nan", "0%", "-0"]),
        with("--confidence", &["0", "100%", "95"]),
        with("--time-budget", &["soon", "5", "-1s", "1e300h", "inf", "nan"]),
        with("--deadline", &["soon", "0s", "1e30s"]),
        with("--launches", &["0"]),
    ]
    .concat();
    refused(&commands.iter().map(String::as_str).collect::<Vec<_>>());
}

const MACHINE: &str = "name = \"m\"\nsend_overhead_ns = 100\nrecv_overhead_ns = 100\ngap_ns = 300\nlatency_ns = 500\n";

#[test]
fn machine_files() {
    let place = Workdir::new();
    for text in [
        format!("{MACHINE}colour = 3\n"),
        MACHINE.replace("= 300", "= 0"),
        MACHINE.replace("gap_ns = 300\n", ""),
        MACHINE.replace("\"m\"", "\"a\\u001b[2Jb\""),
        "= =".to_owned(),
        String::new(),
    ] {
        place.file("m.toml", text);
        refused_in(&place, INPUT, &["signature -t sim:m.toml"]);
    }
    place.file("m.toml", b"name = \"\xff\"");
    fs::create_dir(place.path("folder")).unwrap();
    refused_in(&place, INPUT, &["signature -t sim:m.toml", "signature -t sim:folder"]);
    // It does not say what a byte costs.
    place.file("m.toml", MACHINE);
    refused_in(&place, INPUT, &["bulk -t sim:m.toml", "comms1 -t sim:m.toml --out kept"]);
    place.run("comms1 --sizes 0 -t sim:m.toml --no-save".split(' ')).ends(0);
}

#[test]
fn tables() {
    let place = Workdir::new();
    let logp = "kind,messages,delay_ns,elapsed_ns\n";
    let issues: String = (1..40).map(|m| format!("issue,{m},0,{}\n", 100 * m).repeat(3)).collect();
    let rows = ["issue,1,0", "issues,1,0,5", "issue,1,0,-5"];
    let rows = rows.iter().map(|row| format!("{logp}rtt,1,0,5\n{row}\n"));
    // The last are right in form: no round trips, and nothing else.
    let others = [
        String::new(),
        logp.to_owned(),
        format!("{logp}{issues}"),
        format!("{logp}rtt,1,0,5\nrtt,1,0,6\n"),
    ];
    for text in rows.chain(others) {
        place.file("t.csv", text);
        refused_in(&place, INPUT, &["fit logp t.csv"]);
    }
    for text in [
        &b""[..],
        b"bytes,time_ns\n8,100\n16,NaN\n",
        b"8 bytes took a while\n",
        b"bytes,time_ns\n8,100\n8,101\n",
        b"bytes,time_ns\n8,\xff\xfe\n",
    ] {
        place.file("t.csv", text);
        refused_in(&place, INPUT, &["fit hockney t.csv"]);
    }
    refused_in(&place, INPUT, &["fit logp .", "fit hockney none.csv", "whatif --from ."]);
    place.file("t.csv", "bytes,time_ns\n0,2002\n64,2062\n256,2258\n1024,3022\n4096,6098\n");
    for breaks in ["1MiB", "4KiB", "1KiB,300", "300,300", "300,400"] {
        refused_in(&place, USAGE, &[&format!("fit hockney t.csv --breaks {breaks}")]);
    }
    refused_in(&place, USAGE, &["fit hockney t.csv --segments 0"]);
}

#[test]
fn runs_of_other_versions() {
    let place = Workdir::new();
    let run = "bandgap-runs/20260101T000000Z-signature";
    place.run(["signature", "-t", "sim:paragon", "-q", "--out", run]).ends(0);
    let path = place.path(run).join("run.json");
    let text = fs::read_to_string(&path).unwrap();
    let commands = ["whatif --from", "breakdown --from", "simulate --validate", "show", "export"];
    for version in ["1", "3"] {
        let other = format!("\"version\": {version}");
        fs::write(&path, text.replacen("\"version\": 2", &other, 1)).unwrap();
        for (command, of) in commands.iter().flat_map(|of| [(of, run), (of, "LAST")]) {
            let to = if *command == "export" { " --to csv" } else { "" };
            let words = format!("{command} {of}{to}");
            let finished = place.run(words.split_whitespace()).ends(INPUT);
            for named in [&*format!("version {version}"), run] {
                assert!(finished.stderr.contains(named), "{words}: {finished:?}");
            }
        }
    }
}

#[test]
fn names_in_files_do_not_speak_to_the_terminal() {
    let place = Workdir::new();
    let machine = MACHINE.replace("\"m\"", "\"a\\u001b[2Jb\"");
    place.file("m.toml", machine);
    let finished = place.run(["signature", "-t", "sim:m.toml"]).ends(INPUT);
    let all = finished.stdout + &finished.stderr;
    assert!(!all.contains(|c: char| c.is_control() && c != '\n'), "{all}");
}
