mod networks;

use super::*;

const GOOD: &str = "name = 'm'\nsend_overhead_ns = 2\nrecv_overhead_ns = 3.5\ngap_ns = 4.125\n\
                    latency_ns = 10\n";

fn parse(text: &str) -> Result<Machine, SimError> {
    Machine::parse(text, "m.toml")
}

#[test]
fn the_built_in_machines_are_those_of_tables_3_and_4() {
    let times = |name: &str| {
        let m = Machine::load(name).unwrap();
        assert_eq!(m.name, name);
        [m.send_overhead, m.recv_overhead, m.gap, m.latency]
    };
    assert_eq!(times("paragon"), [1_400_000, 2_200_000, 7_600_000, 6_350_000]);
    assert_eq!(times("meiko-cs2"), [1_700_000, 1_600_000, 13_600_000, 6_850_000]);
    assert_eq!(times("myrinet"), [2_000_000, 2_600_000, 12_400_000, 10_700_000]);
    assert_eq!(Machine::built_in().count(), 4);
}

#[test]
fn a_file_is_read_to_the_picosecond_with_its_defaults() {
    let m = parse(GOOD).unwrap();
    assert_eq!((m.recv_overhead, m.gap, m.ranks), (3500, 4125, 1 << 20));
    // RTT = 2(2 + 10 + 3.5) = 31 ns; 2⌈31 / 4.125⌉ = 16, and ⌈31 / 2⌉ = 16.
    assert_eq!(m.capacity, 16);
    // Half the overhead: RTT = 29 ns, 2⌈29 / 4.125⌉ = 16, and ⌈29 / 1⌉ = 29.
    let m = parse(&GOOD.replace("send_overhead_ns = 2", "send_overhead_ns = 1")).unwrap();
    assert_eq!(m.capacity, 29);
    let m = parse(&format!("{GOOD}capacity = 1\nranks = 7\ntopology = 'crossbar'")).unwrap();
    assert_eq!((m.capacity, m.ranks), (1, 7));
}

#[test]
fn values_out_of_bounds_are_named_by_their_key() {
    for (name, text) in [
        ("send_overhead_ns", GOOD.replace("= 2\n", "= -1\n")),
        ("recv_overhead_ns", GOOD.replace("= 3.5", "= nan")),
        ("gap_ns", GOOD.replace("= 4.125", "= 0")),
        ("latency_ns", GOOD.replace("= 10", "= 2e9")),
        ("capacity", format!("{GOOD}capacity = 0")),
        ("ranks", format!("{GOOD}ranks = 1048577")),
        ("name", GOOD.replace("'m'", "' '")),
        ("name", GOOD.replace("'m'", "\"a\\u001b[2Jb\"")),
    ] {
        let error = parse(&text).unwrap_err();
        assert!(matches!(&error, SimError::Machine { key, .. } if *key == name), "{text}{error}");
    }
}

/// Asserts that each of these files is refused at this line.
fn refused_at(files: &[(usize, String)]) {
    for (wrong, text) in files {
        let found = match parse(text).unwrap_err() {
            SimError::Machine { line, .. } => line,
            other => panic!("{text}{other}"),
        };
        assert_eq!(found, *wrong, "{text}");
    }
}

#[test]
fn machines_are_loaded_from_files_and_unknown_names_list_the_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, GOOD).unwrap();
    assert_eq!(Machine::load(path.to_str().unwrap()).unwrap(), parse(GOOD).unwrap());
    let text = Machine::load("cm5").unwrap_err().to_string();
    assert!(text.contains("cm5") && text.contains("paragon, meiko-cs2, myrinet"), "{text}");
    let error = Machine::load(folder.path().to_str().unwrap()).unwrap_err();
    assert!(matches!(error, SimError::Unreadable(path, _) if path == folder.path()));
    // A file without end is no machine.
    let error = Machine::load("/dev/zero").unwrap_err();
    let why = std::error::Error::source(&error).unwrap().to_string();
    assert!(why.contains("1 MiB"), "{why}");
}

const SHORT: &str = "[[protocol]]\nup_to_bytes = 100\nsend_overhead_ns = 1\nrecv_overhead_ns = 2\n\
                     latency_ns = 3\ngap_per_byte_ns = 0.5\n";
const LONG: &str = "[[protocol]]\nsend_overhead_ns = 4\nrecv_overhead_ns = 5\nlatency_ns = 6\n\
                    gap_per_byte_ns = 0.0001\n";

/// os + L + or + n·G in ps.
fn one_way(machine: &Machine, bytes: Option<u32>) -> u64 {
    let Protocol { send_overhead, recv_overhead, latency, .. } = machine.costs(bytes);
    let transfer = machine.costs(bytes).transfer(bytes);
    send_overhead + latency + recv_overhead + transfer
}

#[test]
fn protocols_are_read_in_order_and_carry_up_to_their_limit() {
    let m = parse(&format!("{GOOD}{SHORT}{LONG}")).unwrap();
    let times =
        |p: &Protocol| [p.up_to, p.send_overhead, p.recv_overhead, p.latency, p.gap_per_byte];
    let expected = [[100, 1000, 2000, 3000, 500_000], [u64::MAX, 4000, 5000, 6000, 100]];
    assert!(m.protocols.iter().map(times).eq(expected));
    assert_eq!((one_way(&m, Some(100)), one_way(&m, Some(101))), (56_000, 15_010));
    // What requests cost is the machine's own.
    assert_eq!((m.send_overhead, one_way(&m, None)), (2000, 15_500));
}

