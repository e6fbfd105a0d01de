//! Groups of routers, each joined to each other group.

use super::Topology;
use bandgap_comm::Rank;

/// A dragonfly: groups of a routers, of which each has p nodes and h links to other groups. There are
/// a·h + 1 groups, so that any two are joined by one link; the routers of a group are all joined.
///
/// A hop is a router on the way: that of both nodes, or theirs and up to two at the ends of the link
/// between their groups. The links of a group lead to the others in the order of their numbers, the
/// first h from the first router.
///
/// *Source*: Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly topology", 2008.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dragonfly {
    routers: usize,
    nodes: usize,
    links: usize,
}

impl Dragonfly {
    /// Of so many routers in a group, nodes at a router, and links of a router to other groups; `None`
    /// without any, or with too many to count.
    pub fn new(routers: usize, nodes: usize, links: usize) -> Option<Self> {
        let groups = routers.checked_mul(links)?.checked_add(1)?;
        let size = groups.checked_mul(routers)?.checked_mul(nodes)?;
        (size > 0 && links > 0).then_some(Self { routers, nodes, links })
    }

    /// Routers of a group.
    pub(crate) fn routers(&self) -> usize {
        self.routers
    }

    /// Links of a group to other groups.
    pub(crate) fn links(&self) -> usize {
        self.routers * self.links
    }

    /// The group of a node, and its router there.
    pub(crate) fn place(&self, node: Rank) -> (usize, usize) {
        let router = node / self.nodes;
        (router / self.routers, router % self.routers)
    }

    /// The link of a group to another, and the router that has it.
    pub(crate) fn link(&self, from: usize, to: usize) -> (usize, usize) {
        let link = if to < from { to } else { to - 1 };
        (link, link / self.links)
    }
}

impl Topology for Dragonfly {
    fn size(&self) -> usize {
        (self.links() + 1) * self.routers * self.nodes
    }

    fn distance(&self, a: Rank, b: Rank) -> u32 {
        let ((group, router), (other_group, other)) = (self.place(a), self.place(b));
        if group == other_group {
            return u32::from(a != b) + u32::from(router != other);
        }
        let ((_, out), (_, into)) = (self.link(group, other_group), self.link(other_group, group));
        2 + u32::from(router != out) + u32::from(other != into)
    }

    fn diameter(&self) -> u32 {
        if self.routers > 1 { 4 } else { 2 }
    }
}
