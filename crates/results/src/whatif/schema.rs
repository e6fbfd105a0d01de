//! What a change of components would bring.

use bandgap_record::{Number, Quantity, Seconds};
use serde::{Deserialize, Serialize};

use crate::breakdown::Within;

/// Changes of a table's components, and what they save.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    /// The name of the table, or of the stack that was measured.
    pub name: String,
    /// The changes, all made together; empty where none were asked for.
    pub changes: Vec<ChangeMade>,
    /// The main models without and with them.
    pub models: Vec<ModelChange>,
    /// What each component by itself would save.
    pub ranking: Vec<Ranking>,
    /// Speed-ups over reductions.
    pub curves: Vec<SpeedUps>,
    /// What follows from the numbers, and what a reader should know, as sentences.
    pub findings: Vec<String>,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeMade {
    /// What is changed: a component, a model, a category, a layer or a side.
    pub component: String,
    /// By which share its time is reduced, negative where it grows; null where it took no time before.
    pub reduction: Option<Number>,
    /// To which time it is set; absent where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<Seconds>,
}

/// A model without and with the changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelChange {
    /// What formulas call it.
    pub name: String,
    /// What readers call it; absent where that is its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
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
    /// What readers call it; absent where that is its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
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
    /// What readers call it; absent where that is its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The share of the model's time that is saved.
    pub speedup: Quantity,
}

/// Speed-ups of a model over reductions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeedUps {
    /// What is shown.
    pub title: String,
    /// The model.
    pub model: String,
    /// A curve for each thing that is reduced.
    pub curves: Vec<SpeedUpCurve>,
}

/// Speed-ups by reducing one thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeedUpCurve {
    /// What is reduced.
    pub of: String,
    /// By ascending reduction.
    pub points: Vec<SpeedUpPoint>,
}

/// A speed-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeedUpPoint {
    /// The share by which it is reduced.
    pub reduction: Number,
    /// The share of the model's time that is saved.
    pub speedup: Number,
    /// The lower end of its interval; null where there is none.
    pub low: Option<Number>,
    /// The upper end.
    pub high: Option<Number>,
}

impl ModelChange {
    /// What readers call it.
    pub fn title(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }
}

impl Ranking {
    /// What readers call the model.
    pub fn title(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.model)
    }
}

impl RankedComponent {
    /// What readers call it.
    pub fn title(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.component)
    }
}
