//! Who sends to whom.

use serde::{Deserialize, Serialize};

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// One requester, one replier.
    OneToOne,
    /// Half the ranks, each with its own replier in the other half.
    Pairs,
    /// One requester to many repliers.
    FanOut,
    /// Many requesters to one replier.
    FanIn,
}

impl Pattern {
    /// Its name in run files.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::OneToOne => "one-to-one",
            Pattern::Pairs => "pairs",
            Pattern::FanOut => "fan-out",
            Pattern::FanIn => "fan-in",
        }
    }
}
