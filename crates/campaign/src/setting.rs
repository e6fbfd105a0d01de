//! What a campaign was measured on, as far as its results name it.

use std::collections::BTreeMap;

use crate::beside::Beside;

/// The ranks of a campaign and where they were.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    /// The transport as the command line names it.
    pub transport: String,
    /// The floors that were measured beside, and what is compared with them.
    pub beside: Vec<Beside>,
    /// Number of ranks.
    pub ranks: usize,
    /// Launches begun.
    pub launches: u32,
    /// The processors of the ranks, by rank; none in virtual time.
    pub cpus: Option<Vec<usize>>,
    /// The distance between two processors, the lower first.
    pub distances: BTreeMap<[usize; 2], String>,
}

impl Setting {
    /// Whether time was virtual.
    pub fn is_virtual(&self) -> bool {
        self.cpus.is_none()
    }

    /// The processors of two ranks.
    pub fn cores(&self, ranks: [usize; 2]) -> Option<[usize; 2]> {
        let cpus = self.cpus.as_ref()?;
        Some([*cpus.get(ranks[0])?, *cpus.get(ranks[1])?])
    }

    /// The distance between the processors of two ranks.
    pub fn distance(&self, ranks: [usize; 2]) -> Option<String> {
        let [a, b] = self.cores(ranks)?;
        self.distances.get(&[a.min(b), a.max(b)]).cloned()
    }
}
