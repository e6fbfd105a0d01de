use super::*;

/// [`GOOD`] has five lines: the table begins on line 6.
fn with(network: &str) -> String {
    format!("{GOOD}[network]\n{network}\n")
}

#[test]
fn each_network_is_read_with_its_size_and_its_nodes_are_the_ranks() {
    for (network, nodes, diameter) in [
        ("topology = 'hypercube'\ndimensions = 4\nhop_ns = 2.5", 16, 4),
        ("topology = 'mesh'\nrows = 3\ncolumns = 5\nhop_ns = 2.5", 15, 6),
        ("topology = 'torus'\nrows = 3\ncolumns = 5\nhop_ns = 2.5", 15, 3),
        ("topology = 'fat_tree'\narity = 4\nlevels = 3\nhop_ns = 2.5", 64, 5),
    ] {
        let m = parse(&with(network)).unwrap();
        assert_eq!(
            (m.topology().size(), m.topology().diameter(), m.ranks),
            (nodes, diameter, nodes)
        );
        assert_eq!((m.hop, m.further_hops(0, 0, None)), (2500, 0));
        assert_eq!(m.further_hops(0, nodes as u32 - 1, None) % 2500, 0);
        // RTT = 2(2 + 10 + 3.5 + 2.5 for each further hop) ns, and g = 4.125 ns, os = 2 ns.
        let rtt = 31_000 + 5000 * (u64::from(diameter) - 1);
        assert_eq!(u64::from(m.capacity), (2 * rtt.div_ceil(4125)).max(rtt.div_ceil(2000)));
        // There may be fewer ranks than nodes.
        assert_eq!(parse(&with(network).replace("[net", "ranks = 7\n[net")).unwrap().ranks, 7);
    }
    let m = parse(&with("topology = 'crossbar'")).unwrap();
    assert_eq!(m, parse(GOOD).unwrap());
    assert_eq!((m.topology().size(), m.topology().diameter(), m.hop), (1 << 20, 1, 0));
    assert_eq!(parse(&format!("{GOOD}ranks = 9")).unwrap().topology().size(), 9);
}

#[test]
fn protocols_have_the_networks_hop_time_or_their_own() {
    let network = with("topology = 'hypercube'\ndimensions = 1\nhop_ns = 7");
    let own = format!("{LONG}hop_ns = 11\n");
    let m = parse(&format!("{network}{SHORT}{own}")).unwrap();
    assert_eq!([m.hop, m.protocols[0].hop, m.protocols[1].hop], [7000, 7000, 11_000]);
    let m = parse(&network.replace("[network]", "gap_per_byte_ns = 1\n[network]")).unwrap();
    assert_eq!(m.protocols[0].hop, 7000);
}

#[test]
fn an_element_of_a_daxpy_takes_a_nanosecond_unless_the_file_says_otherwise() {
    assert_eq!(parse(GOOD).unwrap().daxpy(3), 3_000);
    // To the femtosecond, and then to the picosecond.
    let m = parse(&format!("{GOOD}daxpy_ns = 0.00025")).unwrap();
    assert_eq!([0, 4, 6, 10].map(|elements| m.daxpy(elements)), [0, 1, 2, 3]);
    assert_eq!(Machine::load("ipsc860").unwrap().daxpy(1000), 200_000_000);
    let text = message(&format!("{GOOD}daxpy_ns = -1"));
    assert!(text.contains("daxpy_ns is -1; it must be from 0 to"), "{text}");
}

#[test]
fn progress_is_asynchronous_unless_the_file_says_otherwise() {
    assert_eq!(parse(GOOD).unwrap().progress, Progress::Asynchronous);
    for (name, progress) in
        [("asynchronous", Progress::Asynchronous), ("synchronous", Progress::Synchronous)]
    {
        assert_eq!(parse(&format!("{GOOD}progress = '{name}'")).unwrap().progress, progress);
    }
    let text = message(&format!("{GOOD}progress = 'manual'"));
    assert!(text.contains("line 6") && text.contains("synchronous"), "{text}");
}

#[test]
fn wrong_networks_are_named_with_line_key_and_bounds() {
    let cube = "topology = 'hypercube'\ndimensions = 3\nhop_ns = 1";
    let tree = "topology = 'fat_tree'\narity = 4\nlevels = 3\nhop_ns = 1";
    for (text, expected) in [
        (with("topology = 'ring'"), "line 7: unknown variant `ring`"),
        (with("rows = 3"), "line 6: missing field `topology`"),
        (with(&format!("{cube}\nhops = 1")), "line 10: unknown field `hops`"),
        (
            with(&cube.replace("dimensions = 3\n", "")),
            "line 6: dimensions is missing; it must be given in a hypercube",
        ),
        (
            with(&format!("{cube}\nrows = 3")),
            "line 10: rows is 3; it must be left out of a hypercube",
        ),
        (
            with(&cube.replace("= 3", "= 1048577")),
            "line 8: dimensions is 1048577; it must be from 0",
        ),
        (
            with(&cube.replace("= 3", "= 21")),
            "line 7: topology is hypercube; it must be of at most 1048576 nodes: make \
             dimensions smaller",
        ),
        (with("topology = 'mesh'\nrows = 3\nhop_ns = 1"), "line 6: columns is missing"),
        (
            with("topology = 'torus'\nrows = 0\ncolumns = 3\nhop_ns = 1"),
            "line 8: rows is 0; it must be from 1 to 1048576",
        ),
        (
            with("topology = 'mesh'\nrows = 2000\ncolumns = 2000\nhop_ns = 1"),
            "make rows or columns smaller",
        ),
        (with(&tree.replace("= 4", "= 1")), "line 8: arity is 1; it must be from 2 to"),
        (with(&tree.replace("= 3", "= 0")), "line 9: levels is 0; it must be from 1 to"),
        (with(&tree.replace("= 3", "= 600")), "line 7: topology is fat_tree"),
        (
            with(&cube.replace("\nhop_ns = 1", "")),
            "line 6: hop_ns is missing; it must be given in a hypercube",
        ),
        (
            with(&cube.replace("hop_ns = 1", "hop_ns = -1")),
            "line 9: hop_ns is -1; it must be from 0",
        ),
        (
            with("topology = 'crossbar'\nhop_ns = 1"),
            "line 8: hop_ns is 1; it must be left out of a crossbar",
        ),
        (
            format!("{GOOD}{LONG}hop_ns = 1\n"),
            "line 11: hop_ns is 1; it must be left out where all ranks are one hop apart",
        ),
        (
            format!("{GOOD}ranks = 9\n[network]\n{cube}"),
            "line 6: ranks is 9; it must be from 1 to 8, the nodes of the network",
        ),
        (
            format!("{GOOD}topology = 'hypercube'"),
            "line 6: topology is hypercube; it must be crossbar; others are the topology of a table",
        ),
        (
            format!("{GOOD}topology = 'crossbar'\n[network]\n{cube}"),
            "line 6: topology is crossbar; it must be left out beside a table [network]",
        ),
    ] {
        let text = message(&text);
        assert!(text.starts_with("read machine m.toml, "), "{text}");
        assert!(text.contains(expected), "{text}\n{expected}");
    }
}
