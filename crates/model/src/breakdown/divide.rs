//! How a model's time is divided over components, and how well it is known.

use std::collections::BTreeMap;

use super::evaluate::{Modelled, State};
use super::formula::Group;
use super::stack::Stack;

/// How the time of a model is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// By component.
    Component,
    /// By category.
    Category,
    /// By layer.
    Layer,
    /// By side.
    Side,
    /// By the terms of its formula.
    Term,
}

impl By {
    /// All ways.
    pub const ALL: [(By, &str); 5] = [
        (By::Component, "component"),
        (By::Category, "category"),
        (By::Layer, "layer"),
        (By::Side, "side"),
        (By::Term, "term"),
    ];

    /// The way that is called so.
    pub fn named(word: &str) -> Option<By> {
        By::ALL.iter().find(|(_, name)| *name == word).map(|(by, _)| *by)
    }
}

impl Stack {
    /// What components contribute to a model, in nanoseconds: derivative times time, which sum up to the
    /// model where it is a time. `only`: of these components.
    pub fn divided(
        &self,
        model: &Modelled,
        state: &State,
        by: By,
        only: Option<Group>,
    ) -> Vec<(String, f64)> {
        let parts = self.divided_uses(model, by, only).into_iter().map(|(key, uses)| {
            let time = uses.iter().map(|(component, times)| times * state.times[*component]).sum();
            (key, time)
        });
        if by == By::Term { model.terms.clone() } else { parts.collect() }
    }

    /// The derivatives of the parts of a model by the components in them; by term there are none.
    pub(super) fn divided_uses(
        &self,
        model: &Modelled,
        by: By,
        only: Option<Group>,
    ) -> Vec<(String, BTreeMap<usize, f64>)> {
        let mut parts: Vec<(usize, String, BTreeMap<usize, f64>)> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (&(component, side), times) in &model.uses {
            let one = &self.components()[component];
            let counts = match only {
                None | Some(Group::All) => true,
                Some(Group::Category(category)) => one.category == category,
                Some(Group::Layer(layer)) => one.layer == layer,
                Some(Group::Side(wanted)) => side == wanted,
            };
            if !counts {
                continue;
            }
            let (rank, key) = match by {
                By::Term => return Vec::new(),
                By::Component => (component, one.name.clone()),
                By::Category => (one.category as usize, one.category.to_string()),
                By::Layer => (one.layer as usize, one.layer.to_string()),
                By::Side => (side as usize, side.to_string()),
            };
            let place = *places.entry(key.clone()).or_insert_with(|| {
                parts.push((rank, key, BTreeMap::new()));
                parts.len() - 1
            });
            *parts[place].2.entry(component).or_default() += times;
        }
        parts.sort_by_key(|(rank, _, _)| *rank);
        parts.into_iter().map(|(_, key, uses)| (key, uses)).collect()
    }

    /// The standard deviation of a model: √Σ(∂m/∂c·s)² over the components c with a spread s. `None` where
    /// none has one.
    pub fn deviation(&self, sources: &BTreeMap<usize, f64>) -> Option<f64> {
        let spreads = sources.iter().filter_map(|(one, times)| Some(times * self.spread(*one)?));
        let squares: Vec<f64> = spreads.map(|spread| spread * spread).collect();
        (!squares.is_empty()).then(|| squares.iter().sum::<f64>().sqrt())
    }

    /// The covariance of two values by their derivatives: Σ ∂m/∂c·∂n/∂c·s² over the components c with a spread s.
    pub(super) fn covariance(
        &self,
        one: &BTreeMap<usize, f64>,
        other: &BTreeMap<usize, f64>,
    ) -> f64 {
        let both = one.iter().filter_map(|(from, times)| Some((from, times, other.get(from)?)));
        let common = both.filter_map(|(from, one, other)| {
            let spread = self.spread(*from)?;
            Some((one * spread) * (other * spread))
        });
        common.sum()
    }

    /// Of the given times behind a model, how many have a spread, and how many there are.
    pub fn spread_of(&self, model: &Modelled) -> (usize, usize) {
        let used = || model.sources.iter().filter(|(_, times)| **times != 0.0);
        (used().filter(|(one, _)| self.spread(**one).is_some()).count(), used().count())
    }
}
