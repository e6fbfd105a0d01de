//! Which part of a loop lies between two stamps.

use std::str::FromStr;

use derive_more::Display;
use serde::de::IntoDeserializer;
use serde::de::value::Error;
use serde::{Deserialize, Serialize};

/// How a batch is timed.
#[derive(Clone, Copy, Debug, Default, Display, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[display(rename_all = "snake_case")]
pub enum Shape {
    /// One pair of stamps around the operations of a sample, of the rank that times; what a stamp costs is subtracted.
    #[default]
    Batch,
    /// As the OSU benchmarks do since version 7: a pair of stamps around each operation, on all ranks of a collective, of whose
    /// times the mean is taken, with a barrier between one collective and the next; nothing is subtracted.
    Osu,
}

impl FromStr for Shape {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::deserialize(name.into_deserializer())
    }
}

impl Shape {
    /// Whether it is the usual one.
    pub fn is_usual(&self) -> bool {
        *self == Self::Batch
    }
}
