//! What a person sees: never more lines than are read, nor wider than the terminal.

use bandgap_record::read;
use bandgap_report::{Layout, text};
use bandgap_results::{Run, View, screen};

use crate::program::subject::Workdir;

/// Machines from the fastest to the slowest that anybody may have: the unit of time in nanoseconds, what a byte
/// takes in that unit, the shares of os, or and g in it, and the network.
fn machines() -> Vec<String> {
    let units = [0.001, 1.0, 100.0, 1e4, 1e6];
    let networks = [
        (0.0, "topology = \"crossbar\"\n"),
        (1e-6, "[network]\ntopology = \"hypercube\"\ndimensions = 4\nhop_ns = 0.25\n"),
        (1e-3, "[network]\ntopology = \"mesh\"\nrows = 4\ncolumns = 4\nhop_ns = 1000.0\n"),
        (
            0.5,
            "[network]\ntopology = \"fat_tree\"\narity = 4\nlevels = 2\nplacement = \"cyclic\"\nhop_ns = 1e6\n",
        ),
    ];
    let mut all = Vec::new();
    for (at, unit) in units.into_iter().enumerate() {
        for (by, (byte, network)) in networks.into_iter().enumerate() {
            // The first line breaks, or does not.
            let name =
                format!("a-machine-whose-name-is-long{}", "-and-longer".repeat(6 * (by % 2)));
            let share = |of: usize| unit * (1 + (at + by + of) % 4 * 3) as f64;
            let latency = if by == 0 { unit * 1000.0 } else { unit };
            all.push(format!(
                "name = \"{name}-{at}-{by}\"\nsend_overhead_ns = {:?}\n\
                 recv_overhead_ns = {:?}\ngap_ns = {:?}\nlatency_ns = {latency:?}\n\
                 gap_per_byte_ns = {:?}\n{network}",
                share(0),
                share(1),
                share(2),
                unit * byte,
            ));
        }
    }
    all
}

/// Asserts that a screen has at most so many lines, none of them wider than `columns`.
#[track_caller]
fn fits(text: &str, most: usize, columns: usize, what: &str) {
    let lines = text.lines().count();
    assert!((1..=most).contains(&lines), "{what}: {lines} lines\n{text}");
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    assert!(widest <= columns, "{what}: {widest} columns\n{text}");
}

/// Commands, the lines that they may print at 100 columns, and what the first column of their table has.
const COMMANDS: [(&str, usize, &str); 10] = [
    ("run", 25, "RTT/2"),
    ("signature", 45, "RTT/2"),
    ("comms1", 25, "4 MiB"),
    ("comms2", 25, "4 MiB"),
    ("comms3 -n 2,4", 25, "ranks 4"),
    ("synch1 -n 2,4", 25, "4"),
    ("bulk", 25, "bulk get"),
    ("comet -n 16 --dimension 64", 32, "transpose"),
    ("comet broadcast -n 16", 16, "4 MiB"),
    ("comet broadcast -n 2,4,8,16", 25, "4 MiB"),
];

#[test]
fn a_screen_has_few_lines_and_none_that_is_too_wide() {
    let place = Workdir::new();
    for (at, machine) in machines().iter().enumerate() {
        let file = place.file("machine.toml", machine);
        for (command, most, first) in COMMANDS {
            let finished = place.run(format!("{command} -t sim:{file} --out run -q").split(' '));
            assert!(matches!(finished.code, Some(0 | 8)), "{command} on\n{machine}\n{finished:#?}");
            // A long name breaks the first line, and an id twice. COMMS1 and COMMS2 give up a row for the first.
            let more = 2 + usize::from(!command.starts_with("comms"));
            let most = most + at % 2 * more;
            let run: Run = read(&place.path("run")).unwrap();
            let blocks = screen(&run, View { kept: Some("run"), ..View::default() });
            for (width, most) in [(100, most), (60, 3 * most)] {
                let shown = text(&blocks, &Layout { width, ..Layout::default() });
                fits(&shown, most, width.into(), &format!("{command} on machine {at}"));
                let has = |line: &str| line.trim_start().starts_with(first);
                assert!(shown.lines().any(has), "{command} on machine {at}\n{shown}");
            }
            std::fs::remove_dir_all(place.path("run")).unwrap();
        }
    }
}

#[test]
fn a_pipe_is_as_wide_as_columns_says() {
    let place = Workdir::new();
    place.run("comms1 -t sim:ipsc860 --out run -q".split(' ')).ends(0);
    let run: Run = read(&place.path("run")).unwrap();
    let blocks = screen(&run, View { kept: Some("run"), ..View::default() });
    for width in [60, 100] {
        let shown = place.shell(&format!("COLUMNS={width} bandgap show run")).ends(0).stdout;
        assert_eq!(shown, text(&blocks, &Layout { width, ..Layout::default() }));
    }
}
