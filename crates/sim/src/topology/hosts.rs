//! Nodes of several hosts.

use super::Topology;
use bandgap_comm::Rank;

/// Hosts of equally many nodes, numbered host by host. A node is one hop from the others of its host,
/// and two from those of other hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hosts {
    hosts: usize,
    ranks_per_host: usize,
}

impl Hosts {
    /// So many hosts of so many ranks; `None` without any, or with too many to count.
    pub fn new(hosts: usize, ranks_per_host: usize) -> Option<Self> {
        let size = hosts.checked_mul(ranks_per_host)?;
        (size > 0).then_some(Self { hosts, ranks_per_host })
    }
}

impl Topology for Hosts {
    fn size(&self) -> usize {
        self.hosts * self.ranks_per_host
    }

    fn distance(&self, a: Rank, b: Rank) -> u32 {
        let same_host = a / self.ranks_per_host == b / self.ranks_per_host;
        u32::from(a != b) + u32::from(!same_host)
    }

    fn diameter(&self) -> u32 {
        if self.hosts > 1 { 2 } else { u32::from(self.ranks_per_host > 1) }
    }
}
