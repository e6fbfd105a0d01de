//! Channels of networks, and routes over them.

use super::Network;

/// Channels that leave a node of a grid: to the next and the previous column, and to the next and
/// the previous row.
const DIRECTIONS: usize = 4;

impl Network {
    /// Number of channels.
    ///
    /// With switches or routers, only the channels between them count: the channel between a node
    /// and its switch is used by that node only, and is part of its interface.
    pub(crate) fn channels(&self) -> usize {
        match *self {
            Self::Hosts { .. } => 0,
            Self::Hypercube { dimensions } => self.size() * dimensions as usize,
            Self::Grid { .. } => self.size() * DIRECTIONS,
            // One up and one down for each node, above each level except the highest.
            Self::FatTree { levels, .. } => 2 * self.size() * (levels as usize - 1),
            // From each router to each router of its group, and the links of each group.
            Self::Dragonfly { routers, links, .. } => {
                (routers * links + 1) * (routers.pow(2) + routers * links)
            }
        }
    }

    /// Calls `tell` with each channel from one rank to another, in order.
    pub(crate) fn route(&self, from: u32, to: u32, tell: impl FnMut(usize)) {
        let (from, to) = (from as usize, to as usize);
        match *self {
            Self::Hosts { .. } => {}
            Self::Hypercube { dimensions } => cube(dimensions, from, to, tell),
            Self::Grid { rows, columns, is_torus } => {
                grid([rows, columns], is_torus, from, to, tell)
            }
            Self::FatTree { arity, levels, dealt } => {
                let [from, to] = [from, to].map(|node| leaf(node, arity, dealt && levels > 1));
                tree(arity, self.size(), from, to, tell);
            }
            Self::Dragonfly { routers, nodes, links } => {
                let [from, to] = [from, to].map(|node| place(node, nodes, routers));
                dragonfly(routers, links, from, to, tell);
            }
        }
    }
}

/// Changes bit by bit, the lowest first. Each node has a channel for each bit.
fn cube(dimensions: u32, from: usize, to: usize, mut tell: impl FnMut(usize)) {
    let mut node = from;
    while node != to {
        let bit = (node ^ to).trailing_zeros();
        tell(node * dimensions as usize + bit as usize);
        node ^= 1 << bit;
    }
}

/// Goes along the row, then along the column.
fn grid(
    [rows, columns]: [usize; 2],
    is_torus: bool,
    from: usize,
    to: usize,
    mut tell: impl FnMut(usize),
) {
    let (mut row, mut column) = (from / columns, from % columns);
    let (last_row, last_column) = (to / columns, to % columns);
    // In a torus the shorter way, which stays the same along a row or a column.
    let ascends = |length: usize, at: usize, goal: usize| {
        let up = (goal + length - at) % length;
        if is_torus { up <= length - up } else { at < goal }
    };
    let along_row = ascends(columns, column, last_column);
    let along_column = ascends(rows, row, last_row);
    let step = |length: usize, at: usize, ascends: bool| match ascends {
        true => (if at + 1 == length { 0 } else { at + 1 }, 0),
        false => (if at == 0 { length - 1 } else { at - 1 }, 1),
    };
    while column != last_column {
        let (next, direction) = step(columns, column, along_row);
        tell((row * columns + column) * DIRECTIONS + direction);
        column = next;
    }
    while row != last_row {
        let (next, direction) = step(rows, row, along_column);
        tell((row * columns + column) * DIRECTIONS + 2 + direction);
        row = next;
    }
}

/// Goes up by the digits of the destination, and down.
///
/// Above the switches of level j there are as many channels up, and as many down, as there are
/// nodes. A message from `a` to `b` leaves level j by the channel whose lowest j digits are those
/// of `b` and whose other digits are those of `a`: the latter identify the tree that it leaves, the
/// former the switches and channels chosen so far. It returns to level j by the channel with all
/// digits of `b`.
fn tree(arity: usize, nodes: usize, from: usize, to: usize, mut tell: impl FnMut(usize)) {
    let top = common_level(from, to, arity) as usize;
    let mut below = 1;
    for level in 1..top {
        below *= arity;
        tell(2 * nodes * (level - 1) + from - from % below + to % below);
    }
    for level in (1..top).rev() {
        tell(2 * nodes * (level - 1) + nodes + to);
    }
}

/// Position of a node among the leaves of a tree.
pub(super) fn leaf(node: usize, arity: usize, dealt: bool) -> usize {
    let below = arity * arity;
    match dealt {
        true => node - node % below + node % arity * arity + node % below / arity,
        false => node,
    }
}

/// Level of the lowest switch above both leaves, from 1; 0 from a leaf to itself.
pub(super) fn common_level(mut a: usize, mut b: usize, arity: usize) -> u32 {
    let mut level = 0;
    while a != b {
        (a, b) = (a / arity, b / arity);
        level += 1;
    }
    level
}

/// Goes to the link between both groups, over it, and to the destination's router.
fn dragonfly(
    routers: usize,
    links: usize,
    (group, router): (usize, usize),
    (last_group, last): (usize, usize),
    mut tell: impl FnMut(usize),
) {
    let first = |group: usize| group * routers * (routers + links);
    if group == last_group {
        if router != last {
            tell(first(group) + router * routers + last);
        }
        return;
    }
    let ((way, out), (_, into)) = (link(group, last_group, links), link(last_group, group, links));
    if router != out {
        tell(first(group) + router * routers + out);
    }
    tell(first(group) + routers * routers + way);
    if into != last {
        tell(first(last_group) + into * routers + last);
    }
}

/// The group of a node of a dragonfly, and its router in the group.
pub(super) fn place(node: usize, nodes: usize, routers: usize) -> (usize, usize) {
    let router = node / nodes;
    (router / routers, router % routers)
}

/// The link from one group to another, and the router that has it.
pub(super) fn link(from: usize, to: usize, links: usize) -> (usize, usize) {
    let link = if to < from { to } else { to - 1 };
    (link, link / links)
}
