//! A LogP signature: the parameters of small messages.

use bandgap_model::Regime;
use bandgap_record::{Number, Quantity, Seconds};
use bandgap_report::Block;
use serde::{Deserialize, Serialize};

use crate::run::{Context, Shown};

/// The signature of messages of one kind over one transport. Its curve, the cost of a message over M and Δ, stands
/// beside it as rows of the same name and transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Logp {
    /// `signature`, `bulk_store_signature` or `bulk_get_signature`.
    pub name: String,
    /// The transport as the command line names it; `table` of a fit.
    pub transport: String,
    /// Bytes of the transfers; absent of small messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Who asks whom: `one_to_one`, `pairs` or `fan_out`.
    pub pattern: String,
    /// Number of ranks.
    pub ranks: u64,
    /// The parameters.
    pub parameters: Parameters,
    /// What limits the rate.
    pub regime: Regime,
    /// Where the send-only regime ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<Transition>,
    /// The arms of slope 1, by ascending Δ; the last one is that of the parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arms: Vec<Arm>,
    /// The lines that parameters are the slopes of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// Half a round trip over its floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_floor: Option<OverFloor>,
}

/// The parameters; those that the data do not tell are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// os: how long the processor is busy sending a message.
    pub send_overhead: Option<Quantity>,
    /// or: how long it is busy receiving one.
    pub recv_overhead: Option<Quantity>,
    /// g: the least time between messages at a steady rate.
    pub gap: Option<Quantity>,
    /// L = RTT/2 − os − or.
    pub latency: Option<Quantity>,
    /// The round trip of a single request.
    pub rtt: Option<Quantity>,
    /// How long the processor is idle at full rate: g − os − or.
    pub idle: Option<Quantity>,
    /// Messages under way at most.
    pub capacity: Option<Quantity>,
}

/// Where the send-only regime ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transition {
    /// After so many messages.
    pub messages: Number,
    /// `round_trip` or `capacity`.
    pub cause: String,
}

/// A range of Δ in which the cost of a message is os + or + Δ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// From this Δ on.
    pub from_delay: Seconds,
    /// To this one.
    pub to_delay: Seconds,
    /// or, as this arm has it.
    pub recv_overhead: Quantity,
    /// The slope over Δ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<Quantity>,
    /// Whether the slope is 1; absent where the data do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
}

/// Elapsed time over M at one Δ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The parameter whose slope it is: `send_overhead`, `gap`.
    pub name: String,
    /// At this Δ.
    pub delay: Seconds,
    /// Time at M = 0.
    pub intercept: Quantity,
    /// Time of a further message.
    pub slope: Quantity,
    /// From so many messages.
    pub from: u64,
    /// To so many.
    pub to: u64,
}

/// A time over the floor of its transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverFloor {
    /// The floor.
    pub floor: String,
    /// The ratio, by round.
    pub ratio: Quantity,
}

impl Logp {
    /// Its id: `logp/shm`; of transfers or another pattern with these.
    pub fn id(&self) -> String {
        let mut id = format!("logp/{}", self.transport);
        if self.name != SIGNATURE {
            id += &format!("/name={}", self.name);
        }
        if self.pattern != ONE_TO_ONE {
            id += &format!("/pattern={}/ranks={}", self.pattern, self.ranks);
        }
        if let Some(bytes) = self.bytes {
            id += &format!("/bytes={bytes}");
        }
        id
    }
}

/// The name of the signature of small messages.
pub const SIGNATURE: &str = "signature";
/// The pattern of two ranks.
pub const ONE_TO_ONE: &str = "one_to_one";

impl Parameters {
    /// All that are known, each with its name, its symbol and whether it counts.
    pub fn named(&self) -> Vec<(&'static str, &'static str, &Quantity, bool)> {
        let all = [
            ("send_overhead", "os", &self.send_overhead, true),
            ("recv_overhead", "or", &self.recv_overhead, true),
            ("gap", "g", &self.gap, true),
            ("latency", "L", &self.latency, false),
            ("rtt", "RTT", &self.rtt, true),
            ("idle", "idle", &self.idle, false),
            ("capacity", "C", &self.capacity, false),
        ];
        all.into_iter()
            .filter_map(|(name, symbol, of, counts)| Some((name, symbol, of.as_ref()?, counts)))
            .collect()
    }
}

impl Shown for Logp {
    fn quantities(&self) -> Vec<(String, &Quantity, bool)> {
        let id = self.id();
        let mut all: Vec<(String, &Quantity, bool)> = Vec::new();
        for (name, _, quantity, counts) in self.parameters.named() {
            all.push((format!("{id}/{name}"), quantity, counts));
        }
        if let Some(over) = &self.over_floor {
            all.push((format!("{id}/over_floor"), &over.ratio, false));
        }
        all
    }

    fn detail(&self, _context: &Context<'_>) -> Vec<Block> {
        Vec::new()
    }
}
