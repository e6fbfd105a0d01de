mod networks;

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
fn the_built_in_machines_are_those_of_tables_3_and_4() {
    let times = |name: &str| {
        let m = Machine::load(name).unwrap();
        assert_eq!(m.name, name);
        [m.send_overhead, m.recv_overhead, m.gap, m.latency]
    };
    assert_eq!(times("paragon"), [1_400_000, 2_200_000, 7_600_000, 6_350_000]);
    assert_eq!(times("meiko-cs2"), [1_700_000, 1_600_000, 13_600_000, 6_850_000]);
    assert_eq!(times("myrinet"), [2_000_000, 2_600_000, 12_400_000, 11_100_000]);
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
fn a_machine_without_overheads_and_latency_has_a_capacity() {
    let text = "name = 'm'\nsend_overhead_ns = 0\nrecv_overhead_ns = 0\ngap_ns = 1\nlatency_ns = 0";
    assert_eq!(parse(text).unwrap().capacity, 2);
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
    let text = message(&GOOD.replace("'m'", "\"a\\u001b[2Jb\""));
    assert!(
        text.contains("name is a\\u{1b}[2Jb: ") || text.contains("a name without control"),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "{text}");
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
    // A file without end is no machine.
    let error = Machine::load("/dev/zero").unwrap_err();
    let why = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(why, "it is longer than 1 MiB");
}

const SHORT: &str = "[[protocol]]\nup_to_bytes = 100\nsend_overhead_ns = 1\nrecv_overhead_ns = 2\n\
                     latency_ns = 3\ngap_per_byte_ns = 0.5\n";
const LONG: &str = "[[protocol]]\nsend_overhead_ns = 4\nrecv_overhead_ns = 5\nlatency_ns = 6\n\
                    gap_per_byte_ns = 0.0001\n";

/// os + L + or + n·G in ps.
fn one_way(machine: &Machine, bytes: Option<u32>) -> u64 {
    let MessageCosts { send_overhead, recv_overhead, latency, transfer } = machine.costs(bytes);
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
fn wrong_protocols_are_named_with_line_key_and_bounds() {
    // GOOD has five lines, so the first protocol begins on line 6 and its limit is on line 7; the
    // second begins on line 12.
    let both = format!("{GOOD}{SHORT}{LONG}");
    let limited = LONG.replace("[[protocol]]\n", "[[protocol]]\nup_to_bytes = 100\n");
    for (text, expected) in [
        (
            both.replace("up_to_bytes = 100\n", ""),
            "line 6: up_to_bytes is missing; it must be given in every protocol but the last",
        ),
        (
            format!("{GOOD}{SHORT}"),
            "line 7: up_to_bytes is 100; it must be left out of the last protocol",
        ),
        (
            format!("{GOOD}{SHORT}{limited}{LONG}"),
            "line 13: up_to_bytes is 100; it must be more than 100",
        ),
        (
            both.replace("gap_per_byte_ns = 0.5", "gap_per_byte_ns = -0.5"),
            "line 11: gap_per_byte_ns is -0.5; it must be from 0 to 1000000000",
        ),
        (
            both.replace("send_overhead_ns = 4", "send_overhead_ns = nan"),
            "line 13: send_overhead_ns is NaN; it must be from 0 to",
        ),
        (
            both.replace("latency_ns = 6", "latency_ns = 2e9"),
            "line 15: latency_ns is 2000000000; it must be from 0 to",
        ),
        (
            both.replace("recv_overhead_ns = 2\n", "recv_overhead_ns = -2\n"),
            "line 9: recv_overhead_ns is -2;",
        ),
        (
            format!("{GOOD}gap_per_byte_ns = 1\n{LONG}"),
            "line 6: gap_per_byte_ns is 1; it must be left out where there are protocols",
        ),
        (format!("{GOOD}gap_per_byte_ns = -1\n"), "line 6: gap_per_byte_ns is -1; it must be from"),
        (both.replace("latency_ns = 6\n", ""), "line 12: missing field `latency_ns`"),
        (format!("{both}gap = 1\n"), "line 17: unknown field `gap`"),
        (both.replace("= 100", "= -1"), "line 7: "),
    ] {
        let text = message(&text);
        assert!(text.starts_with("read machine m.toml, "), "{text}");
        assert!(text.contains(expected), "{text}\n{expected}");
    }
}

#[test]
fn the_ipsc860s_requests_cost_what_its_short_messages_cost_without_bytes() {
    let m = Machine::load("ipsc860").unwrap();
    let short = &m.protocols[0];
    assert_eq!(short.up_to, 100);
    assert_eq!(
        (m.send_overhead, m.recv_overhead, m.latency),
        (short.send_overhead, short.recv_overhead, short.latency)
    );
    assert_eq!((one_way(&m, Some(0)), one_way(&m, None)), (79_000_000, 79_000_000));
}
