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

/// Level, kind, cores and size of a cache.
type Shared<'a> = (u8, CacheKind, &'a [usize], Option<Bytes>);

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
        let caches = self.cpus().iter().flat_map(|cpu| &cpu.caches);
        let all: BTreeSet<Shared<'_>> =
            caches.map(|of| (of.level, of.kind, of.cpus.as_slice(), of.size)).collect();
        let all: Vec<_> = all.into_iter().collect();
        let alike = all.chunk_by(|one, next| (one.0, one.1) == (next.0, next.1));
        let summary = |alike: &[Shared<'_>]| CacheSummary {
            level: alike[0].0,
            kind: alike[0].1,
            size: alike.iter().filter_map(|of| of.3).max(),
            count: alike.len(),
            shared_by: alike.iter().map(|of| of.2.len()).max().unwrap_or(0),
        };
        alike.map(summary).collect()
    }
}
