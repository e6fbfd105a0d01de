//! Whatever stands in a file: bandgap reads it or says what is wrong with it.

use bandgap_report::{Layout, text};
use bandgap_results::{Run, View, detail, screen};
use proptest::prelude::*;
use proptest::sample::select;

use crate::damaged::damaged;
use crate::program::subject::{BINARY, Workdir};

/// Commands that read `FILE`, and an example of what each reads.
const READERS: [(&str, &str); 10] = [
    ("fit logp FILE", include_str!("../../../../../docs/examples/paragon.csv")),
    ("fit hockney FILE", include_str!("../../../../../docs/examples/times.csv")),
    (
        "fit hockney FILE",
        "# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n1  2.0\n8  2.1\n64  2.4\n512  4.1\n",
    ),
    ("breakdown --from FILE", include_str!("../../../../../docs/examples/sockets.csv")),
    ("whatif --from FILE", include_str!("../../../../../docs/examples/sockets.csv")),
    ("simulate --sensitivity FILE", include_str!("../../../../../docs/examples/ring.goal")),
    (
        concat!(
            "simulate ",
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/examples/ring.goal --noise FILE"
        ),
        "5 2\n100.5\t7\n1000 3\n",
    ),
    ("comms1 --ssh-command false --hostfile FILE", "a:2\nuser@b slots=3 # two\n[fe80::1]:4\n"),
    (
        "breakdown --from thunderx2-connectx4 --pcie-trace FILE",
        "time_ns,direction,type,bytes,address,sequence\n1.5,down,MWr,64,0x80,71\n2,down,MWr,64,0x80,72\n\
         3,up,MWr,64,0x90,9\n4,down,ACK,,,9\n",
    ),
    (
        "comms1 --sizes 8:1KiB -t sim:FILE",
        include_str!("../../../../../docs/examples/two-rooms.toml"),
    ),
];

/// A command, and a damaged file for it.
fn damaged_file() -> impl Strategy<Value = (&'static str, String)> {
    let file = |(command, text): (_, &str)| (Just(command), damaged(vec![text.to_owned()]));
    select(&READERS[..]).prop_flat_map(file)
}

/// Runs of the program with results of several kinds.
fn runs() -> Vec<String> {
    let commands = [
        "signature -t sim:paragon",
        "comms1 -t sim:ipsc860 --sizes 8:64",
        "whatif --from thunderx2-connectx4",
        concat!(
            "simulate --sensitivity ",
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/examples/ring.goal"
        ),
    ];
    let run = |command: &str| {
        let args = command.split(' ').chain(["--no-save", "--json", "-"]);
        Workdir::new().run(args).measured().stdout
    };
    commands.map(run).to_vec()
}

proptest! {
    // Each case is a process.
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_file_is_read_or_refused((command, file) in damaged_file()) {
        let place = Workdir::new();
        let path = place.file("damaged", file);
        let finished = place.run(command.replace("FILE", &path).split(' ').chain(["--no-save"]));
        // What is read may be too little, and what is typed may ask for too much.
        prop_assert!(matches!(finished.code, Some(0 | 2 | 3 | 8 | 10 | 11)), "{finished:#?}");
        prop_assert_eq!(place.names(), ["damaged"]);
    }
}

#[test]
fn a_damaged_run_is_read_or_refused() {
    let config =
        ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(file in damaged(runs()))| {
        let Ok(run) = Run::from_json(file.as_bytes()) else { return Ok(()) };
        let view = View { plot: true, ..View::default() };
        for blocks in [screen(&run, view), detail(&run, view)] {
            let shown = text(&blocks, &Layout::default());
            let is_number = |word: &str| word.trim_start_matches(['±', '-']) != "inf";
            prop_assert!(shown.split_whitespace().all(is_number), "{}", shown);
        }
        // JSON has no place for a number that is not finite.
        if let Ok(written) = run.to_json() {
            let again = Run::from_json(written.as_bytes()).unwrap();
            prop_assert_eq!(again.to_json().unwrap(), written);
        }
    });
}

#[test]
fn no_name_reaches_a_terminal_as_a_command() {
    let place = Workdir::new();
    let name = "\u{1b}[31mred\u{1b}[2J";
    let args = ["comms1", "-t", "sim:ipsc860", "--sizes", "8:64", "--out", name];
    place.run(args).ends(0);
    for args in
        [vec!["show", "none\u{1b}[31m"], vec!["show", name], vec!["show", name, "x\u{1b}[0m"]]
    {
        let finished = place.run(args);
        assert!(!(finished.stdout + &finished.stderr).contains('\u{1b}'));
    }
}

#[test]
fn memory_that_is_out_ends_no_command_with_a_signal() {
    let place = Workdir::new();
    place.file("huge.goal", "num_ranks 100000000\nrank 0 {\ncalc 1\n}\n");
    let endless = "(echo 'num_ranks 1 rank 0 {'; yes 'calc 1')";
    for (input, command, code) in [
        ("true", "simulate huge.goal --sensitivity --no-save", 0),
        ("true", "export huge.goal --to perfetto", 0),
        (endless, "simulate - --no-save", 7),
    ] {
        let limited = format!("{input} | (ulimit -v 400000; exec {BINARY} {command})");
        let finished = place.shell(&limited);
        assert_eq!(finished.code, Some(code), "{command}: {}", finished.stderr);
    }
}
