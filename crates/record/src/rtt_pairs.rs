//! Round trips between pairs of ranks (LogP paper, table 3).

use serde::{Deserialize, Serialize};

use crate::Quantity;

/// The round trip of a single request and reply, for every pair measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RttPairs {
    /// The transport as the command line names it.
    pub transport: String,
    /// The pairs.
    pub pairs: Vec<Pair>,
    /// The shortest round trip.
    pub minimum: Quantity,
    /// The longest round trip.
    pub maximum: Quantity,
}

/// One pair of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The rank that asks, and takes the times.
    pub requester: u32,
    /// The rank that answers.
    pub replier: u32,
    /// The distance class between them, where it is known.
    pub distance: Option<String>,
    /// Time from request to reply.
    pub rtt: Quantity,
}
