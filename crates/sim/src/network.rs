//! Networks: how many hops there are between two nodes, and the channels that messages take.
//!
//! Rank r is on node r. A program may use fewer ranks than there are nodes.

mod route;

use std::collections::BTreeMap;

use bandgap_comm::Rank;

/// The network of a machine.
///
/// A distance is a metric: 0 only from a node to itself, the same both ways, and never longer than
/// by way of a third node. Nodes are numbered from 0; of numbers from [`Network::size`] on nothing
/// is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Hosts of equally many nodes, numbered host by host. A node is one hop from the others of its
    /// host, and two from those of other hosts. Ranks share their ways with nobody: messages contend
    /// at their ends only, as LogP assumes. A single host is a crossbar.
    Hosts {
        /// How many hosts.
        hosts: usize,
        /// The nodes of each.
        ranks_per_host: usize,
    },
    /// 2ᵈ nodes, each with d neighbours: a hop changes one bit of a node's number. Routes change the
    /// bits from the lowest to the highest (e-cube).
    ///
    /// *Source*: Nugent, "The iPSC/2 direct-connect technology", 1988.
    Hypercube {
        /// d.
        dimensions: u32,
    },
    /// Nodes in rows and columns, numbered row by row. Each has a neighbour above, below, left and
    /// right: in a mesh except at the edges, while rows and columns of a torus are rings.
    ///
    /// Routes go along the row, then along the column (dimension order); in a torus each ring the
    /// shorter way, and of two equal ways that of ascending numbers.
    Grid {
        /// How many rows.
        rows: usize,
        /// How many columns.
        columns: usize,
        /// Whether rows and columns are rings.
        is_torus: bool,
    },
    /// A fat tree: aˡ nodes for an arity of a and l levels. Each switch of the lowest level joins a
    /// nodes, and each further level joins a trees of the level below.
    ///
    /// A hop is a switch on the way. Two nodes whose lowest common switch is on level j, counted from
    /// 1, are 2j − 1 hops apart: up through j switches and down through j − 1. So there are odd
    /// distances only, and a tree of one level is a crossbar.
    ///
    /// A switch has as many channels up as down. Routes go up to the lowest common switch, and down.
    /// The channel up is chosen by the destination: on level j by digit j of its number to the base
    /// of the arity (d-mod-k).
    ///
    /// *Source*: Zahavi, "Fat-trees routing and node ordering providing contention free traffic for
    /// MPI global collectives", 2011.
    FatTree {
        /// a, at least 2.
        arity: usize,
        /// l, at least 1.
        levels: u32,
        /// Whether nodes are numbered as cards are dealt: to the lowest switches below a switch in
        /// turn, as batch systems place ranks cyclically.
        dealt: bool,
    },
    /// A dragonfly: groups of a routers, of which each has p nodes and h links to other groups. There
    /// are a·h + 1 groups, so that any two are joined by one link; the routers of a group are all
    /// joined. Routes are the shortest (minimal routing).
    ///
    /// A hop is a router on the way: that of both nodes, or theirs and up to two at the ends of the
    /// link between their groups. The links of a group lead to the others in the order of their
    /// numbers, the first h from the first router.
    ///
    /// *Source*: Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly topology",
    /// 2008.
    Dragonfly {
        /// a.
        routers: usize,
        /// p.
        nodes: usize,
        /// h.
        links: usize,
    },
}

impl Network {
    /// The same, unless it has no nodes, or too many to count.
    pub fn checked(self) -> Option<Self> {
        self.checked_size().filter(|size| *size > 0).map(|_| self)
    }

    /// Number of nodes of a network that was checked.
    pub fn size(&self) -> usize {
        self.checked_size().expect("checked")
    }

