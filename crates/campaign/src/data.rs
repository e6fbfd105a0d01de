//! Batches as they are measured, sent to the launcher and kept.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::key::Key;

/// How two ranks' processors stand to each other and to the rest of the machine at a moment, in
/// nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// One way of the bare cache-line ping-pong between them.
    pub cache_line: f64,
    /// Time of a fixed amount of independent arithmetic, of the slower of the two.
    pub pace: f64,
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

    /// The batches that belong, by their key or by themselves.
    pub fn part(&self, belongs: impl Fn(&Key, &Batch) -> bool) -> Self {
        let mut part = Self::default();
        for (key, batches) in &self.batches {
            for batch in batches.iter().filter(|batch| belongs(key, batch)) {
                part.push(Measured { key: key.clone(), batch: batch.clone() });
            }
        }
        part
    }
}
