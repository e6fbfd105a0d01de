//! Under which conditions the results over one transport were measured.

use std::collections::BTreeMap;

use derive_more::Add;
use serde::{Deserialize, Serialize};

use crate::{Number, Seconds};

/// Conditions of all results over one transport in a run.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Conditions {
    /// The transport as the command line names it.
    pub transport: String,
    /// Number of ranks.
    pub ranks: u64,
    /// The processors of the ranks, by rank; none in virtual time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<u64>,
    /// The hosts of the ranks, by rank; none where all are on one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The distance between the processors of ranks 0 and 1: `shared L3`; `network` between hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<String>,
    /// Whether ranks shared processors.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub oversubscribed: bool,
    /// Sets of fresh processes that were begun.
    pub launches: u64,
    /// Those of them that gave nothing, by number from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_launches: Vec<u64>,
    /// What became of the timed batches.
    pub batches: Batches,
    /// The placement state that the results are of; none where nothing was probed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// How many messages were compared with what was to arrive. All were right: a wrong one ends the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
}

/// What became of the timed batches.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Batches {
    /// Those that the results rest on.
    pub used: u64,
    /// Those that they do not rest on, by reason: `moved`, `slowed`, `other_state`, …
    pub rejected: BTreeMap<String, u64>,
}

impl Batches {
    /// All that do not count.
    pub fn all_rejected(&self) -> u64 {
        self.rejected.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The commonest reason of those that do not count.
    pub fn mostly(&self) -> Option<&str> {
        let most = self.rejected.iter().max_by_key(|(_, count)| **count);
        most.map(|(reason, _)| reason.as_str())
    }
}

/// A placement state: how the two processors stood to each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// One way of a bare cache-line ping-pong between them.
    pub probe: Seconds,
    /// The share of the timed batches that are in it.
    pub share: Number,
    /// The probes of the other states that were seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Seconds>,
}

/// What was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Add, Serialize, Deserialize)]
pub struct Verified {
    /// Messages of checked batches, each compared by itself.
    pub checked: u64,
    /// Messages of timed batches, of which what lies in their place at the end is compared.
    pub timed: u64,
}

impl Conditions {
    /// Those of two measurements over one transport in one run.
    pub fn and(mut self, other: &Conditions) -> Conditions {
        self.ranks = self.ranks.max(other.ranks);
        if other.cores.len() > self.cores.len() {
            self.cores.clone_from(&other.cores);
        }
        self.launches = self.launches.max(other.launches);
        self.oversubscribed |= other.oversubscribed;
        for launch in &other.lost_launches {
            if !self.lost_launches.contains(launch) {
                self.lost_launches.push(*launch);
            }
        }
        self.batches.used += other.batches.used;
        for (reason, count) in &other.batches.rejected {
            *self.batches.rejected.entry(reason.clone()).or_default() += count;
        }
        self.state = self.state.or(other.state.clone());
        self.verified = match (self.verified, other.verified) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        self
    }
}
