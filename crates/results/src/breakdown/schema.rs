//! Where the time of a message goes.

use std::collections::BTreeMap;

use bandgap_comm::Border;
use bandgap_model::breakdown::{Category, Layer, Provenance, Side};
use bandgap_record::{Number, Quantity, Seconds};
use serde::{Deserialize, Serialize};

use crate::measured::{LostLaunch, State};

/// Components, and models over them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Breakdown {
    /// The name of the table, or of the transport that was measured.
    pub name: String,
    /// The components, in the order of the table.
    pub components: Vec<ComponentTime>,
    /// Numbers by which coefficients are divided.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Number>,
    /// The models.
    pub models: Vec<ModelTime>,
    /// What models of the paper lack in a table that has none of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<LackingModel>,
    /// How it was measured; absent where the components were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
}

/// A component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComponentTime {
    /// Its name.
    pub name: String,
    /// What kind of part spends the time.
    pub category: Category,
    /// Whose it is.
    pub layer: Layer,
    /// Where it is spent.
    pub side: Side,
    /// How long it takes.
    pub time: Quantity,
    /// How it is known.
    pub provenance: Provenance,
    /// Standard deviations by where they come from; one that others have in common has the same name there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, Seconds>,
}

/// A model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelTime {
    /// Its name.
    pub name: String,
    /// Whether it is what the stack is modelled for.
    pub main: bool,
    /// What it gives.
    pub modelled: Quantity,
    /// What was observed; null where nothing was.
    pub observed: Option<Quantity>,
    /// The standard deviation of that; absent where none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_spread: Option<Seconds>,
    /// modelled / observed − 1; null where nothing was observed.
    pub error: Option<Quantity>,
    /// Whether that is at most 5 %; absent where nothing was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
    /// What it is the sum of; of several sums the longest counts.
    pub rows: Vec<Vec<TermOf>>,
    /// How the time is divided.
    pub divided: Vec<Divided>,
}

/// A component in a row of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TermOf {
    /// The component.
    pub component: String,
    /// Whose it is in this row.
    pub layer: Layer,
    /// Where it is spent in this row.
    pub side: Side,
    /// How many times over it counts.
    pub times: Number,
    /// The parameter by which that is divided; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<String>,
}

/// Whether a model is within 5 % of what was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Within {
    /// It is: so is the whole interval of the error, if there is one.
    Holds,
    /// It is not, and nothing of the interval is.
    Off,
    /// The interval is partly within.
    Undecided,
}

/// A model's time, divided in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Divided {
    /// `component`, `category`, `layer` or `side`.
    pub by: String,
    /// The parts, which sum up to the model.
    pub parts: Vec<PartTime>,
}

/// A part of a model's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartTime {
    /// What it is.
    pub name: String,
    /// How long it takes, as often as the model counts it.
    pub time: Seconds,
    /// What it is of the whole.
    pub share: Number,
}

/// A model that a table is not enough for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LackingModel {
    /// The model.
    pub model: String,
    /// The components that it needs and that are not there.
    pub components: Vec<String>,
}

/// How components were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The transport as the command line names it.
    pub transport: String,
    /// The machine state it was taken in.
    pub state: State,
    /// The rounds that the numbers rest on.
    pub rounds: Vec<ModelRounds>,
    /// Launches that gave it nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_launches: Vec<LostLaunch>,
    /// What an interval between two stamps contains of them; it was removed. Absent where what was timed are differences
    /// of times with as many stamps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Seconds>,
    /// Over shared memory: what of the software each way is hidden behind the transfer, and so is no component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<HiddenTime>,
    /// Over shared memory: what a stream's requester does of a message on one processor, over the time between two
    /// requests, less 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<Quantity>,
    /// Computations of known length that were inserted.
    pub inserted: Vec<Inserted>,
    /// The intervals between arrivals at the target, where requests come as fast as they can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
}

/// The rounds that a model and its components rest on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRounds {
    /// The model.
    pub model: String,
    /// Rounds in which everything of it was timed, without those below.
    pub rounds: u64,
    /// Further ones of which one value was outside its fence.
    pub outside: u64,
    /// How many times as long as the shortest the middle batch of a round without stamps is: the median over the rounds.
    pub held_up: Number,
}

/// Software that is hidden behind a transfer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HiddenTime {
    /// How long it takes; absent where that cannot be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Quantity>,
    /// `yes`; or why nothing counts as hidden: `longer_than_itself`, `no_computation`.
    pub seen: String,
}

/// A computation of known length that was inserted at a border.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inserted {
    /// Where.
    pub border: Border,
    /// The component that it is in.
    pub component: String,
    /// How long it takes by itself; before a poll, half of it.
    pub inserted: Seconds,
    /// By how much the component that it is in became longer.
    pub part: Quantity,
    /// Whether the component became longer by that, within 5 % or 5 ns.
    pub comes_back: Within,
    /// By how much half a round trip became longer, without stamps.
    pub whole: Quantity,
    /// Whether that is as much, within 5 % or 5 ns.
    pub whole_comes_back: Within,
}

/// Intervals between arrivals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arrivals {
    /// How many were kept, evenly spaced among all of each batch.
    pub count: u64,
    /// Shares of them, and the time that so many do not exceed.
    pub quantiles: Vec<(Number, Seconds)>,
}

impl Breakdown {
    /// The main models.
    pub(super) fn main(&self) -> impl Iterator<Item = &ModelTime> {
        self.models.iter().filter(|model| model.main)
    }
}

impl ModelTime {
    /// How it is divided in this way.
    pub fn by(&self, by: &str) -> &[PartTime] {
        self.divided.iter().find(|divided| divided.by == by).map_or(&[], |found| &found.parts)
    }

    /// The share of a part in this way.
    pub(super) fn share(&self, by: &str, name: &str) -> Option<f64> {
        self.by(by).iter().find(|part| part.name == name).map(|part| part.share.0)
    }
}
