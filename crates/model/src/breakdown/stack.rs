//! Components and models together.
//!
//! - `check`: how they come together: names that mean something, no circles, parts that sum up.
//! - `names`: what may be a name.
//! - `times`: the times of components, given and derived.
//! - `models`: the values of models.
//! - `order`: in which order formulas that name each other are computed.

mod check;
mod models;
mod names;
mod order;
mod times;

use std::collections::{BTreeMap, HashMap};

use super::component::{Component, Time};
use super::declared::Declared;
use super::evaluate::{State, Uses};
use super::formula::{Formula, Group};

/// What is wrong with a stack. Reads after "failed to …: ".
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{why}")]
pub struct StackError {
    /// The component or model that it is wrong in.
    pub subject: String,
    /// What is wrong.
    pub why: String,
    /// A name that means nothing, where that is what is wrong.
    pub unknown: Option<String>,
}

impl StackError {
    pub(super) fn new(subject: &str, why: impl Into<String>) -> StackError {
        StackError { subject: subject.to_owned(), why: why.into(), unknown: None }
    }
}

type Checked<T = ()> = Result<T, StackError>;

/// Components and models, checked.
#[derive(Clone, Debug)]
pub struct Stack {
    components: Vec<Component>,
    /// The parts of each component.
    parts: Vec<Vec<usize>>,
    /// The components without parts that belong to each group.
    groups: BTreeMap<Group, Vec<usize>>,
    /// The time of each component in nanoseconds.
    times: Vec<f64>,
    /// The derivatives of each by the times that were given.
    sources: Vec<Uses>,
    models: Vec<Model>,
    /// The models, each after those that its formula names.
    order: Vec<usize>,
    names: HashMap<String, Named>,
    /// How many derivatives are added up for all models together.
    uses: usize,
    /// Why what has such a name elsewhere is no component here.
    lacking: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
struct Model {
    declared: Declared,
    formula: Formula,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Named {
    Component(usize),
    Model(usize),
}

impl Stack {
    /// All components.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// The component of this name.
    pub fn component_named(&self, name: &str) -> Option<&Component> {
        match self.names.get(name) {
            Some(Named::Component(at)) => self.components.get(*at),
            _ => None,
        }
    }

    /// How many derivatives are added up for all models together: what it takes to evaluate them.
    pub fn uses(&self) -> usize {
        self.uses
    }

    /// The stack, and why what has this name in others of its kind is no component in it.
    #[must_use]
    pub fn lacking(mut self, name: &str, why: &str) -> Stack {
        self.lacking.insert(name.to_owned(), why.to_owned());
        self
    }

    /// Why a name is that of no component here, where that is known.
    pub(super) fn lacks(&self, name: &str) -> Option<&str> {
        self.lacking.get(name).map(String::as_str)
    }

    /// The components that have no parts, without those that stand apart: each time counts once among them.
    pub fn leaves(&self) -> impl Iterator<Item = usize> {
        let counts = |at: &usize| self.parts[*at].is_empty() && !self.components[*at].apart;
        (0..self.components.len()).filter(counts)
    }

    /// The models as they were declared.
    pub fn models(&self) -> impl ExactSizeIterator<Item = &Declared> {
        self.models.iter().map(|model| &model.declared)
    }

    /// The place of a model.
    pub fn model(&self, name: &str) -> Option<usize> {
        match self.names.get(name) {
            Some(Named::Model(at)) => Some(*at),
            _ => None,
        }
    }

    /// The components without parts that a component's name stands for.
    pub(super) fn component(&self, name: &str) -> Option<Vec<usize>> {
        match self.names.get(name) {
            Some(Named::Component(at)) => Some(self.leaves_of(*at)),
            _ => None,
        }
    }

    fn leaves_of(&self, at: usize) -> Vec<usize> {
        if self.parts[at].is_empty() { vec![at] } else { self.parts[at].clone() }
    }

    /// The components without parts that belong to a group.
    pub(super) fn grouped(&self, group: Group) -> &[usize] {
        self.groups.get(&group).map_or(&[], Vec::as_slice)
    }

    /// The time of each component in nanoseconds, as given or derived.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The standard deviation of a component's time in nanoseconds, where one was given.
    pub fn spread(&self, component: usize) -> Option<f64> {
        match self.components[component].time {
            Time::Given { spread, .. } => spread,
            Time::Derived(_) => None,
        }
    }

    /// The derivatives of a component's time by the times that were given.
    pub fn sources(&self, component: usize) -> BTreeMap<usize, f64> {
        self.sources[component].iter().map(|((from, _), times)| (*from, *times)).collect()
    }

    /// The components as they are.
    pub fn state(&self) -> State {
        State { times: self.times.clone(), factors: vec![1.0; self.times.len()] }
    }
}
