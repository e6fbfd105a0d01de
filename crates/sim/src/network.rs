//! Networks: distances between nodes, and the channels that messages take.
//!
//! Rank r is on node r. A program may use fewer ranks than there are nodes.

mod route;

use std::collections::BTreeMap;

use bandgap_comm::Rank;

/// The network of a machine.
///
/// A distance is a metric: 0 only from a node to itself, the same in both directions, and never
/// longer than via a third node. Nodes are numbered from 0; numbers from [`Network::size`] on are
/// not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Hosts with equal numbers of nodes, numbered host by host. A node is one hop from the others
    /// of its host, and two hops from those of other hosts. Ranks share no channels: messages
    /// contend only at their ends, as LogP assumes. A single host is a crossbar.
    Hosts {
        /// Number of hosts.
        hosts: usize,
        /// Nodes of each host.
        ranks_per_host: usize,
        /// Whether nodes are numbered over the hosts in turn, within as many hosts as one has nodes.
        dealt: bool,
    },
    /// 2ᵈ nodes, each with d neighbours: a hop changes one bit of a node's number. Routes change
    /// the bits from the lowest to the highest (e-cube).
    ///
    /// *Source*: Nugent, "The iPSC/2 direct-connect technology", 1988.
    Hypercube {
        /// Number of dimensions (d).
        dimensions: u32,
    },
    /// Nodes in rows and columns, numbered row by row. Each has a neighbour above, below, left and
    /// right, except at the edges of a mesh; rows and columns of a torus are rings.
    ///
    /// Routes go along the row, then along the column (dimension order). In a torus each ring is
    /// taken the shorter way; if both are equal, in ascending order.
    Grid {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
        /// Whether rows and columns are rings.
        is_torus: bool,
    },
    /// A fat tree with aˡ nodes, for arity a and l levels. Each switch of the lowest level joins a
    /// nodes, and each further level joins a trees of the level below.
    ///
    /// A hop is a switch on the way. Two nodes whose lowest common switch is on level j, counted
    /// from 1, are 2j − 1 hops apart: up through j switches and down through j − 1. So all
    /// distances are odd, and a tree of one level is a crossbar.
    ///
    /// A switch has equally many channels up and down. Routes go up to the lowest common switch,
    /// and down. The destination selects the channel up: on level j by digit j of its number in
    /// base a (d-mod-k).
    ///
    /// *Source*: Zahavi, "Fat-trees routing and node ordering providing contention free traffic for
    /// MPI global collectives", 2011.
    FatTree {
        /// Arity (a), at least 2.
        arity: usize,
        /// Levels (l), at least 1.
        levels: u32,
        /// Whether nodes are dealt in turn to the lowest switches below a switch, as batch systems
        /// place ranks cyclically, instead of block by block.
        dealt: bool,
    },
    /// A dragonfly: groups of a routers, each of which has p nodes and h links to other groups.
    /// There are a·h + 1 groups, so that any two are joined by one link; the routers of a group are
    /// all joined to each other. Routes are shortest (minimal routing).
    ///
    /// A hop is a router on the way: the common router of both nodes, or their two routers and up
    /// to two at the ends of the link between their groups. A group's links lead to the other
    /// groups in ascending order, the first h from the first router.
    ///
    /// *Source*: Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly topology",
    /// 2008.
    Dragonfly {
        /// Routers of a group (a).
        routers: usize,
        /// Nodes of a router (p).
        nodes: usize,
        /// Links of a router to other groups (h).
        links: usize,
    },
}

impl Network {
    /// The network, unless it has no nodes, or too many to count.
    pub fn checked(self) -> Option<Self> {
        self.checked_size().filter(|size| *size > 0).map(|_| self)
    }

    /// Number of nodes. The network must have been checked.
    pub fn size(&self) -> usize {
        self.checked_size().expect("checked")
    }

    fn checked_size(&self) -> Option<usize> {
        match *self {
            // Ranks are dealt over so many hosts at a time.
            Self::Hosts { hosts, ranks_per_host: each, dealt } => {
                let is_whole = !dealt || hosts.is_multiple_of(each);
                hosts.checked_mul(each).filter(|_| is_whole)
            }
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

    /// Number of hops between two nodes.
    pub fn distance(&self, a: Rank, b: Rank) -> u32 {
        match *self {
            Self::Hosts { ranks_per_host, dealt, .. } => {
                let host = |node| route::leaf(node, ranks_per_host, dealt) / ranks_per_host;
                u32::from(a != b) + u32::from(host(a) != host(b))
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

    /// Longest distance between two nodes.
    pub fn diameter(&self) -> u32 {
        match *self {
            Self::Hosts { hosts: 1, ranks_per_host, .. } => u32::from(ranks_per_host > 1),
            Self::Hosts { .. } => 2,
            Self::Hypercube { dimensions } => dimensions,
            Self::Grid { rows, columns, is_torus: true } => (rows / 2 + columns / 2) as u32,
            Self::Grid { rows, columns, .. } => (rows + columns - 2) as u32,
            Self::FatTree { levels, .. } => 2 * levels - 1,
            Self::Dragonfly { routers: 1, .. } => 2,
            Self::Dragonfly { .. } => 4,
        }
    }

    /// For each distance that occurs between two of the first `ranks` nodes, the pair with the
    /// lowest numbers, in ascending order of distance.
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

    /// Number of hops between two ranks beyond the first.
    pub(crate) fn further_hops(&self, from: u32, to: u32) -> u64 {
        match self {
            Self::Hosts { hosts: 1, .. } => 0,
            _ => self.distance(from as usize, to as usize).saturating_sub(1).into(),
        }
    }

    /// Whether messages of different pairs of ranks can share channels.
    pub fn is_shared(&self) -> bool {
        !matches!(self, Self::Hosts { .. })
    }

    /// Whether messages from `a` to `b` and from `c` to `d` share a channel.
    pub fn shares_channel(&self, [a, b]: [u32; 2], [c, d]: [u32; 2]) -> bool {
        let (mut one, mut shared) = (Vec::new(), false);
        self.route(a, b, |channel| one.push(channel));
        self.route(c, d, |channel| shared |= one.contains(&channel));
        shared
    }
}

#[cfg(test)]
mod tests;
