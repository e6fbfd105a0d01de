//! Nodes whose numbers differ in one bit are neighbours.

use super::Topology;
use bandgap_comm::Rank;

/// A hypercube of 2ᵈ nodes, each with d neighbours: a hop changes one bit of a node's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hypercube {
    dimensions: u32,
}

impl Hypercube {
    /// One of so many dimensions; `None` if its nodes cannot be counted.
    pub fn new(dimensions: u32) -> Option<Self> {
        (dimensions < usize::BITS).then_some(Self { dimensions })
    }

    /// d: the number of bits of a node's number.
    pub fn dimensions(&self) -> u32 {
        self.dimensions
    }
}

impl Topology for Hypercube {
    fn size(&self) -> usize {
        1 << self.dimensions
    }

    fn distance(&self, a: Rank, b: Rank) -> u32 {
        (a ^ b).count_ones()
    }

    fn diameter(&self) -> u32 {
        self.dimensions
    }
}