#[test]
fn without_protocols_bytes_cost_what_the_machine_says_and_by_default_have_no_time() {
    // 2 + 10 + 3.5 ns.
    let m = parse(GOOD).unwrap();
    assert_eq!((one_way(&m, Some(0)), m.protocols.len()), (15_500, 0));
    let m = parse(&format!("{GOOD}gap_per_byte_ns = 2")).unwrap();
    assert_eq!((one_way(&m, Some(10)), m.protocols.len()), (35_500, 1));
    // A machine on which bytes are free is one when its file says so.
    let m = parse(&format!("{GOOD}gap_per_byte_ns = 0")).unwrap();
    assert_eq!((one_way(&m, Some(1 << 30)), m.protocols.len()), (15_500, 1));
}

#[test]
fn what_is_no_machine_is_refused_at_its_line() {
    // GOOD has five lines, so the first protocol begins on line 6 and its limit is on line 7; the
    // second begins on line 12.
    let both = format!("{GOOD}{SHORT}{LONG}");
    let limited = LONG.replace("[[protocol]]\n", "[[protocol]]\nup_to_bytes = 100\n");
    refused_at(&[
        (6, format!("{GOOD}gap = 3\n")),
        (6, format!("{GOOD}topology = 'ring'\n")),
        (6, format!("{GOOD}progress = 'manual'")),
        (6, both.replace("up_to_bytes = 100\n", "")),
        (7, format!("{GOOD}{SHORT}")),
        (13, format!("{GOOD}{SHORT}{limited}{LONG}")),
        (11, both.replace("gap_per_byte_ns = 0.5", "gap_per_byte_ns = -0.5")),
        (15, both.replace("latency_ns = 6", "latency_ns = 2e9")),
        (6, format!("{GOOD}gap_per_byte_ns = 1\n{LONG}")),
        (12, both.replace("latency_ns = 6\n", "")),
        (6, format!("{GOOD}[variation]\nsigma = 2\n")),
        (6, format!("{GOOD}[variation]\nfactor = 0\n")),
        (6, format!("{GOOD}[variation]\nshare = nan\n")),
        (7, format!("{GOOD}[variation]\nper = 'day'\n")),
    ]);
}

#[test]
fn a_machine_that_varies_has_other_parameters_in_each_launch() {
    let text = format!("{GOOD}[variation]\n").replace("gap_ns = 4.125", "gap_ns = 4000");
    let varying = |more: &str| parse(&format!("{text}{more}\n{SHORT}{LONG}")).unwrap();
    let times = |of: &Machine| [of.send_overhead, of.recv_overhead, of.gap, of.latency];
    let factors = |of: &Machine, seed, launch| {
        let own = times(&of.of_launch(seed, launch));
        let ratio = |(own, usual): (u64, u64)| own as f64 / usual as f64;
        own.into_iter().zip(times(of)).map(ratio).collect::<Vec<_>>()
    };
    // The same launch has the same, another one, another seed or another machine others; and so do parameters.
    let usual = varying("sigma = 0.3");
    let other = Machine { name: "other".into(), ..usual.clone() };
    let drawn = [(&usual, 1, 0), (&usual, 1, 1), (&usual, 2, 0), (&other, 1, 0)];
    let mut all: Vec<f64> = drawn.iter().flat_map(|(of, a, b)| factors(of, *a, *b)).collect();
    assert_eq!(usual.of_launch(1, 0), usual.of_launch(1, 0));
    all.sort_by(f64::total_cmp);
    all.dedup();
    assert_eq!(all.len(), 16);
    // One factor for all, in every protocol; nothing else changes.
    let own = varying("sigma = 0.3\nper = 'launch'").of_launch(1, 0);
    let [os, g, l] =
        [own.send_overhead as f64 / 2e3, own.gap as f64 / 4e6, own.latency as f64 / 1e4];
    assert!((os - g).abs() < 1e-3 && (os - l).abs() < 1e-3 && (os - 1.0).abs() > 1e-3);
    assert!((own.protocols[1].latency as f64 / 6e3 - os).abs() < 1e-3);
    assert_eq!((own.capacity, &own.network), (usual.capacity, &usual.network));
    // The logarithm of g is normal with this σ, and two modes have their shares.
    let logs = |more: &str| -> Vec<f64> {
        let of = varying(more);
        (0..4000).map(|launch| factors(&of, 7, launch)[2].ln()).collect()
    };
    let moments = |all: &[f64]| {
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        (mean, all.iter().map(|of| (of - mean).powi(2)).sum::<f64>() / all.len() as f64)
    };
    let (mean, variance) = moments(&logs("sigma = 0.02"));
    assert!(mean.abs() < 0.002 && (variance.sqrt() - 0.02).abs() < 0.001, "{mean} {variance}");
    let modes = logs("factor = 1.3\nshare = 0.2");
    let second = modes.iter().filter(|of| (*of - 1.3_f64.ln()).abs() < 1e-3).count();
    let first = modes.iter().filter(|of| of.abs() < 1e-3).count();
    assert!(first + second == 4000 && second.abs_diff(800) < 100, "{second}");
    // Without the table, each launch meets the machine itself.
    let exact = parse(GOOD).unwrap();
    assert_eq!(exact.of_launch(1, 3), exact);
}
