//! Conditions of the results over one transport.

use std::collections::{BTreeMap, BTreeSet};

use derive_more::Add;
use serde::{Deserialize, Serialize};

use crate::{Number, Seconds};

/// Conditions of a run's results over one transport.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Conditions {
    /// The transport as the command line names it.
    pub transport: String,
    /// Number of ranks.
    pub ranks: u64,
    /// Number of launches: sets of fresh processes.
    pub launches: u64,
    /// Launches without data, numbered from 1.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub lost_launches: BTreeSet<u64>,
    /// The timed batches, used and rejected.
    pub batches: Batches,
    /// The placement state of the results; none without probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Number of messages compared with their expected contents. All were right, since a wrong one ends the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
}

/// The timed batches, used and rejected.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Batches {
    /// Number of batches behind the results.
    pub used: u64,
    /// Number of other batches by reason: `placement_changed`, `slowed`, `other_state`, …
    pub rejected: BTreeMap<String, u64>,
}

impl Batches {
    /// Number of rejected batches.
    pub fn all_rejected(&self) -> u64 {
        self.rejected.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The most common reason for rejection.
    pub fn mostly(&self) -> Option<&str> {
        let most = self.rejected.iter().max_by_key(|(_, count)| **count);
        most.map(|(reason, _)| reason.as_str())
    }
}

/// A placement state: a level of the time that a cache line takes between two processors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Half a round trip of a bare cache-line ping-pong.
    pub probe: Seconds,
    /// Share of the timed batches in this state.
    pub share: Number,
    /// Probes of the other states seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Seconds>,
}

/// Numbers of compared messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Add, Serialize, Deserialize)]
pub struct Verified {
    /// Messages of checked batches; each was compared.
    pub checked: u64,
    /// Messages of timed batches; what their shared place held at the end was compared.
    pub timed: u64,
}

impl Conditions {
    /// The conditions of two measurements over one transport in one run, combined.
    pub fn and(mut self, other: &Conditions) -> Conditions {
        self.ranks = self.ranks.max(other.ranks);
        self.launches = self.launches.max(other.launches);
        self.lost_launches.extend(&other.lost_launches);
        self.batches.used += other.batches.used;
        for (reason, count) in &other.batches.rejected {
            *self.batches.rejected.entry(reason.clone()).or_default() += count;
        }
        self.state = self.state.or(other.state.clone());
        self.verified = self.verified.into_iter().chain(other.verified).reduce(|a, b| a + b);
        self
    }
}
