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
        ("topology = 'hosts'\nhosts = 3\nranks_per_host = 4\nhop_ns = 2.5", 12, 2),
        (
            "topology = 'dragonfly'\nrouters_per_group = 4\nnodes_per_router = 3\nlinks_per_router = 2\n\
             hop_ns = 2.5",
            108,
            4,
        ),
    ] {
        let m = parse(&with(network)).unwrap();
        assert_eq!((m.network.size(), m.network.diameter(), m.ranks), (nodes, diameter, nodes));
        let further = |to: usize| m.flight(0, to as u32, &m.costs(None)) - m.latency;
        assert_eq!((m.hop, further(0), further(nodes - 1) % 2500), (2500, 0, 0));
        // RTT = 2(2 + 10 + 3.5 + 2.5 for each further hop) ns, and g = 4.125 ns, os = 2 ns.
        let rtt = 31_000 + 5000 * (u64::from(diameter) - 1);
        assert_eq!(u64::from(m.capacity), (2 * rtt.div_ceil(4125)).max(rtt.div_ceil(2000)));
        // There may be fewer ranks than nodes.
        assert_eq!(parse(&with(network).replace("[net", "ranks = 7\n[net")).unwrap().ranks, 7);
    }
    let m = parse(&with("topology = 'crossbar'")).unwrap();
    assert_eq!(m, parse(GOOD).unwrap());
    assert_eq!((m.network.size(), m.network.diameter(), m.hop), (1 << 20, 1, 0));
    assert_eq!(parse(&format!("{GOOD}ranks = 9")).unwrap().network.size(), 9);
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
    assert!(parse(&format!("{GOOD}daxpy_ns = -1")).is_err());
}

#[test]
fn progress_is_asynchronous_unless_the_file_says_otherwise() {
    assert_eq!(parse(GOOD).unwrap().progress, Progress::Asynchronous);
    for (name, progress) in
        [("asynchronous", Progress::Asynchronous), ("synchronous", Progress::Synchronous)]
    {
        assert_eq!(parse(&format!("{GOOD}progress = '{name}'")).unwrap().progress, progress);
    }
}

#[test]
fn wrong_networks_are_refused_at_their_line() {
    let cube = "topology = 'hypercube'\ndimensions = 3\nhop_ns = 1";
    let tree = "topology = 'fat_tree'\narity = 4\nlevels = 3\nhop_ns = 1";
    refused_at(&[
        (7, with("topology = 'ring'")),
        (6, with(&cube.replace("dimensions = 3\n", ""))),
        (10, with(&format!("{cube}\nrows = 3"))),
        (7, with(&cube.replace("= 3", "= 21"))),
        (8, with("topology = 'torus'\nrows = 0\ncolumns = 3\nhop_ns = 1")),
        (7, with(&tree.replace("= 3", "= 600"))),
        (6, with(&cube.replace("\nhop_ns = 1", ""))),
        (9, with(&cube.replace("hop_ns = 1", "hop_ns = -1"))),
        (8, with("topology = 'crossbar'\nhop_ns = 1")),
        (6, with("topology = 'hosts'\nhosts = 3\nhop_ns = 1")),
        (8, with("topology = 'hosts'\nhosts = 0\nranks_per_host = 3\nhop_ns = 1")),
        (11, format!("{GOOD}{LONG}hop_ns = 1\n")),
        (6, format!("{GOOD}ranks = 9\n[network]\n{cube}")),
        (6, format!("{GOOD}topology = 'hypercube'")),
    ]);
}
