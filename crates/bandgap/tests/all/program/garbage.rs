//! Whatever stands in a file: bandgap reads it or says what is wrong with it.

use bandgap_report::{Layout, text};
use bandgap_results::{Run, View, detail, screen};
use proptest::prelude::*;
use proptest::sample::select;

use crate::damaged::damaged;
use crate::program::subject::Workdir;

/// Commands that read `FILE`, and an example of what each reads.
const READERS: [(&str, &str); 7] = [
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
        prop_assert!(matches!(finished.code, Some(0 | 2 | 3 | 8 | 11)), "{finished:#?}");
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
        let _ = text(&screen(&run, view), &Layout::default());
        let _ = text(&detail(&run, view), &Layout::default());
        // JSON has no place for a number that is not finite.
        if let Ok(written) = run.to_json() {
            let again = Run::from_json(written.as_bytes()).unwrap();
            prop_assert_eq!(again.to_json().unwrap(), written);
        }
    });
}
