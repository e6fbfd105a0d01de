//! Computation that takes a known time.

use bandgap_units::Delay;
use serde::{Deserialize, Serialize};

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
