//! Summary of the topology.

use std::collections::BTreeSet;

use bandgap_units::Bytes;
use serde::Serialize;

use super::{CacheKind, Topology};
use crate::format_cpu_list;

/// Caches of one level and kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CacheSummary {
    /// The level; 1 is nearest to the core.
    pub level: u8,
    /// What they hold.
    pub kind: CacheKind,
    /// Size of each; the largest if they differ.
    pub size: Option<Bytes>,
    /// Number of these caches.
    pub count: usize,
    /// Number of logical processors that share one; the largest if they differ.
    pub shared_by: usize,
}

/// A summary of the topology.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TopologySummary {
    /// The logical processors that are online, as a list.
    pub online: String,
    /// The logical processors allowed to this process, as a list.
    pub allowed: String,
    /// Number of physical cores.
    pub cores: usize,
    /// Number of packages.
    pub packages: usize,
    /// Number of memory nodes with processors.
    pub nodes: usize,
    /// Hardware threads per physical core; the largest number if cores differ.
    pub threads_per_core: usize,
    /// Caches, nearest first.
    pub caches: Vec<CacheSummary>,
}

impl Topology {
    /// A summary of the topology.
    pub fn summary(&self) -> TopologySummary {
        let cpus = self.cpus();
        let ids: Vec<usize> = cpus.iter().map(|cpu| cpu.id).collect();
        TopologySummary {
            online: format_cpu_list(&ids),
            allowed: format_cpu_list(&self.allowed_ids()),
            cores: cpus.iter().map(|cpu| &cpu.siblings).collect::<BTreeSet<_>>().len(),
            packages: cpus.iter().map(|cpu| cpu.package).collect::<BTreeSet<_>>().len(),
            nodes: cpus.iter().map(|cpu| cpu.node).collect::<BTreeSet<_>>().len(),
            threads_per_core: cpus.iter().map(|cpu| cpu.siblings.len()).max().unwrap_or(0),
            caches: self.cache_summaries(),
        }
    }

    fn cache_summaries(&self) -> Vec<CacheSummary> {
        let all: BTreeSet<(u8, CacheKind, &[usize], Option<Bytes>)> = self
            .cpus()
            .iter()
            .flat_map(|cpu| &cpu.caches)
            .map(|cache| (cache.level, cache.kind, cache.cpus.as_slice(), cache.size))
            .collect();
        let mut summaries: Vec<CacheSummary> = Vec::new();
        for (level, kind, cpus, size) in all {
            match summaries.last_mut() {
                Some(last) if last.level == level && last.kind == kind => {
                    last.size = last.size.max(size);
                    last.count += 1;
                    last.shared_by = last.shared_by.max(cpus.len());
                }
                _ => summaries.push(CacheSummary {
                    level,
                    kind,
                    size,
                    count: 1,
                    shared_by: cpus.len(),
                }),
            }
        }
        summaries
    }
}
