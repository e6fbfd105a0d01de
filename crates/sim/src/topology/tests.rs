use proptest::prelude::*;

use super::*;

/// Every topology of a few dozen nodes.
fn any() -> impl Strategy<Value = Box<dyn Topology>> {
    prop_oneof![
        (1_usize..40).prop_map(|nodes| Box::new(Crossbar::new(nodes).unwrap()) as Box<_>),
        (0_u32..7).prop_map(|d| Box::new(Hypercube::new(d).unwrap()) as Box<_>),
        (1_usize..8, 1_usize..8).prop_map(|(r, c)| Box::new(Grid::mesh(r, c).unwrap()) as Box<_>),
        (1_usize..8, 1_usize..8).prop_map(|(r, c)| Box::new(Grid::torus(r, c).unwrap()) as Box<_>),
        prop_oneof![(2_usize..4, 1_u32..4), (4_usize..7, 1_u32..3)]
            .prop_map(|(a, l)| Box::new(FatTree::new(a, l).unwrap()) as Box<_>),
        (1_usize..7, 1_usize..7).prop_map(|(h, r)| Box::new(Hosts::new(h, r).unwrap()) as Box<_>),
        (1_usize..4, 1_usize..4, 1_usize..3)
            .prop_map(|(a, p, h)| Box::new(Dragonfly::new(a, p, h).unwrap()) as Box<_>),
        (2_usize..5, 1_u32..4)
            .prop_map(|(a, l)| Box::new(FatTree::new(a, l).unwrap().dealt()) as Box<_>),
    ]
}

/// Hops by search over nodes one hop apart: what a distance must be in a network of links.
fn searched(network: &dyn Topology, from: Rank) -> Vec<u32> {
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
    fn distances_are_the_fewest_links(
        network in prop_oneof![
            (0_u32..7).prop_map(|d| Box::new(Hypercube::new(d).unwrap()) as Box<dyn Topology>),
            (1_usize..8, 1_usize..8).prop_map(|(r, c)| Box::new(Grid::mesh(r, c).unwrap()) as Box<_>),
            (1_usize..8, 1_usize..8).prop_map(|(r, c)| Box::new(Grid::torus(r, c).unwrap()) as Box<_>),
        ]
    ) {
        for from in 0..network.size() {
            let hops: Vec<u32> = (0..network.size()).map(|to| network.distance(from, to)).collect();
            prop_assert_eq!(hops, searched(&*network, from));
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
    assert_eq!(Crossbar::new(0), None);
    assert_eq!([Grid::mesh(0, 3), Grid::mesh(3, 0), Grid::mesh(usize::MAX, 2)], [None; 3]);
    assert_eq!([Grid::torus(0, 3), Grid::torus(usize::MAX, usize::MAX)], [None; 2]);
    assert_eq!([FatTree::new(1, 3), FatTree::new(2, 0), FatTree::new(2, 64)], [None; 3]);
    assert_eq!(Hypercube::new(64), None);
}
