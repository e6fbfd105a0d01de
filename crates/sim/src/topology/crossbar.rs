//! All nodes at one switch.

use super::Topology;
use bandgap_comm::Rank;

/// Every node is one hop from every other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossbar {
    nodes: usize,
}

impl Crossbar {
    /// One of so many nodes; `None` without any.
    pub fn new(nodes: usize) -> Option<Self> {
        (nodes > 0).then_some(Self { nodes })
    }
}

impl Topology for Crossbar {
    fn size(&self) -> usize {
        self.nodes
    }

    fn distance(&self, a: Rank, b: Rank) -> u32 {
        u32::from(a != b)
    }

    fn diameter(&self) -> u32 {
        u32::from(self.nodes > 1)
    }
}
