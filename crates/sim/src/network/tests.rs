use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn cube(dimensions: u32) -> Network {
    Network::Hypercube { dimensions }
}

fn torus(rows: usize, columns: usize) -> Network {
    Network::Grid { rows, columns, is_torus: true }
}

fn mesh(rows: usize, columns: usize) -> Network {
    Network::Grid { rows, columns, is_torus: false }
}

fn tree(arity: usize, levels: u32) -> Network {
    Network::FatTree { arity, levels, dealt: false }
}

fn dragonfly(routers: usize, nodes: usize, links: usize) -> Network {
    Network::Dragonfly { routers, nodes, links }
}

fn hosts(hosts: usize, ranks_per_host: usize) -> Network {
    Network::Hosts { hosts, ranks_per_host, dealt: false }
}

fn route(network: &Network, from: usize, to: usize) -> Vec<usize> {
    let mut channels = Vec::new();
    network.route(from as u32, to as u32, |channel| channels.push(channel));
    channels
}

/// Where a channel of a network of links begins and ends.
fn ends(network: &Network, channel: usize) -> (usize, usize) {
    let [rows, columns] = match network {
        Network::Hypercube { dimensions } => {
            let dimensions = *dimensions as usize;
            let (node, bit) = (channel / dimensions, channel % dimensions);
            return (node, node ^ 1 << bit);
        }
        Network::Grid { rows, columns, .. } => [*rows, *columns],
        other => panic!("{other:?} has switches"),
    };
    let node = channel / 4;
    let (row, column) = (node / columns, node % columns);
    let (row, column) = match channel % 4 {
        0 => (row, (column + 1) % columns),
        1 => (row, (column + columns - 1) % columns),
        2 => ((row + 1) % rows, column),
        _ => ((row + rows - 1) % rows, column),
    };
    (node, row * columns + column)
}

fn linked() -> impl Strategy<Value = Network> {
    prop_oneof![
        (0_u32..6).prop_map(cube),
        (1_usize..7, 1_usize..7).prop_map(|(rows, columns)| mesh(rows, columns)),
        (1_usize..7, 1_usize..7).prop_map(|(rows, columns)| torus(rows, columns)),
    ]
}

/// Whether no two ranks' messages share a channel when rank r sends to `to(r)`.
fn disjoint(network: &Network, to: impl Fn(usize) -> usize) -> bool {
    let mut used = BTreeSet::new();
    let mut ranks = 0..network.size();
    ranks.all(|rank| route(network, rank, to(rank)).into_iter().all(|channel| used.insert(channel)))
}

proptest! {
    #[test]
    fn a_route_leads_over_neighbours_by_the_fewest_hops(network in linked()) {
        for (from, to) in (0..network.size()).flat_map(|a| (0..network.size()).map(move |b| (a, b))) {
            let channels = route(&network, from, to);
            prop_assert_eq!(channels.len() as u32, network.distance(from, to));
            let mut at = from;
            for channel in channels {
                prop_assert!(channel < network.channels());
                let (begin, end) = ends(&network, channel);
                prop_assert_eq!(begin, at);
                prop_assert_eq!(network.distance(begin, end), 1);
                at = end;
            }
            prop_assert_eq!(at, to);
        }
    }

    #[test]
    fn a_route_has_a_channel_between_each_two_switches(
        network in prop_oneof![
            (2_usize..4, 1_u32..4).prop_map(|(arity, levels)| tree(arity, levels)),
            (4_usize..6, 1_u32..3).prop_map(|(arity, levels)| tree(arity, levels)),
            (1_usize..4, 1_usize..3, 1_usize..3).prop_map(|(a, p, h)| dragonfly(a, p, h)),
        ]
    ) {
        for (from, to) in (0..network.size()).flat_map(|a| (0..network.size()).map(move |b| (a, b))) {
            let channels = route(&network, from, to);
            prop_assert_eq!(channels.len() as u32, network.distance(from, to).saturating_sub(1));
            prop_assert!(channels.iter().all(|&channel| channel < network.channels()));
            let different: BTreeSet<_> = channels.iter().collect();
            prop_assert_eq!(different.len(), channels.len());
        }
    }

    #[test]
    fn permutations_that_are_known_to_share_nothing_share_nothing(
        dimensions in 1_u32..6, arity in 2_usize..5, levels in 1_u32..4, by in 1_usize..1000
    ) {
        // e-cube: two messages that change the same bits are never at one node at the same bit.
        let nodes = 1 << dimensions;
        prop_assert!(disjoint(&cube(dimensions), |rank| rank ^ (by % nodes)));
        // d-mod-k: all shifts of a whole tree are free of contention (Zahavi).
        let nodes = arity.pow(levels);
        prop_assert!(disjoint(&tree(arity, levels), |rank| (rank + by) % nodes));
    }
}

#[test]
fn routes_between_two_groups_meet_at_their_link() {
    // Two routers of two nodes in each of three groups. From group 0 to 1 it is the first router's
    // link, and its other end the first router's of group 1; to group 2 the second one's.
    let network = dragonfly(2, 2, 1);
    let hops = |from, to| network.distance(from, to);
    assert_eq!((network.size(), network.diameter()), (12, 4));
    assert_eq!([1, 2, 4, 6, 8, 10].map(|to| hops(0, to)), [1, 2, 2, 3, 3, 4]);
    assert!(network.shares_channel([0, 6], [1, 4]) && network.shares_channel([2, 4], [0, 5]));
    assert!(!network.shares_channel([0, 4], [0, 8]) && !network.shares_channel([0, 4], [4, 0]));
}

