//! What a row or a point of a LogP measurement is of.

use serde::{Deserialize, Serialize};

/// What was timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// The issue phase: M requests with Δ after each.
    Issue,
    /// Request and reply, one at a time.
    Rtt,
}

impl Measure {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Issue => "issue",
            Measure::Rtt => "rtt",
        }
    }
}
