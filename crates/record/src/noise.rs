//! What the operating system takes away, by fixed work quanta.

use serde::{Deserialize, Serialize};

use crate::{Number, Seconds};

/// A fixed amount of work, timed again and again on each core; whatever takes longer was disturbed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// One row per core.
    pub cores: Vec<CoreNoise>,
}

/// How one core was disturbed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoreNoise {
    /// The processor.
    pub core: u32,
    /// Time of an undisturbed quantum.
    pub quantum: Seconds,
    /// Quanta timed.
    pub samples: u64,
    /// Median time of a quantum.
    pub median: Seconds,
    /// Mean time of a quantum.
    pub mean: Seconds,
    /// 99th percentile.
    pub p99: Seconds,
    /// 99.9th percentile.
    pub p999: Seconds,
    /// Longest quantum.
    pub max: Seconds,
    /// A quantum longer than the undisturbed one by more than this holds a detour.
    pub threshold: Seconds,
    /// Quanta with a detour, per second.
    pub detours_per_second: Number,
    /// Share of the time that work did not get.
    pub time_lost: Number,
}
