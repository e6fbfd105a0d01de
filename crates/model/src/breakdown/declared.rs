//! What a table says of a model, before it is looked up.

/// A model as it is declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// What formulas call it.
    pub name: String,
    /// What readers call it; its name where there is none.
    pub label: Option<String>,
    /// Its formula.
    pub formula: String,
    /// Whether it is what the stack is modelled for, and not a step on the way.
    pub main: bool,
    /// What was observed.
    pub observed: Option<Observed>,
}

impl Declared {
    /// What readers call it.
    pub fn title(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }
}

/// What was observed of what a model stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// In nanoseconds.
    pub value: f64,
    /// Its standard deviation, where it is known.
    pub spread: Option<f64>,
}
