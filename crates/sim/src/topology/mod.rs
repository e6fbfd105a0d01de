//! Networks as graphs: how many hops there are between two nodes, and which nodes are near.
//!
//! Rank r is on node r. A program may use fewer ranks than there are nodes.

mod crossbar;
mod dragonfly;
mod fat_tree;
mod grid;
mod hosts;
mod hypercube;
mod mesh;
#[cfg(test)]
mod tests;
mod torus;

use std::collections::BTreeMap;
use std::fmt;

pub use crossbar::Crossbar;
pub use dragonfly::Dragonfly;
pub use fat_tree::FatTree;
pub use hosts::Hosts;
pub use hypercube::Hypercube;
pub use mesh::Mesh;
pub use torus::Torus;

use bandgap_comm::Rank;

/// The nodes of a network and the hops between them.
///
/// A distance is a metric: 0 only from a node to itself, the same both ways, and never longer than
/// by way of a third node. Nodes are numbered from 0; of numbers from [`Topology::size`] on nothing
/// is said.
pub trait Topology: fmt::Debug {
    /// Number of nodes, at least 1.
    fn size(&self) -> usize;

    /// Hops from `a` to `b`; 0 from a node to itself.
    fn distance(&self, a: Rank, b: Rank) -> u32;

    /// The longest distance between two nodes.
    fn diameter(&self) -> u32;

    /// The nodes at distance 1, ascending.
    fn neighbours(&self, node: Rank) -> Vec<Rank> {
        (0..self.size()).filter(|&other| self.distance(node, other) == 1).collect()
    }

    /// A node so many hops away from `node`, the lowest unless the network says otherwise; `None`
    /// if there is none.
    ///
    /// *Source*: `get_hop_node` of Ganapati, "CoMet: A Synthetic Benchmark for Message-Passing
    /// Architectures", 1993, section 3.4.1.
    fn at_distance(&self, node: Rank, hops: u32) -> Option<Rank> {
        (0..self.size()).find(|&other| self.distance(node, other) == hops)
    }

    /// For each distance that there is between two of the first `ranks` nodes, the pair with the
    /// lowest numbers; the shortest distance first.
    fn pairs_by_distance(&self, ranks: usize) -> Vec<(u32, (Rank, Rank))> {
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
}
