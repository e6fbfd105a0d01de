//! Batches as they are measured, sent to the launcher and kept.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::load::Load;
use super::series::Operation;

/// What a batch is a batch of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Key {
    /// Time of the issue phase of `messages` requests with the delay of this many picoseconds.
    Issue {
        /// What each carries.
        load: Load,
        /// M.
        messages: u32,
        /// Δ, nominal.
        delay_ps: u64,
    },
    /// Time of one request with its reply.
    Rtt {
        /// What it carries.
        load: Load,
    },
    /// Time of one request with its reply between two given ranks.
    PairRtt {
        /// The rank that asks.
        requester: usize,
        /// The rank that replies.
        replier: usize,
    },
    /// Time per message and requester of a replier with this many requesters.
    Contended {
        /// K.
        requesters: usize,
    },
    /// So many transfers of one size, one after the other.
    Sized {
        /// What is done.
        operation: Operation,
        /// Bytes of each.
        bytes: u32,
        /// M.
        messages: u32,
        /// What is timed of it.
        part: Part,
    },
    /// Time per operation of a floor, or of a layer compared with it.
    Floor {
        /// Its name.
        name: String,
    },
}

/// How two ranks' processors stand to each other and to the rest of the machine at a moment, in
/// nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// One way of the bare cache-line ping-pong between them.
    pub cache_line: f64,
    /// Time of a fixed amount of independent arithmetic, of the slower of the two.
    pub pace: f64,
}

/// What is timed of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// From its begin until nothing is under way.
    Whole,
    /// From its begin until the last operation was issued.
    Issue,
}

/// The samples of one batch, all taken within one placement state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Samples in nanoseconds, the clock's cost removed.
    pub samples: Vec<f64>,
    /// Placement probe before and after, where ranks have processors of their own.
    pub probe: Option<[Probe; 2]>,
    /// Δ as it was just before and after the batch, in nanoseconds: the mean of both.
    pub delay: Option<f64>,
    /// The launch that measured it.
    pub launch: u32,
    /// Why the batch does not count.
    pub rejected: Option<String>,
}

impl Batch {
    /// The mean of the cache-line probes before and after.
    pub fn cache_line(&self) -> Option<f64> {
        self.probe.map(|[before, after]| f64::midpoint(before.cache_line, after.cache_line))
    }
}

/// A batch with its key: what goes from the leader to the launcher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Of what.
    pub key: Key,
    /// The samples.
    pub batch: Batch,
}

/// All batches of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    batches: BTreeMap<Key, Vec<Batch>>,
}

impl Table {
    /// Adds a batch.
    pub fn push(&mut self, measured: Measured) {
        self.batches.entry(measured.key).or_default().push(measured.batch);
    }

    /// All keys with their batches, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &[Batch])> {
        self.batches.iter().map(|(key, batches)| (key, batches.as_slice()))
    }

    /// The batches of `key`.
    pub fn batches(&self, key: &Key) -> &[Batch] {
        self.batches.get(key).map_or(&[], Vec::as_slice)
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// The part of one launch.
    pub fn of_launch(&self, launch: u32) -> Self {
        self.part(|_, batch| batch.launch == launch)
    }

    /// The part of the signature whose requests carry this.
    pub fn of_load(&self, wanted: Load) -> Self {
        self.part(|key, _| match key {
            Key::Issue { load, .. } | Key::Rtt { load } => *load == wanted,
            _ => false,
        })
    }

    fn part(&self, belongs: impl Fn(&Key, &Batch) -> bool) -> Self {
        let mut part = Self::default();
        for (key, batches) in &self.batches {
            for batch in batches.iter().filter(|batch| belongs(key, batch)) {
                part.push(Measured { key: key.clone(), batch: batch.clone() });
            }
        }
        part
    }
}
