//! A LogP signature: points (M, Δ), and the parameters read from them.

use bandgap_model::signature::Cause;
use bandgap_model::{Kind, Regime};
use bandgap_record::{Number, Quantity, Seconds};
use bandgap_units::Ns;
use derive_more::Display;
use serde::{Deserialize, Serialize};

use crate::measured::{Batch, FloorRatio, LostLaunch, Pair, Pattern, State, Summary, of_ranks};

/// One LogP signature on one transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Logp {
    /// `signature`; of transfers `bulk_store_signature` or `bulk_get_signature`.
    pub name: String,
    /// What is done with each request's bytes; absent for small messages, which have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// Bytes that each request moves (n); absent for small messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The transport as the command line names it.
    pub transport: String,
    /// Number of ranks that took part.
    pub ranks: u32,
    /// Who sends to whom.
    pub pattern: Pattern,
    /// The rank whose times these are, and the rank it sends to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<Pair>,
    /// The processors these two are pinned to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<Pair>,
    /// The distance class between them: `same package`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<String>,
    /// Number of fresh sets of processes the measurement was repeated in.
    pub launches: u32,
    /// Launches that give no signature in the main state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_launches: Vec<LostLaunch>,
    /// The machine state that the parameters hold in.
    pub state: State,
    /// The parameters.
    pub parameters: Parameters,
    /// What bounds the message rate.
    pub regime: Regime,
    /// Where the send-only regime ends; none where there is no such regime, or where os is not
    /// above 0 and no capacity was seen.
    pub transition: Option<Transition>,
    /// The right arm of the hinge g'(Δ) = max(g, os + or + Δ).
    pub arm: Option<Arm>,
    /// All arms, Δ ascending; the last is the far one, from which or is read. None in older runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arms: Vec<ArmLevel>,
    /// Half of the round trip over a floor, taken in the same state.
    pub floor_ratios: Vec<FloorRatio>,
    /// The measured points.
    pub points: Vec<Point>,
    /// Straight lines elapsed(M) fitted through points of one Δ.
    pub lines: Vec<Line>,
    /// The parameters in the machine's other states.
    pub other_states: Vec<OtherState>,
    /// What a reader should know, as sentences.
    pub findings: Vec<String>,
}

impl Logp {
    /// Whether it is one of bulk transfers, rather than of small messages.
    pub fn is_of_transfers(&self) -> bool {
        self.operation.is_some()
    }

    /// The delays Δ of the issue points, each once, ascending.
    pub(crate) fn delays(&self) -> Vec<Ns> {
        let issue = self.points.iter().filter(|point| point.measure == Kind::Issue);
        let mut delays: Vec<Ns> = issue.map(|point| point.delay.ns()).collect();
        delays.sort_by(|a, b| a.0.total_cmp(&b.0));
        delays.dedup();
        delays
    }

    /// Where a point is, by a name that no other one has.
    pub(crate) fn place(&self, point: &Point) -> String {
        let (all, delay) = (self.delays(), point.delay.ns());
        let at = all.iter().position(|known| *known == delay);
        match (point.measure, at) {
            (Kind::Issue, Some(at)) => {
                format!("M = {} at Δ = {}", point.messages, Ns::distinct(&all)[at])
            }
            _ => "the round trip".to_owned(),
        }
    }

    /// Who talks to whom, on which processors: `one-to-one, 2 ranks, rank 0 on core 0 → …`.
    pub(crate) fn participants(&self, arrow: &str) -> String {
        let who = of_ranks(self.ranks, self.pair, self.cores, arrow);
        let distance = self.distance.as_ref().map(|distance| format!(" ({distance})"));
        format!("{}, {who}{}", self.pattern, distance.unwrap_or_default())
    }
}

/// How bytes are moved from memory to memory.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, Serialize, Deserialize)]
#[display(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Into the replier's memory, before the request is handled.
    Store,
    /// Out of the replier's memory.
    Get,
}

/// The LogP parameters and what they are derived from. A missing one was not determined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// os: what the processor spends on a request; over shared memory waiting for a cache line is
    /// part of it.
    pub send_overhead: Option<Quantity>,
    /// or: what it spends to receive a reply and run its handler, waiting for a line likewise.
    pub recv_overhead: Option<Quantity>,
    /// g: the least time between messages at a steady rate.
    pub gap: Option<Quantity>,
    /// L = RTT/2 − os − or; of transfers RTT − os − or − RTT(0)/2.
    pub latency: Option<Quantity>,
    /// Time from a single request to its reply.
    pub rtt: Option<Quantity>,
    /// g − os − or: what the requester waits per message at full rate.
    pub idle: Option<Quantity>,
    /// Messages that may be under way before a request stalls.
    pub capacity: Option<Quantity>,
}

/// Where the send-only regime ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transition {
    /// After how many messages.
    pub messages: Number,
    /// What ends it.
    pub cause: Cause,
}

/// The right arm of the hinge, where message cost should rise with Δ one for one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Its slope; the model says 1.
    pub slope: Quantity,
    /// The Δ from which the slope is 1.
    pub from_delay: Seconds,
    /// Whether the slope is 1 within 5 %; absent where its interval leaves that open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
}

/// Delays over which the cost of a message is os + or + Δ, on one level: an arm of the hinge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmLevel {
    /// The shortest Δ on it.
    pub from_delay: Seconds,
    /// The longest Δ on it, of those that were measured.
    pub to_delay: Seconds,
    /// The number of Δ on it.
    pub delays: u64,
    /// os + or on it.
    pub overheads: Quantity,
    /// The same less os.
    pub recv_overhead: Quantity,
    /// Its slope; absent where it is a single Δ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<Quantity>,
    /// Whether the slope is 1 within 5 %; absent where its interval leaves that open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
}

impl ArmLevel {
    /// Whether cost = os + or + Δ with this Δ is not refuted, as far as was measured.
    pub(crate) fn has(&self, delay: Ns) -> bool {
        self.holds != Some(false) && (self.from_delay.ns()..=self.to_delay.ns()).contains(&delay)
    }
}

/// One experiment (M, Δ).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// What was timed.
    pub measure: Kind,
    /// M.
    pub messages: u64,
    /// Δ.
    pub delay: Seconds,
    /// elapsed / M, with Δ in it.
    pub cost: Quantity,
    /// Time of the whole issue phase.
    pub elapsed: Quantity,
    /// The samples behind it, rejected batches included.
    pub batches: Vec<Batch>,
    /// Whether the interval came within the wanted precision.
    pub converged: bool,
    /// Whether it did not, but came within that share of what a stamp of the clock costs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clock_limited: bool,
    /// The distribution of `elapsed` over the accepted samples.
    pub summary: Summary,
}

/// A straight line elapsed(M) = intercept + slope·M.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The parameter it gives: `send_overhead`, `gap`.
    pub name: String,
    /// Δ of the points it runs through.
    pub delay: Seconds,
    /// Elapsed time at M = 0.
    pub intercept: Quantity,
    /// Time per message.
    pub slope: Quantity,
    /// Smallest M used.
    pub from: u64,
    /// Largest M used.
    pub to: u64,
}

/// The parameters in a state that is not the main one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OtherState {
    /// The state.
    pub state: State,
    /// Its parameters.
    pub parameters: Parameters,
    /// Its regime.
    pub regime: Regime,
    /// Launches that give no signature in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_launches: Vec<LostLaunch>,
}
