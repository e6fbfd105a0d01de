//! Networks as graphs: how many hops there are between two nodes,.
//!
//! Rank r is on node r. A program may use fewer ranks than there are nodes.

mod crossbar;
mod dragonfly;
mod fat_tree;
mod grid;
mod hosts;
mod hypercube;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

pub use crossbar::Crossbar;
pub use dragonfly::Dragonfly;
pub use fat_tree::FatTree;
pub use grid::Grid;
pub use hosts::Hosts;
pub use hypercube::Hypercube;

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
