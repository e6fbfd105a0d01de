//! Which part of a loop is between two stamps.

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
    /// One pair of stamps around the operations of a sample, on the rank that times. The cost of a
    /// stamp is subtracted.
    #[default]
    Batch,
    /// As the OSU benchmarks since version 7: a pair of stamps around each operation, and nothing
    /// subtracted. In a collective all ranks stamp, the mean of their times is used, and a barrier
    /// separates one collective from the next. Messages then lie in separate buffers by default.
    Osu,
}

impl FromStr for Shape {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::deserialize(name.into_deserializer())
    }
}

impl Shape {
    /// Whether this is the default.
    pub fn is_usual(&self) -> bool {
        *self == Self::Batch
    }
}
