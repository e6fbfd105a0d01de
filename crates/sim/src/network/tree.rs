//! Routes in a fat tree: up by the digits of the destination, and down.
//!
//! Channels are those between switches. Those between a node and its switch are used by that node
//! only, and are part of its interface.
//!
//! Above the switches of level j there are as many channels up, and as many down, as there are
//! nodes. From `a` to `b` a message leaves level j by the channel whose lowest j digits are those of
//! `b`, and whose others are those of `a`: the latter name the tree that it leaves, the former the
//! switches and channels that it has chosen so far. It comes back to level j by the channel whose
//! digits are all those of `b`.

use crate::topology::{FatTree, Topology};

/// One up and one down for each node, above each level but the highest.
pub(super) fn channels(tree: &FatTree) -> usize {
    2 * tree.size() * (tree.levels() as usize - 1)
}

pub(super) fn route(tree: &FatTree, from: usize, to: usize, mut tell: impl FnMut(usize)) {
    let (nodes, top) = (tree.size(), tree.common_level(from, to) as usize);
    let (from, to) = (tree.leaf(from), tree.leaf(to));
    let mut below = 1;
    for level in 1..top {
        below *= tree.arity();
        tell(2 * nodes * (level - 1) + from - from % below + to % below);
    }
    for level in (1..top).rev() {
        tell(2 * nodes * (level - 1) + nodes + to);
    }
}