    fn checked_size(&self) -> Option<usize> {
        match *self {
            Self::Hosts { hosts, ranks_per_host } => hosts.checked_mul(ranks_per_host),
            Self::Hypercube { dimensions } => 1_usize.checked_shl(dimensions),
            Self::Grid { rows, columns, .. } => rows.checked_mul(columns),
            Self::FatTree { arity: 0 | 1, .. } | Self::FatTree { levels: 0, .. } => None,
            Self::FatTree { arity, levels, .. } => arity.checked_pow(levels),
            Self::Dragonfly { links: 0, .. } => None,
            Self::Dragonfly { routers, nodes, links } => {
                let groups = routers.checked_mul(links)?.checked_add(1)?;
                groups.checked_mul(routers)?.checked_mul(nodes)
            }
        }
    }

    /// Hops between two nodes.
    pub fn distance(&self, a: Rank, b: Rank) -> u32 {
        match *self {
            Self::Hosts { ranks_per_host, .. } => {
                u32::from(a != b) + u32::from(a / ranks_per_host != b / ranks_per_host)
            }
            Self::Hypercube { .. } => (a ^ b).count_ones(),
            Self::Grid { rows, columns, is_torus } => {
                let between = |length: usize, a: usize, b: usize| {
                    let straight = a.abs_diff(b);
                    if is_torus { straight.min(length - straight) } else { straight }
                };
                let along_column = between(rows, a / columns, b / columns);
                (along_column + between(columns, a % columns, b % columns)) as u32
            }
            Self::FatTree { arity, levels, dealt } => {
                let [a, b] = [a, b].map(|node| route::leaf(node, arity, dealt && levels > 1));
                (2 * route::common_level(a, b, arity)).saturating_sub(1)
            }
            Self::Dragonfly { routers, nodes, links } => {
                let place = |node| route::place(node, nodes, routers);
                let ((group, router), (other_group, other)) = (place(a), place(b));
                if group == other_group {
                    return u32::from(a != b) + u32::from(router != other);
                }
                let (_, out) = route::link(group, other_group, links);
                let (_, into) = route::link(other_group, group, links);
                2 + u32::from(router != out) + u32::from(other != into)
            }
        }
    }

    /// The longest distance.
    pub fn diameter(&self) -> u32 {
        match *self {
            Self::Hosts { hosts: 1, ranks_per_host } => u32::from(ranks_per_host > 1),
            Self::Hosts { .. } => 2,
            Self::Hypercube { dimensions } => dimensions,
            Self::Grid { rows, columns, is_torus: true } => (rows / 2 + columns / 2) as u32,
            Self::Grid { rows, columns, .. } => (rows + columns - 2) as u32,
            Self::FatTree { levels, .. } => 2 * levels - 1,
            Self::Dragonfly { routers: 1, .. } => 2,
            Self::Dragonfly { .. } => 4,
        }
    }

    /// For each distance that there is between two of the first `ranks` nodes, the pair with the
    /// lowest numbers; the shortest distance first.
    pub fn pairs_by_distance(&self, ranks: usize) -> Vec<(u32, (Rank, Rank))> {
        let (ranks, most) = (ranks.min(self.size()), self.diameter() as usize);
        let mut pairs = BTreeMap::new();
        for (a, b) in (0..ranks).flat_map(|a| (a + 1..ranks).map(move |b| (a, b))) {
            pairs.entry(self.distance(a, b)).or_insert((a, b));
            if pairs.len() == most {
                break;
            }
        }
        pairs.into_iter().collect()
    }

    /// The hops from one rank to another beyond the first.
    pub(crate) fn further_hops(&self, from: u32, to: u32) -> u64 {
        match self {
            Self::Hosts { hosts: 1, .. } => 0,
            _ => self.distance(from as usize, to as usize).saturating_sub(1).into(),
        }
    }

    /// Whether messages between different ranks share channels.
    pub(crate) fn is_shared(&self) -> bool {
        !matches!(self, Self::Hosts { .. })
    }

    /// Whether messages from `a` to `b`, and from `c` to `d`, take a channel in common.
    pub fn shares_channel(&self, [a, b]: [u32; 2], [c, d]: [u32; 2]) -> bool {
        let (mut one, mut shared) = (Vec::new(), false);
        self.route(a, b, |channel| one.push(channel));
        self.route(c, d, |channel| shared |= one.contains(&channel));
        shared
    }
}

#[cfg(test)]
mod tests;
