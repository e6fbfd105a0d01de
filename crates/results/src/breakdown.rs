//! A breakdown of a message's time: components, and models over them.

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
    /// Further measurements; absent if the components were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Beside>,
}

/// A component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComponentTime {
    /// Its name.
    pub name: String,
    /// Its category.
    pub category: Category,
    /// Its layer.
    pub layer: Layer,
    /// Where it is spent.
    pub side: Side,
    /// How long it takes.
    pub time: Quantity,
    /// Its provenance.
    pub provenance: Provenance,
    /// Standard deviations by their source; components that share a source share its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, Seconds>,
}

/// A model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelTime {
    /// Its name.
    pub name: String,
    /// Whether it is a main model, which a screen shows.
    pub main: bool,
    /// Its prediction.
    pub modelled: Quantity,
    /// The observed time, if any.
    pub observed: Option<Quantity>,
    /// modelled / observed − 1; null without an observation.
    pub error: Option<Quantity>,
    /// Whether the error is at most 5 %; absent without an observation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
    /// Its sums of terms; the longest counts.
    pub rows: Vec<Vec<TermOf>>,
    /// The whole time, divided by component, category, layer and side.
    pub divided: Vec<PartsBy>,
}

/// A component in a row of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TermOf {
    /// The component.
    pub component: String,
    /// Its layer in this row.
    pub layer: Layer,
    /// Its side in this row.
    pub side: Side,
    /// Its coefficient.
    pub times: Number,
    /// The parameter that divides the coefficient, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<String>,
}

/// Whether a model is within 5 % of what was observed.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, Serialize, Deserialize)]
#[display(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Within {
    /// Yes, with the whole interval of the error if there is one.
    Holds,
    /// No, with the whole interval.
    Off,
    /// The interval is only partly within.
    Undecided,
}

/// A model's time, divided in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartsBy {
    /// `component`, `category`, `layer` or `side`.
    pub by: String,
    /// The parts, whose sum is the model's time.
    pub parts: Vec<PartTime>,
}

/// A part of a model's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartTime {
    /// What it is.
    pub name: String,
    /// Its time in the model.
    pub time: Seconds,
    /// Its share of the whole.
    pub share: Number,
}

/// Measurements other than the components.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// The cost of a stamp, which was removed from each interval between two stamps. Absent if times are differences in
    /// which the stamps cancel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Quantity>,
    /// The same, of intervals that end behind an awaited load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited_stamp: Option<Quantity>,
    /// Inside an MPI over shared memory: one store seen by the other core, half a round trip, which `transport` contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Quantity>,
    /// Inside an MPI: what the messages of each model passed: operations of UCT, `busy` ones, the protocol, a callback.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub passes: BTreeMap<String, String>,
    /// Over shared memory: the software's time per way that the transfer hides; it is no component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Quantity>,
    /// What the processor does at once with something else when no stamp is there: half a round trip with a stamp at every
    /// place, less one without and the stamps. It is no component, and in no model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Quantity>,
    /// Computations of known length that were inserted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inserted: Vec<Inserted>,
}

/// A computation of known length that was inserted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inserted {
    /// The component that it is in.
    pub component: String,
    /// Its own duration; half of it if it stands before a poll.
    pub inserted: Seconds,
    /// By how much the component became longer.
    pub part: Quantity,
    /// Whether `part` equals `inserted` within 5 % or 5 ns.
    pub comes_back: Within,
    /// By how much half a round trip without stamps became longer.
    pub whole: Quantity,
    /// Whether `whole` equals `inserted` likewise.
    pub whole_comes_back: Within,
}

impl ModelTime {
    /// How it is divided in this way.
    pub fn by(&self, by: &str) -> &[PartTime] {
        self.divided.iter().find(|divided| divided.by == by).map_or(&[], |found| &found.parts)
    }

    /// The same, the greatest part first.
    fn ranked(&self, by: &str) -> Vec<PartTime> {
        let mut parts = self.by(by).to_vec();
        parts.sort_by(|a, b| b.share.0.total_cmp(&a.share.0));
        parts
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
