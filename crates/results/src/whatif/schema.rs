//! What a change of components would bring.

use bandgap_record::{Number, Quantity, Seconds};
use serde::{Deserialize, Serialize};

use crate::breakdown::Within;

/// Changes of a table's components, and what they save.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    /// The name of the table, or of the transport that was measured.
    pub name: String,
    /// The changes, all made together; empty where none were asked for.
    pub changes: Vec<ChangeMade>,
    /// The main models without and with them.
    pub models: Vec<ModelChange>,
    /// What each component by itself would save, without the changes.
    pub ranking: Vec<Ranking>,
    /// Speed-ups over reductions, each by itself.
    pub curves: Vec<SpeedUpCurve>,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeMade {
    /// What is changed: a component, a model, a parameter, a category, a layer or a side.
    pub component: String,
    /// By which share its time is reduced, negative where it grows; null where it took no time before, and of parameters.
    pub reduction: Option<Number>,
    /// To which time it is set; absent where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<Seconds>,
    /// To which number a parameter is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<Number>,
}

/// A model without and with the changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelChange {
    /// Its name.
    pub name: String,
    /// Its time without them.
    pub before: Quantity,
    /// What was observed of it, without them; absent where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Quantity>,
    /// before / observed − 1; absent where nothing was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Quantity>,
    /// Whether that is at most 5 %; absent where nothing was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
    /// Its time with them.
    pub after: Quantity,
    /// (before − after) / before: the share of the time that is saved.
    pub speedup: Quantity,
}

/// What each component by itself would save of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// The model.
    pub model: String,
    /// By which share each component is reduced.
    pub reduction: Number,
    /// The components, those that save most first.
    pub components: Vec<RankedComponent>,
}

/// What a component by itself would save.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedComponent {
    /// The component.
    pub component: String,
    /// The share of the model's time that is saved.
    pub speedup: Quantity,
}

/// Speed-ups of a model by reducing one thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeedUpCurve {
    /// The model.
    pub model: String,
    /// What is reduced.
    pub of: String,
    /// Reductions, ascending, and the share of the model's time that each saves.
    pub points: Vec<(Number, Number)>,
}
