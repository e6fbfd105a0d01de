//! What a PCIe analyser's trace says.

use bandgap_model::pcie::Why;
use bandgap_record::{Number, Quantity, Seconds};
use serde::{Deserialize, Serialize};

/// Times in a trace, and the components of the hardware that follow from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PcieTrace {
    /// The file of the trace.
    pub name: String,
    /// What was read: the trace, and the one without a switch, if there is one.
    pub files: Vec<TraceFile>,
    /// Times between packets of the trace.
    pub times: Vec<TraceTime>,
    /// What follows from them.
    pub derived: Vec<DerivedTime>,
    /// What does not, and why.
    pub missing: Vec<MissingTime>,
}

/// A trace that was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceFile {
    /// Its name.
    pub file: String,
    /// Whether it was taken without a switch.
    pub without_switch: bool,
    /// Rows.
    pub rows: u64,
    /// From the first row to the last.
    pub span: Seconds,
    /// Memory writes of 64 bytes that go down.
    pub posts: u64,
    /// Memory writes of 64 bytes that go up to completion queues.
    pub completions: u64,
    /// Other memory writes that go up.
    pub payloads: u64,
    /// Acknowledgements that go down.
    pub acknowledgements: u64,
    /// Packets that are not in the trace by their sequence numbers, so many at least; null where these do not tell.
    pub lost: Option<u64>,
}

/// A time between packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceTime {
    /// `injection` (post to post), `acknowledgement` (of a completion), `ping` (to its completion) or `pong` (to the next
    /// ping).
    pub name: String,
    /// How many there are.
    pub samples: u64,
    /// The mean.
    pub mean: Quantity,
    /// Shares of them, and the time that so many do not exceed; the first and the last are the shortest and the longest.
    pub quantiles: Vec<(Number, Seconds)>,
}

/// A component, or the injection overhead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DerivedTime {
    /// `inj_overhead`, or the component's name in tables.
    pub name: String,
    /// How long it takes.
    pub time: Quantity,
}

/// A time that does not follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingTime {
    /// Its name.
    pub name: String,
    /// Why.
    pub why: Why,
}
