//! The ranks of a host as a network, whose hops are the levels of its topology.

use bandgap_comm::{Rank, topology};

use super::{Distance, Topology};

/// Ranks on the processors of a host.
///
/// A hop is a level: two ranks of one core are 1 hop apart, of cores that share a data cache 2, of
/// one memory node 3, of one package 4, and of one host 5. So there may be no ranks at a distance
/// below the longest one, and no neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLevels {
    ranks: usize,
    /// Hops from each rank to each, row by row.
    hops: Vec<u8>,
}

impl Distance {
    /// The level that joins two ranks at this distance, from 1.
    fn level(self) -> u8 {
        match self {
            Self::SameCpu | Self::SmtSibling => 1,
            Self::SharedCache { .. } => 2,
            Self::SameNode => 3,
            Self::SamePackage => 4,
            Self::SameHost => 5,
        }
    }
}

impl Topology {
    /// The network of ranks of which rank r runs on `cpus[r]`; `None` without ranks, or if one of
    /// the processors is not online.
    pub fn levels(&self, cpus: &[usize]) -> Option<HostLevels> {
        let ranks = cpus.len();
        let mut hops = Vec::with_capacity(ranks * ranks);
        for (a, &from) in cpus.iter().enumerate() {
            for (b, &to) in cpus.iter().enumerate() {
                let level = self.distance(from, to)?.level();
                hops.push(if a == b { 0 } else { level });
            }
        }
        (ranks > 0).then_some(HostLevels { ranks, hops })
    }
}

impl topology::Topology for HostLevels {
    fn size(&self) -> usize {
        self.ranks
    }

    fn distance(&self, a: Rank, b: Rank) -> u32 {
        self.hops[a * self.ranks + b].into()
    }

    fn diameter(&self) -> u32 {
        self.hops.iter().copied().max().unwrap_or(0).into()
    }
}

#[cfg(test)]
mod tests {
    use bandgap_comm::topology::Topology as _;
    use proptest::prelude::*;

    use crate::topology::tests::two_packages;

    #[test]
    fn a_hop_is_a_level_of_the_host() {
        // Threads of core 0 (one twice), the core that shares its cache, one of its node, one of
        // its package, one of the other.
        let host = two_packages(&[]).levels(&[0, 16, 1, 2, 4, 8, 0]).unwrap();
        let hops: Vec<u32> = (0..7).map(|rank| host.distance(0, rank)).collect();
        assert_eq!(hops, [0, 1, 2, 3, 4, 5, 1]);
        assert_eq!((host.size(), host.diameter()), (7, 5));
        assert_eq!(host.neighbours(0), [1, 6]);
        assert_eq!([1, 2, 5, 6].map(|hops| host.at_distance(5, hops)), [None, None, Some(0), None]);
        assert_eq!(
            host.pairs_by_distance(6),
            [(1, (0, 1)), (2, (0, 2)), (3, (0, 3)), (4, (0, 4)), (5, (0, 5))]
        );
    }

    #[test]
    fn ranks_without_a_processor_are_no_network() {
        assert_eq!(two_packages(&[]).levels(&[0, 32]), None);
        assert_eq!(two_packages(&[]).levels(&[]), None);
        assert_eq!(two_packages(&[]).levels(&[3]).unwrap().diameter(), 0);
    }

    proptest! {
        #[test]
        fn levels_are_a_metric(cpus in proptest::collection::vec(0_usize..32, 1..12)) {
            let host = two_packages(&[]).levels(&cpus).unwrap();
            let ranks = 0..cpus.len();
            for (a, b) in ranks.clone().flat_map(|a| ranks.clone().map(move |b| (a, b))) {
                let hops = host.distance(a, b);
                prop_assert_eq!(hops == 0, a == b);
                prop_assert_eq!(hops, host.distance(b, a));
                prop_assert!(hops <= host.diameter());
                for way in ranks.clone() {
                    prop_assert!(hops <= host.distance(a, way) + host.distance(way, b));
                }
                prop_assert_eq!(host.neighbours(a).contains(&b), hops == 1);
                let there = host.at_distance(a, hops).unwrap();
                prop_assert_eq!(host.distance(a, there), hops);
            }
        }
    }
}
