use super::*;

const GOOD: &str = "name = 'm'\nsend_overhead_ns = 2\nrecv_overhead_ns = 3.5\ngap_ns = 4.125\n\
                    latency_ns = 10\n";

fn parse(text: &str) -> Result<Machine, SimError> {
    Machine::parse(text, "m.toml")
}

fn message(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn the_built_in_machines_are_those_of_table_4() {
    let times = |name: &str| {
        let m = Machine::load(name).unwrap();
        assert_eq!(m.name(), name);
        [m.send_overhead(), m.recv_overhead(), m.gap(), m.latency()].map(|Ns(t)| t)
    };
    assert_eq!(times("paragon"), [1400.0, 2200.0, 7600.0, 6300.0]);
    assert_eq!(times("meiko-cs2"), [1700.0, 1600.0, 13_600.0, 7500.0]);
    assert_eq!(times("myrinet"), [2000.0, 2600.0, 12_400.0, 11_100.0]);
    assert_eq!(Machine::built_in().count(), 3);
}

#[test]
fn a_file_is_read_to_the_picosecond_with_its_defaults() {
    let m = parse(GOOD).unwrap();
    assert_eq!((m.recv_overhead(), m.gap()), (Ns(3.5), Ns(4.125)));
    assert_eq!((m.description(), m.topology(), m.ranks()), ("", Topology::Crossbar, 1 << 20));
    // RTT = 2(2 + 10 + 3.5) = 31 ns; 2⌈31 / 4.125⌉ = 16, and ⌈31 / 2⌉ = 16.
    assert_eq!((m.rtt(), m.capacity()), (Ns(31.0), 16));
    // Half the overhead: RTT = 29 ns, 2⌈29 / 4.125⌉ = 16, and ⌈29 / 1⌉ = 29.
    let m = parse(&GOOD.replace("send_overhead_ns = 2", "send_overhead_ns = 1")).unwrap();
    assert_eq!(m.capacity(), 29);
    let m = parse(&format!("{GOOD}capacity = 1\nranks = 7\ntopology = 'crossbar'")).unwrap();
    assert_eq!((m.capacity(), m.ranks()), (1, 7));
}

#[test]
fn a_machine_without_overheads_and_latency_has_a_capacity() {
    let text = "name = 'm'\nsend_overhead_ns = 0\nrecv_overhead_ns = 0\ngap_ns = 1\nlatency_ns = 0";
    assert_eq!(parse(text).unwrap().capacity(), 2);
}

#[test]
fn values_out_of_bounds_are_named_with_file_key_and_bounds() {
    for (key, good, bad, bounds) in [
        ("send_overhead_ns", "= 2\n", "= -1\n", "from 0 to 1000000000"),
        ("recv_overhead_ns", "= 3.5", "= nan", "from 0 to 1000000000"),
        ("gap_ns", "= 4.125", "= 0", "from 0.001 to 1000000000"),
        ("gap_ns", "= 4.125", "= inf", "from 0.001 to 1000000000"),
        ("latency_ns", "= 10", "= 2e9", "from 0 to 1000000000"),
    ] {
        let text = message(&GOOD.replace(&format!("{key} {good}"), &format!("{key} {bad}")));
        assert!(text.starts_with(&format!("read machine m.toml: {key} is ")), "{text}");
        assert!(text.ends_with(&format!("; it must be {bounds}")), "{text}");
    }
    for (line, bounds) in
        [("capacity = 0", "from 1 to 4294967295"), ("ranks = 1048577", "from 1 to 1048576")]
    {
        let text = message(&format!("{GOOD}{line}"));
        assert!(text.contains(&line.replace(" = ", " is ")) && text.contains(bounds), "{text}");
    }
    assert!(message(&GOOD.replace("'m'", "' '")).contains("name is empty"));
}

#[test]
fn what_is_no_machine_is_named_with_its_line() {
    let text = message(&format!("{GOOD}gap = 3\n"));
    assert!(text.starts_with("read machine m.toml, line 6: unknown field `gap`"), "{text}");
    let text = message(&format!("{GOOD}topology = 'ring'\n"));
    assert!(text.contains("line 6") && text.contains("crossbar"), "{text}");
    let text = message(&GOOD.replace("gap_ns = 4.125\n", ""));
    assert!(text.contains("missing field `gap_ns`"), "{text}");
    let text = message(&format!("{GOOD}capacity = -1\n"));
    assert!(text.contains("line 6"), "{text}");
}

#[test]
fn machines_are_loaded_from_files_and_unknown_names_list_the_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, GOOD).unwrap();
    assert_eq!(Machine::load(path.to_str().unwrap()).unwrap(), parse(GOOD).unwrap());
    let text = Machine::load("cm5").unwrap_err().to_string();
    assert!(text.contains("cm5") && text.contains("paragon, meiko-cs2, myrinet"), "{text}");
    let text = Machine::load(folder.path().to_str().unwrap()).unwrap_err().to_string();
    assert!(text.starts_with("read machine file "), "{text}");
}
