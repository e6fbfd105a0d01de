//! Times of messages of many sizes: ping-pong, exchange, saturation, barrier, store and get.

use serde::{Deserialize, Serialize};

use crate::{Batch, Quantity, State, Summary};

/// One kernel's times over message sizes, or over numbers of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The kernel: `comms1`, `comms2`, `comms3`, `synch1`, `bulk_store`, `bulk_get`; for a table that
    /// others measured, the tool's name.
    pub name: String,
    /// The transport as the command line names it; `table` for a fit.
    pub transport: String,
    /// Number of ranks that took part; where the points differ, the greatest.
    pub ranks: u32,
    /// The rank whose times these are, and its peer, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<[u32; 2]>,
    /// The processors these two are pinned to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<[u32; 2]>,
    /// Number of fresh sets of processes the measurement was repeated in.
    pub launches: u32,
    /// Whether the received bytes were checked, and were the sent ones.
    pub verified: bool,
    /// The machine state that is the commonest.
    pub state: State,
    /// The measured points, by ascending size.
    pub points: Vec<SeriesPoint>,
    /// What a reader should know, as sentences.
    pub findings: Vec<String>,
}

/// One size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// Payload bytes of one message; 0 for a barrier.
    pub bytes: u64,
    /// Number of ranks that took part.
    pub ranks: u32,
    /// The distance class between them: `same package`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<String>,
    /// t(n): half the round for a ping-pong or an exchange, the whole of one operation otherwise.
    pub time: Quantity,
    /// n/t(n), or what all ranks together move; absent for 0 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Quantity>,
    /// Operations per second, for a barrier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Quantity>,
    /// o(n): the part of t(n) that the sending processor is busy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_overhead: Option<Quantity>,
    /// g(n): the least time between messages of this size at a steady rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Quantity>,
    /// t(n) − o(n): how much computation fits beside the transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Quantity>,
    /// The machine state it was taken in.
    pub state: String,
    /// Whether the interval of the time came within the wanted precision.
    pub converged: bool,
    /// The distribution of the time over the accepted samples.
    pub summary: Summary,
    /// The samples behind it, rejected batches included: times like `time`.
    pub batches: Vec<Batch>,
}
