//! How the processors of a machine are connected, and which channels a message takes.
//!
//! A channel carries messages one way; a link is two channels.

mod cube;
mod dragonfly;
mod grid;
#[cfg(test)]
mod tests;
mod tree;

use crate::topology::{Crossbar, Dragonfly, FatTree, Grid, Hosts, Hypercube, Topology};

/// The network of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Network {
    /// The same way between any two ranks, which they share with nobody: messages contend at their
    /// ends only, as LogP assumes.
    Crossbar(Crossbar),
    /// As the crossbar, and between two hosts one hop more.
    Hosts(Hosts),
    /// Routes change the bits of a node's number from the lowest to the highest (e-cube).
    ///
    /// *Source*: Nugent, "The iPSC/2 direct-connect technology", 1988.
    Hypercube(Hypercube),
    /// Routes go along the row, then along the column (dimension order); in a torus each ring the shorter way, and of two
    /// equal ways that of ascending numbers.
    Grid(Grid),
    /// A switch has as many channels up as down. Routes go up to the lowest common switch, and down.
    /// The channel up is chosen by the destination: on level j by digit j of its number to the base
    /// of the arity (d-mod-k).
    ///
    /// *Source*: Zahavi, "Fat-trees routing and node ordering providing contention free traffic for
    /// MPI global collectives", 2011.
    FatTree(FatTree),
    /// Routes are the shortest (minimal routing).
    Dragonfly(Dragonfly),
}

impl Network {
    /// Its nodes, and the hops between them.
    pub fn topology(&self) -> &dyn Topology {
        match self {
            Self::Crossbar(network) => network,
            Self::Hypercube(network) => network,
            Self::Grid(network) => network,
            Self::FatTree(network) => network,
            Self::Hosts(network) => network,
            Self::Dragonfly(network) => network,
        }
    }

    /// The hops from one rank to another beyond the first.
    pub(crate) fn further_hops(&self, from: u32, to: u32) -> u64 {
        if !self.has_distances() {
            return 0;
        }
        let hops = self.topology().distance(from as usize, to as usize);
        hops.saturating_sub(1).into()
    }

    /// Whether some ranks are more than one hop apart.
    pub(crate) fn has_distances(&self) -> bool {
        !matches!(self, Self::Crossbar(_))
    }

    /// Whether messages between different ranks share channels.
    pub(crate) fn is_shared(&self) -> bool {
        !matches!(self, Self::Crossbar(_) | Self::Hosts(_))
    }

    /// Whether messages from `a` to `b`, and from `c` to `d`, take a channel in common.
    pub fn shares_channel(&self, [a, b]: [u32; 2], [c, d]: [u32; 2]) -> bool {
        let (mut one, mut shared) = (Vec::new(), false);
        self.route(a, b, |channel| one.push(channel));
        self.route(c, d, |channel| shared |= one.contains(&channel));
        shared
    }

    /// Number of channels.
    pub(crate) fn channels(&self) -> usize {
        match self {
            Self::Crossbar(_) | Self::Hosts(_) => 0,
            Self::Hypercube(cube) => cube::channels(cube),
            Self::Grid(grid) => grid::channels(grid),
            Self::FatTree(tree) => tree::channels(tree),
            Self::Dragonfly(network) => dragonfly::channels(network),
        }
    }

    /// Tells the channels from one rank to another, in the order of the way.
    pub(crate) fn route(&self, from: u32, to: u32, tell: impl FnMut(usize)) {
        let (from, to) = (from as usize, to as usize);
        match self {
            Self::Crossbar(_) | Self::Hosts(_) => {}
            Self::Hypercube(cube) => cube::route(cube, from, to, tell),
            Self::Grid(grid) => grid::route(grid, from, to, tell),
            Self::FatTree(tree) => tree::route(tree, from, to, tell),
            Self::Dragonfly(network) => dragonfly::route(network, from, to, tell),
        }
    }
}
