//! Who sends to whom.

use derive_more::Display;
use serde::{Deserialize, Serialize};

/// Who sends to whom.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, Serialize, Deserialize)]
#[display(rename_all = "kebab-case")]
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
