//! Computation that takes a known time.

use serde::{Deserialize, Serialize};

/// A controlled amount of computation: the Δ of the LogP signature.
///
/// It has two forms: the iterations that a processor executes, and the time that they take, which
/// the simulator uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delay {
    /// Iterations of the loop.
    pub iterations: u32,
    /// Their time in picoseconds, by calibration.
    pub picoseconds: u64,
}

impl Delay {
    /// No computation.
    pub const NONE: Self = Self { iterations: 0, picoseconds: 0 };
}

/// What a processor computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Iterations of [`crate::Timer::work`]: a chain of dependent arithmetic that touches no
    /// memory.
    Chain(Delay),
    /// y ← a·x + y over vectors of doubles, one iteration for each element (CoMet, section 3.1.2,
    /// overlap).
    Daxpy(Delay),
}

impl Work {
    /// Iterations and their time.
    pub fn delay(self) -> Delay {
        match self {
            Self::Chain(delay) | Self::Daxpy(delay) => delay,
        }
    }
}
