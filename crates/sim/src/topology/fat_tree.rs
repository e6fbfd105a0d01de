//! Nodes as leaves of a tree of switches.

use super::Topology;
use bandgap_comm::Rank;

/// A fat tree: aˡ nodes for an arity of a and l levels. Each switch of the lowest level joins a
/// nodes, and each further level joins a trees of the level below.
///
/// A hop is a switch on the way. Two nodes whose lowest common switch is on level j, counted from 1,
/// are 2j − 1 hops apart: up through j switches and down through j − 1. So there are odd distances
/// only, and a tree of one level is a crossbar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FatTree {
    arity: usize,
    levels: u32,
    dealt: bool,
}

impl FatTree {
    /// One of this arity and so many levels; `None` with an arity below 2, without levels, or with
    /// too many nodes to count.
    pub fn new(arity: usize, levels: u32) -> Option<Self> {
        arity.checked_pow(levels)?;
        (arity > 1 && levels > 0).then_some(Self { arity, levels, dealt: false })
    }

    /// The same, its nodes numbered as cards are dealt: to the lowest switches below a switch in turn, as batch
    /// systems place ranks cyclically.
    pub fn dealt(self) -> Self {
        Self { dealt: true, ..self }
    }

    /// The place of a node among the leaves, or the node at a place.
    pub(crate) fn leaf(&self, node: Rank) -> Rank {
        let below = self.arity * self.arity;
        match self.dealt && self.levels > 1 {
            true => {
                node - node % below + node % self.arity * self.arity + node % below / self.arity
            }
            false => node,
        }
    }

    /// a: how many nodes or switches a switch has below it.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// l: how many switches there are from a node to the top.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// The level of the lowest switch above both, from 1; 0 from a node to itself.
    pub fn common_level(&self, a: Rank, b: Rank) -> u32 {
        let (mut a, mut b) = (self.leaf(a), self.leaf(b));
        let mut level = 0;
        while a != b {
            (a, b) = (a / self.arity, b / self.arity);
            level += 1;
        }
        level
    }
}

impl Topology for FatTree {
    fn size(&self) -> usize {
        self.arity.pow(self.levels)
    }

    fn distance(&self, a: Rank, b: Rank) -> u32 {
        (2 * self.common_level(a, b)).saturating_sub(1)
    }

    fn diameter(&self) -> u32 {
        2 * self.levels - 1
    }
}
