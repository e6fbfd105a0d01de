//! Cores, caches and memory nodes as the kernel describes them, and how near two cores are.

mod distance;
mod read;
mod summary;
#[cfg(test)]
pub(crate) mod tests;

use std::path::Path;

use bandgap_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::{HostError, allowed_cpus};

pub use distance::Distance;
pub use summary::{CacheSummary, TopologySummary};

/// What a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Data.
    Data,
    /// Instructions.
    Instruction,
    /// Both.
    Unified,
}

/// A cache as one core sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 is nearest to the core.
    pub level: u8,
    /// What it holds.
    pub kind: CacheKind,
    /// Its size.
    pub size: Option<Bytes>,
    /// The cores that share it, ascending.
    pub cpus: Vec<usize>,
}

/// A logical processor: what the kernel numbers, and what a rank is pinned to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The kernel's number.
    pub id: usize,
    /// Whether this process may run on it.
    pub allowed: bool,
    /// Number of the physical core within its package.
    pub core: usize,
    /// The package (socket).
    pub package: usize,
    /// The memory node.
    pub node: usize,
    /// The hardware threads of its physical core, itself among them, ascending.
    pub siblings: Vec<usize>,
    /// Its caches, nearest first.
    pub caches: Vec<Cache>,
}

/// The logical processors that are online.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    /// Ascending by number.
    cpus: Vec<Cpu>,
}

impl Topology {
    /// This machine's topology, with the cores allowed to the calling thread. Read it before
    /// pinning.
    ///
    /// # Errors
    /// The kernel's lists cannot be read as such, or it does not tell the allowed cores.
    pub fn read() -> Result<Self, HostError> {
        Self::read_from(Path::new("/"), &allowed_cpus()?)
    }

    /// The topology under `root`, with these cores allowed.
    ///
    /// What is not described there gets the plainest reading: package 0, node 0, a core of its
    /// own, no caches; without a list of online cores, the allowed ones are online.
    ///
    /// # Errors
    /// [`HostError::CpuList`] for a list that is there and cannot be read as one.
    pub fn read_from(root: &Path, allowed: &[usize]) -> Result<Self, HostError> {
        read::read(root, allowed)
    }

    /// The same with every online core allowed.
    #[must_use]
    pub fn all_allowed(mut self) -> Self {
        for cpu in &mut self.cpus {
            cpu.allowed = true;
        }
        self
    }

    /// All logical processors, ascending by number.
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// The logical processor of that number, if online.
    pub fn cpu(&self, id: usize) -> Option<&Cpu> {
        let at = self.cpus.binary_search_by_key(&id, |cpu| cpu.id).ok()?;
        Some(&self.cpus[at])
    }

    /// Those on which this process may run.
    pub fn allowed(&self) -> impl Iterator<Item = &Cpu> {
        self.cpus.iter().filter(|cpu| cpu.allowed)
    }

    /// Their numbers.
    pub fn allowed_ids(&self) -> Vec<usize> {
        self.allowed().map(|cpu| cpu.id).collect()
    }
}
