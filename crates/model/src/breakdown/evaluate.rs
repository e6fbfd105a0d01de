//! The time of a model, how far it may be off, and how it is divided.

use std::collections::BTreeMap;

use super::{Errors, Layer, Model, Observed, Side, Stack, State, Term, deviation};

/// What a model gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value {
    /// The time, that of its longest row.
    pub ns: f64,
    /// How far it may be off.
    pub errors: Errors,
    /// Its parts, in the order of the row.
    pub parts: Vec<Part>,
}

/// What a component takes of a model's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The component's place among all.
    pub component: usize,
    /// Whose it is.
    pub layer: Layer,
    /// Where it is spent.
    pub side: Side,
    /// How long it takes, as often as the model counts it.
    pub ns: f64,
}

/// How a model's time is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Over components.
    Component,
    /// Over categories.
    Category,
    /// Over layers.
    Layer,
    /// Over sides.
    Side,
}

impl By {
    /// All, with their names.
    pub const ALL: [(By, &str); 4] = [
        (By::Component, "component"),
        (By::Category, "category"),
        (By::Layer, "layer"),
        (By::Side, "side"),
    ];
}

impl Stack {
    /// What a model gives in a state.
    pub fn value(&self, model: &Model, state: &State) -> Value {
        let all = model.rows.iter().map(|row| self.of_row(row, state));
        all.reduce(|one, other| if other.ns > one.ns { other } else { one }).unwrap_or_default()
    }

    fn of_row(&self, row: &[Term], state: &State) -> Value {
        let mut value = Value::default();
        for term in row {
            let of = &self.components[term.component];
            let per = term.per.as_ref().map_or(1.0, |name| state.parameters[name]);
            let times = term.times / per * state.factor(of.category, term);
            let ns = times * state.times[term.component];
            value.ns += ns;
            for (source, error) in &of.errors {
                let error = times * state.scales[term.component] * error;
                *value.errors.entry(source.clone()).or_default() += error;
            }
            let Term { component, layer, side, .. } = *term;
            value.parts.push(Part { component, layer, side, ns });
        }
        value
    }

    /// A model's time in parts; those on both sides count half on each.
    pub fn divided(&self, value: &Value, by: By) -> Vec<(String, f64)> {
        let mut parts: BTreeMap<(usize, String), f64> = BTreeMap::new();
        let mut add = |rank, name: String, ns| *parts.entry((rank, name)).or_default() += ns;
        for &Part { component, layer, side, ns } in &value.parts {
            let of = &self.components[component];
            match by {
                By::Component => add(component, of.name.clone(), ns),
                By::Category => add(of.category as usize, of.category.to_string(), ns),
                By::Layer => add(layer as usize, layer.to_string(), ns),
                By::Side => {
                    let both = [Side::Initiator, Side::Target];
                    let sides = if side == Side::Both { &both[..] } else { &[side] };
                    for one in sides {
                        add(*one as usize, one.to_string(), ns / sides.len() as f64);
                    }
                }
            }
        }
        parts.into_iter().map(|((_, name), ns)| (name, ns)).collect()
    }
}

impl Value {
    /// Its standard deviation; `None` where nothing is known of it.
    pub fn deviation(&self) -> Option<f64> {
        deviation(&self.errors)
    }

    /// modelled / observed − 1, and its standard deviation. The errors of both are independent.
    pub fn error(&self, observed: Observed) -> (f64, Option<f64>) {
        let own = self.deviation().map(|own| own / observed.ns);
        let other = observed.spread.map(|spread| self.ns * spread / (observed.ns * observed.ns));
        let off = match (own, other) {
            (None, None) => None,
            (own, other) => Some(own.unwrap_or(0.0).hypot(other.unwrap_or(0.0))),
        };
        (self.ns / observed.ns - 1.0, off)
    }

    /// (before − after) / before, and its standard deviation. An error that both have in common counts once.
    pub fn saved(&self, after: &Value) -> (f64, Option<f64>) {
        let (before, rest) = (self.ns, after.ns / self.ns);
        let mut off = Errors::new();
        for (source, error) in &self.errors {
            *off.entry(source.clone()).or_default() += error * rest / before;
        }
        for (source, error) in &after.errors {
            *off.entry(source.clone()).or_default() -= error / before;
        }
        (1.0 - rest, deviation(&off))
    }
}

/// Whether an error is at most `tolerance`: `None` where its interval is partly so.
pub fn verdict((low, high): (f64, f64), tolerance: f64) -> Option<bool> {
    if low >= -tolerance && high <= tolerance {
        Some(true)
    } else if high < -tolerance || low > tolerance {
        Some(false)
    } else {
        None
    }
}
