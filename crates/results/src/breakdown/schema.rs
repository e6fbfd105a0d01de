//! Where the time of a message goes.

use bandgap_comm::Border;
use bandgap_model::breakdown::{Category, Layer, Provenance, Side};
use bandgap_record::{Number, Quantity, Seconds};
use serde::{Deserialize, Serialize};

use crate::measured::{LostLaunch, State};

/// Components, and models over them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Breakdown {
    /// The name of the table, or of the stack that was measured.
    pub name: String,
    /// What it stands for; may be empty.
    pub description: String,
    /// The components, in the order of the table.
    pub components: Vec<ComponentTime>,
    /// The models.
    pub models: Vec<ModelTime>,
    /// Stacked bars.
    pub figures: Vec<BarFigure>,
    /// What follows from the numbers, and what a reader should know, as sentences.
    pub findings: Vec<String>,
    /// How it was measured; absent where the components were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
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

/// A component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComponentTime {
    /// What formulas call it.
    pub name: String,
    /// What readers call it; absent where that is its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What kind of part spends the time.
    pub category: Category,
    /// Whose it is.
    pub layer: Layer,
    /// Where it is spent.
    pub side: Side,
    /// How long it takes.
    pub time: Quantity,
    /// Its standard deviation; absent where none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Seconds>,
    /// How it is known.
    pub provenance: Provenance,
    /// From which others it follows; absent where it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// The component that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
    /// Whether it is only what others are derived from; absent where it is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
}

/// A model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelTime {
    /// What formulas call it.
    pub name: String,
    /// What readers call it; absent where that is its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its formula.
    pub formula: String,
    /// Whether it is what the stack is modelled for.
    pub main: bool,
    /// What the formula gives.
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
    /// How the time is divided; empty of a plain number.
    pub divided: Vec<Divided>,
}

/// Whether a model is within 5 % of what was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Within {
    /// It is: so is the whole interval of the error, if there is one.
    Yes,
    /// It is not, and nothing of the interval is.
    No,
    /// The interval is partly within.
    Undecided,
}

/// A model's time, divided in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Divided {
    /// `component`, `category`, `layer`, `side` or `term`.
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

/// A figure of stacked bars.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BarFigure {
    /// What it shows.
    pub title: String,
    /// The bars.
    pub bars: Vec<StackedBar>,
}

/// A stacked bar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StackedBar {
    /// What is divided.
    pub name: String,
    /// How long it takes.
    pub whole: Seconds,
    /// Its parts.
    pub parts: Vec<PartTime>,
}

impl ComponentTime {
    /// What readers call it.
    pub fn title(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }
}

impl ModelTime {
    /// What readers call it.
    pub fn title(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }

    /// How it is divided in this way.
    pub fn by(&self, by: &str) -> &[PartTime] {
        self.divided.iter().find(|divided| divided.by == by).map_or(&[], |found| &found.parts)
    }
}
