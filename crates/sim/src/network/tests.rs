use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn cube(dimensions: u32) -> Network {
    Network::Hypercube(Hypercube::new(dimensions).unwrap())
}

fn torus(rows: usize, columns: usize) -> Network {
    Network::Grid(Grid::torus(rows, columns).unwrap())
}

fn mesh(rows: usize, columns: usize) -> Network {
    Network::Grid(Grid::mesh(rows, columns).unwrap())
}

fn tree(arity: usize, levels: u32) -> Network {
    Network::FatTree(FatTree::new(arity, levels).unwrap())
}

fn route(network: &Network, from: usize, to: usize) -> Vec<usize> {
    let mut channels = Vec::new();
    network.route(from as u32, to as u32, |channel| channels.push(channel));
    channels
}

/// Where a channel of a network of links begins and ends.
fn ends(network: &Network, channel: usize) -> (usize, usize) {
    let [rows, columns] = match network {
        Network::Hypercube(cube) => {
            let (node, bit) =
                (channel / cube.dimensions() as usize, channel % cube.dimensions() as usize);
            return (node, node ^ 1 << bit);
        }
        Network::Grid(grid) => grid.sides(),
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
    let mut ranks = 0..network.topology().size();
    ranks.all(|rank| route(network, rank, to(rank)).into_iter().all(|channel| used.insert(channel)))
}

proptest! {
    #[test]
    fn a_route_leads_over_neighbours_by_the_fewest_hops(network in linked()) {
        let topology = network.topology();
        for (from, to) in (0..topology.size()).flat_map(|a| (0..topology.size()).map(move |b| (a, b))) {
            let channels = route(&network, from, to);
            prop_assert_eq!(channels.len() as u32, topology.distance(from, to));
            let mut at = from;
            for channel in channels {
                prop_assert!(channel < network.channels());
                let (begin, end) = ends(&network, channel);
                prop_assert_eq!(begin, at);
                prop_assert_eq!(topology.distance(begin, end), 1);
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
            (1_usize..4, 1_usize..3, 1_usize..3).prop_map(|(a, p, h)| {
                Network::Dragonfly(Dragonfly::new(a, p, h).unwrap())
            }),
        ]
    ) {
        let topology = network.topology();
        for (from, to) in (0..topology.size()).flat_map(|a| (0..topology.size()).map(move |b| (a, b))) {
            let channels = route(&network, from, to);
            prop_assert_eq!(channels.len() as u32, topology.distance(from, to).saturating_sub(1));
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
    let network = Network::Dragonfly(Dragonfly::new(2, 2, 1).unwrap());
    let hops = |from, to| network.topology().distance(from, to);
    assert_eq!((network.topology().size(), network.topology().diameter()), (12, 4));
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
