//! What a PCIe analyser's trace says.

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
    /// How the injection overhead is distributed; empty where there is none.
    pub histogram: Vec<TraceBin>,
    /// What a reader should know, as sentences.
    pub findings: Vec<String>,
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
    /// Other rows.
    pub others: u64,
    /// Packets that are not in the trace by their sequence numbers, so many at least; null where these do not tell.
    pub lost: Option<u64>,
    /// Packets that were sent again by these numbers.
    pub again: u64,
    /// Where completions were found to go, as first and last address; empty where addresses did not matter, or
    /// were given.
    pub completions_at: Vec<[String; 2]>,
}

/// A time between packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceTime {
    /// `injection`, `acknowledgement`, `ping`, `ping_without_switch` or `pong`.
    pub name: String,
    /// The mean.
    pub mean: Quantity,
    /// The median.
    pub median: Quantity,
    /// The shortest.
    pub min: Seconds,
    /// At most this long are nine of ten.
    pub p90: Seconds,
    /// At most this long are 99 of a hundred.
    pub p99: Seconds,
    /// At most this long are 999 of a thousand.
    pub p999: Seconds,
    /// The longest.
    pub max: Seconds,
    /// How many there are.
    pub samples: u64,
}

/// A component, or the injection overhead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DerivedTime {
    /// `inj_overhead`, or the component's name in tables.
    pub name: String,
    /// How it follows from the times.
    pub formula: String,
    /// How long it takes.
    pub time: Quantity,
}

/// A time that does not follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingTime {
    /// Its name.
    pub name: String,
    /// Why.
    pub why: String,
}

/// A part of the distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceBin {
    /// From this time on.
    pub from: Seconds,
    /// To below this.
    pub to: Seconds,
    /// So many samples.
    pub count: u64,
    /// Their share of all.
    pub share: Number,
}

/// What readers call a time or a component.
pub(super) fn title(name: &str) -> &str {
    match name {
        "injection" => "post to post",
        "acknowledgement" => "completion to its ACK",
        "ping" => "ping to its completion",
        "ping_without_switch" => "ping to its completion, no switch",
        "pong" => "pong to next ping",
        "inj_overhead" => "Inj_overhead",
        "pcie" => "PCIe",
        "network" => "Network",
        "wire" => "Wire",
        "switch" => "Switch",
        "rc_to_mem_8" => "RC-to-MEM",
        other => other,
    }
}