#[test]
fn a_trees_channels_up_are_shared_by_the_destinations_digit() {
    // Two nodes at each of four switches: 0 and 1 leave theirs by the same channel to nodes whose
    // lowest digit is the same, and by different ones otherwise. No other switch's is theirs.
    let network = tree(2, 3);
    let first = |from, to| route(&network, from, to)[0];
    assert_eq!(first(0, 4), first(1, 6));
    assert_ne!(first(0, 4), first(1, 5));
    assert_ne!(first(0, 4), first(2, 4));
    // On the next level these two go apart.
    assert_ne!(route(&network, 0, 4)[1], route(&network, 1, 6)[1]);
    // A tree of one level is a crossbar.
    assert_eq!(tree(8, 1).channels(), 0);
}

/// Every topology of a few dozen nodes.
fn any() -> impl Strategy<Value = Network> {
    prop_oneof![
        linked(),
        (1_usize..40).prop_map(|nodes| hosts(1, nodes)),
        (1_usize..7, 1_usize..7).prop_map(|(h, r)| hosts(h, r)),
        prop_oneof![(2_usize..4, 1_u32..4), (4_usize..7, 1_u32..3)].prop_map(|(a, l)| tree(a, l)),
        (1_usize..4, 1_usize..4, 1_usize..3).prop_map(|(a, p, h)| dragonfly(a, p, h)),
        (2_usize..5, 1_u32..4).prop_map(|(arity, levels)| Network::FatTree {
            arity,
            levels,
            dealt: true
        }),
    ]
}

/// Hops by search over nodes one hop apart: what a distance must be in a network of links.
fn searched(network: &Network, from: Rank) -> Vec<u32> {
    let mut hops = vec![u32::MAX; network.size()];
    hops[from] = 0;
    let mut front = vec![from];
    for further in 1.. {
        let near =
            |&node: &Rank| (0..network.size()).filter(move |to| network.distance(node, *to) == 1);
        front = front.iter().flat_map(near).collect();
        front.retain(|&node| hops[node] == u32::MAX);
        front.iter().for_each(|&node| hops[node] = further);
        if front.is_empty() {
            break;
        }
    }
    hops
}

proptest! {
    #[test]
    fn a_distance_is_a_metric_and_the_diameter_its_maximum(network in any()) {
        let nodes = 0..network.size();
        let mut longest = 0;
        for (a, b) in nodes.clone().flat_map(|a| nodes.clone().map(move |b| (a, b))) {
            let between = network.distance(a, b);
            prop_assert_eq!(between == 0, a == b);
            prop_assert_eq!(between, network.distance(b, a));
            for by_way_of in nodes.clone() {
                let detour = network.distance(a, by_way_of) + network.distance(by_way_of, b);
                prop_assert!(between <= detour, "{} {} {}", a, by_way_of, b);
            }
            longest = longest.max(between);
        }
        prop_assert_eq!(network.diameter(), longest);
    }

    #[test]
    fn distances_are_the_fewest_links(network in linked()) {
        for from in 0..network.size() {
            let hops: Vec<u32> = (0..network.size()).map(|to| network.distance(from, to)).collect();
            prop_assert_eq!(hops, searched(&network, from));
        }
    }

    #[test]
    fn a_pair_stands_for_each_distance_among_some_ranks(network in any(), ranks in 0_usize..50) {
        let pairs = network.pairs_by_distance(ranks);
        prop_assert!(pairs.is_sorted_by(|a, b| a.0 < b.0));
        let ranks = ranks.min(network.size());
        for &(hops, (a, b)) in &pairs {
            prop_assert!(a < b && b < ranks);
            prop_assert_eq!(network.distance(a, b), hops);
        }
        for (a, b) in (0..ranks).flat_map(|b| (0..b).map(move |a| (a, b))) {
            let hops = network.distance(a, b);
            let Some((_, lowest)) = pairs.iter().find(|pair| pair.0 == hops) else {
                return Err(TestCaseError::fail(format!("no pair for {hops} hops")));
            };
            prop_assert!(*lowest <= (a, b));
        }
    }
}

#[test]
fn what_is_no_network_is_none() {
    for none in [
        hosts(1, 0),
        mesh(0, 3),
        mesh(3, 0),
        mesh(usize::MAX, 2),
        torus(0, 3),
        torus(usize::MAX, usize::MAX),
        tree(1, 3),
        tree(2, 0),
        tree(2, 64),
        cube(64),
        dragonfly(1, 1, 0),
    ] {
        assert_eq!(none.checked(), None, "{none:?}");
    }
}

#[test]
fn ranks_are_dealt_over_whole_groups_of_hosts() {
    let dealt = |hosts| Network::Hosts { hosts, ranks_per_host: 2, dealt: true }.checked();
    let of = dealt(4).unwrap();
    let distances: Vec<u32> = (0..5).map(|node| of.distance(0, node)).collect();
    assert_eq!((distances, dealt(3)), (vec![0, 2, 1, 2, 2], None));
}
