//! The gap under contention for one replier (LogP paper, table 5).

use serde::{Deserialize, Serialize};

use crate::{Pattern, Quantity};

/// K requesters to one replier, for growing K.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contention {
    /// Always [`Pattern::FanIn`].
    pub pattern: Pattern,
    /// The transport as the command line names it.
    pub transport: String,
    /// One row per K.
    pub rows: Vec<ContentionRow>,
}

/// The gap that K requesters see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContentionRow {
    /// K.
    pub requesters: u32,
    /// g_K: the gap at each requester.
    pub gap: Quantity,
    /// g_K / g_1; the model expects K where the replier is the bottleneck.
    pub ratio: Quantity,
}
