//! Cores, caches and memory nodes as the kernel describes them, and distances between cores.

mod distance;
mod read;
mod summary;

use bandgap_units::Bytes;
use serde::{Deserialize, Serialize};

pub use distance::Distance;
pub use summary::{CacheSummary, TopologySummary};

/// What a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Only data.
    Data,
    /// Only instructions.
    Instruction,
    /// Data and instructions.
    Unified,
}

/// A cache as one core sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// The level; 1 is nearest to the core.
    pub level: u8,
    /// Contents.
    pub kind: CacheKind,
    /// Size.
    pub size: Option<Bytes>,
    /// The cores that share it, in ascending order.
    pub cpus: Vec<usize>,
}

/// A logical processor: the unit that the kernel numbers and that a rank is pinned to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The kernel's number.
    pub id: usize,
    /// Whether this process may run on it.
    pub allowed: bool,
    /// Number of its physical core within the package.
    pub core: usize,
    /// The package (socket).
    pub package: usize,
    /// The memory node.
    pub node: usize,
    /// The hardware threads of its physical core, including itself, in ascending order.
    pub siblings: Vec<usize>,
    /// Its caches, nearest first.
    pub caches: Vec<Cache>,
}

/// The logical processors that are online.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    /// In ascending order of numbers.
    cpus: Vec<Cpu>,
}

impl Topology {
    /// All logical processors, in ascending order of numbers.
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// The logical processor with this number, if it is online.
    pub fn cpu(&self, id: usize) -> Option<&Cpu> {
        let at = self.cpus.binary_search_by_key(&id, |cpu| cpu.id).ok()?;
        Some(&self.cpus[at])
    }

    /// The logical processors on which this process may run.
    pub fn allowed(&self) -> impl Iterator<Item = &Cpu> {
        self.cpus.iter().filter(|cpu| cpu.allowed)
    }

    /// The numbers of the allowed processors.
    pub fn allowed_ids(&self) -> Vec<usize> {
        self.allowed().map(|cpu| cpu.id).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests;
