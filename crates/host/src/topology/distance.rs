//! Distances between logical processors.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::{CacheKind, Topology};

/// Classes of distance between processors of a host, nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Distance {
    /// The same logical processor: ranks take turns on it.
    SameCpu,
    /// Two hardware threads of one physical core.
    SmtSibling,
    /// Two cores that share a data cache; the nearest shared cache counts.
    SharedCache {
        /// The level of that cache.
        level: u8,
    },
    /// The same package and memory node, but no shared cache.
    SameNode,
    /// The same package, but different memory nodes.
    SamePackage,
    /// Different packages.
    SameHost,
}

impl Distance {
    /// The level that joins two ranks at this distance, from 1: one core, a shared data cache, a
    /// memory node, a package, the host.
    pub fn level(self) -> u32 {
        match self {
            Self::SameCpu | Self::SmtSibling => 1,
            Self::SharedCache { .. } => 2,
            Self::SameNode => 3,
            Self::SamePackage => 4,
            Self::SameHost => 5,
        }
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameCpu => f.pad("same core"),
            Self::SmtSibling => f.pad("SMT sibling"),
            Self::SharedCache { level } => f.pad(&format!("shared L{level}")),
            Self::SameNode => f.pad("same NUMA node"),
            Self::SamePackage => f.pad("same package"),
            Self::SameHost => f.pad("same host"),
        }
    }
}

/// A pair of logical processors.
type Pair = (usize, usize);

impl Topology {
    /// The distance of a pair; `None` if one of the two is not online.
    pub fn distance(&self, a: usize, b: usize) -> Option<Distance> {
        let (first, second) = (self.cpu(a)?, self.cpu(b)?);
        if a == b {
            return Some(Distance::SameCpu);
        }
        if first.siblings.binary_search(&b).is_ok() {
            return Some(Distance::SmtSibling);
        }
        let shared = first
            .caches
            .iter()
            .filter(|cache| cache.kind != CacheKind::Instruction)
            .filter(|cache| cache.cpus.binary_search(&b).is_ok())
            .map(|cache| cache.level)
            .min();
        Some(match shared {
            Some(level) => Distance::SharedCache { level },
            None if first.package != second.package => Distance::SameHost,
            None if first.node != second.node => Distance::SamePackage,
            None => Distance::SameNode,
        })
    }

    /// For each class of distance between two allowed processors, the pair with the lowest numbers;
    /// the nearest class first. [`Distance::SameCpu`] is not a pair.
    pub fn pairs_by_distance(&self) -> Vec<(Distance, Pair)> {
        let ids = self.allowed_ids();
        let mut pairs = BTreeMap::new();
        for (i, &a) in ids.iter().enumerate() {
            for &b in &ids[i + 1..] {
                let Some(distance) = self.distance(a, b) else { continue };
                pairs.entry(distance).or_insert((a, b));
            }
        }
        pairs.into_iter().collect()
    }
}
