//! Where the time of a message goes: components, and models over them.

pub(crate) mod blocks;

use std::collections::BTreeMap;

use bandgap_model::breakdown::{Category, Layer, Provenance, Side};
use bandgap_record::{Number, Quantity, Seconds};
use derive_more::Display;
use serde::{Deserialize, Serialize};

/// Components, and models over them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Breakdown {
    /// The name of the table, or the transport that was measured.
    pub name: String,
    /// The components, in the order of the table.
    pub components: Vec<ComponentTime>,
    /// Numbers by which coefficients are divided.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Number>,
    /// The models.
    pub models: Vec<ModelTime>,
    /// What else was measured; absent where the components were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Beside>,
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
    /// modelled / observed − 1; null where nothing was observed.
    pub error: Option<Quantity>,
    /// Whether that is at most 5 %; absent where nothing was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
    /// What it is the sum of; of several sums the longest counts.
    pub rows: Vec<Vec<TermOf>>,
    /// Its parts by component, category, layer and side, each time the whole.
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
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, Serialize, Deserialize)]
#[display(rename_all = "lowercase")]
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

/// What was measured beside the components.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// What an interval between two stamps contains of them; it was removed. Absent where what was timed are
    /// differences of times with as many stamps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Seconds>,
    /// Over shared memory: what of the software each way is hidden behind the transfer, and so is no component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Quantity>,
    /// Computations of known length that were inserted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inserted: Vec<Inserted>,
}

/// A computation of known length that was inserted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inserted {
    /// The component that it is in.
    pub component: String,
    /// How long it takes by itself; before a poll, half of it.
    pub inserted: Seconds,
    /// By how much the component became longer.
    pub part: Quantity,
    /// Whether that is as much, within 5 % or 5 ns.
    pub comes_back: Within,
    /// By how much half a round trip became longer, without stamps.
    pub whole: Quantity,
    /// Whether that is as much.
    pub whole_comes_back: Within,
}

impl ModelTime {
    /// How it is divided in this way.
    pub fn by(&self, by: &str) -> &[PartTime] {
        self.divided.iter().find(|divided| divided.by == by).map_or(&[], |found| &found.parts)
    }
}

impl Breakdown {
    /// Its id: `breakdown/unix`.
    pub fn id(&self) -> String {
        format!("breakdown/{}", self.name)
    }

    fn main(&self) -> impl Iterator<Item = &ModelTime> {
        self.models.iter().filter(|model| model.main)
    }

    /// The model that a screen divides: the latency, or else the longest.
    fn first(&self) -> Option<&ModelTime> {
        let longest =
            |a: &&ModelTime, b: &&ModelTime| a.modelled.value.0.total_cmp(&b.modelled.value.0);
        self.main().find(|model| model.name == "latency").or_else(|| self.main().max_by(longest))
    }

    fn component(&self, name: &str) -> Option<&ComponentTime> {
        self.components.iter().find(|one| one.name == name)
    }

    fn title(&self) -> String {
        let of = if self.measured.is_some() { "over" } else { "of" };
        format!("Breakdown {of} {}", self.name)
    }
}

#[cfg(test)]
pub(crate) mod tests;
