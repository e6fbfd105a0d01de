//! Components of a message's way, models over them, and what a change would bring.
//!
//! - this file: components, models and both together.
//! - `evaluate`: the time of a model, its error and its shares.
//! - `whatif`: the same after changes.
//! - `template`: the models of one stack over the components of another.
//!
//! *Formula*: a model is a row of coefficients c over components with times t: its time is Σ c·t. A model with several
//! rows takes as long as the longest of them: what bounds it.
//!
//! *Assumes*: components do not overlap. Their errors are independent, except where they have a source in common.
//!
//! *Source*: "Breaking Band", sections 4 to 7.

mod evaluate;
mod template;
mod whatif;

use std::collections::{BTreeMap, BTreeSet};

pub use bandgap_units::{Category, Layer, Provenance, Side};

pub use evaluate::{By, Part, Value, verdict};
pub use template::Lacking;
pub use whatif::{Becomes, Change, State};

/// A time is 0, or from the second to the first of these, in nanoseconds. So squares of errors and quotients of times
/// are numbers too.
pub const LONGEST: f64 = 1e18;
/// The shortest time but 0.
pub const SHORTEST: f64 = 1e-21;
/// The largest coefficient or parameter.
pub const LARGEST: f64 = 1e6;

/// Standard deviations in nanoseconds by where they come from. One that several components have in common has the
/// same name in each, and a sign.
pub type Errors = BTreeMap<String, f64>;

/// The standard deviation of what has these errors; `None` where nothing is known of them.
pub fn deviation(errors: &Errors) -> Option<f64> {
    errors.values().map(|error| error.abs()).reduce(f64::hypot)
}

/// Something on the way of a message that takes time.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// What kind of part spends the time.
    pub category: Category,
    /// Whose it is.
    pub layer: Layer,
    /// Where it is spent.
    pub side: Side,
    /// How long it takes.
    pub ns: f64,
    /// How far that may be off; empty where nothing is known.
    pub errors: Errors,
    /// How it is known.
    pub provenance: Provenance,
}

impl Component {
    /// The same with this standard deviation, independent of all others.
    pub fn spread(mut self, deviation: Option<f64>) -> Self {
        self.errors = deviation.map(|own| (self.name.clone(), own)).into_iter().collect();
        self
    }
}

/// A component in a row of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The component's place among all.
    pub component: usize,
    /// Whose it is in this row.
    pub layer: Layer,
    /// Where it is spent in this row.
    pub side: Side,
    /// How many times over it counts.
    pub times: f64,
    /// The parameter by which that is divided.
    pub per: Option<String>,
}

/// What was observed of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// The time.
    pub ns: f64,
    /// Its standard deviation.
    pub spread: Option<f64>,
}

/// A model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// Its rows, of which the longest counts.
    pub rows: Vec<Vec<Term>>,
    /// Whether it is what the stack is modelled for.
    pub main: bool,
    /// What was observed.
    pub observed: Option<Observed>,
}

/// Components and models together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stack {
    /// The components.
    pub components: Vec<Component>,
    /// Numbers by which coefficients are divided, by name.
    pub parameters: BTreeMap<String, f64>,
    /// The models.
    pub models: Vec<Model>,
}

impl Stack {
    /// The place of a component.
    pub fn component(&self, name: &str) -> Option<usize> {
        self.components.iter().position(|one| one.name == name)
    }

    /// The model of this name.
    pub fn model(&self, name: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.name == name)
    }

    /// A term of a component where and as often as it usually is.
    pub fn term(&self, component: usize, times: f64) -> Term {
        let Component { layer, side, .. } = self.components[component];
        Term { component, layer, side, times, per: None }
    }

    /// Adds a component; its place.
    pub fn push(&mut self, component: Component) -> usize {
        self.components.push(component);
        self.components.len() - 1
    }

    /// Adds a main model whose rows are sums of these components.
    pub fn sums(&mut self, name: &str, rows: &[&[usize]], observed: Option<Observed>) {
        let row = |row: &&[usize]| row.iter().map(|at| self.term(*at, 1.0)).collect();
        let rows = rows.iter().map(row).collect();
        self.models.push(Model { name: name.to_owned(), rows, main: true, observed });
    }

    /// Makes those with an observed time the main models, or all where there is none.
    pub fn observed_are_main(&mut self) {
        let any = self.models.iter().any(|model| model.observed.is_some());
        for model in &mut self.models {
            model.main = !any || model.observed.is_some();
        }
    }

    /// Whether names mean one thing, and terms and numbers are what evaluation takes; or what is wrong, with the name.
    ///
    /// # Errors
    /// They are not.
    pub fn check(&self) -> Result<(), (String, String)> {
        let is_time = |ns: f64| ns == 0.0 || (SHORTEST..=LONGEST).contains(&ns);
        let is_spread = |ns: f64| ns.abs() <= LONGEST;
        let wrong = |name: &str, why: &str| Err((name.to_owned(), format!("'{name}' {why}")));
        let mut seen = BTreeSet::new();
        let components = self.components.iter().map(|one| &one.name);
        let models = self.models.iter().map(|model| &model.name);
        for name in components.chain(self.parameters.keys()).chain(models) {
            // In a table it would be a comment.
            if name.is_empty() || name.len() > 80 || name.starts_with('#') {
                return wrong(name, "cannot be a name: 1 to 80 bytes, the first no '#'");
            }
            if !seen.insert(name) {
                return wrong(name, "is there twice");
            }
        }
        for Component { name, ns, errors, .. } in &self.components {
            if !is_time(*ns) || !errors.values().all(|error| is_spread(*error)) {
                let why = "must be 0, or from 1e-21 to 1e18 ns, its spread at most 1e18 ns";
                return wrong(name, why);
            }
        }
        let is_number = |number: f64| number.abs() <= LARGEST;
        for (name, value) in &self.parameters {
            if !(is_number(*value) && *value >= 1.0 / LARGEST) {
                return wrong(name, "must be from 1e-6 to 1e6");
            }
        }
        for Model { name, rows, observed, .. } in &self.models {
            let fits = |term: &Term| {
                term.component < self.components.len()
                    && is_number(term.times)
                    && term.per.as_ref().is_none_or(|per| self.parameters.contains_key(per))
            };
            let places = |row: &Vec<Term>| {
                let place = |term: &Term| (term.component, term.layer, term.side);
                row.iter().map(place).collect::<BTreeSet<_>>().len() == row.len()
            };
            if rows.is_empty() || !rows.iter().all(places) || !rows.iter().flatten().all(fits) {
                return wrong(name, "has coefficients that mean nothing");
            }
            let spread = |observed: &Observed| {
                observed.spread.is_none_or(|own| is_spread(own) && own >= 0.0)
            };
            if !observed.iter().all(|of| is_time(of.ns) && of.ns > 0.0 && spread(of)) {
                let why = "was observed as what is no time: it must be from 1e-21 to 1e18 ns";
                return wrong(name, why);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
