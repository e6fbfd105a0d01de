//! The values of a stack's models.

use std::collections::{BTreeMap, BTreeSet};

use super::{Checked, Model, Named, Stack, StackError};
use crate::breakdown::component::Side;
use crate::breakdown::evaluate::{Meaning, Modelled, State, Uses, Value, derive, product, value};
use crate::breakdown::formula::{Group, Node};

/// Derivatives that are added up for the formulas of all models together, and for those of all derived times. Each
/// takes memory, and time whenever something is changed.
pub(super) const MOST_USES: usize = 1 << 15;

/// Why a stack is refused that has more.
pub(super) fn too_many(of: &str) -> String {
    format!("the formulas of the {of} use components more than {MOST_USES} times together")
}

impl Stack {
    /// All models, in the order of their declarations. One that divides by a component that changes took
    /// away is not finite.
    ///
    /// # Errors
    /// The formula of one is neither a time nor a number.
    pub fn evaluated(&self, state: &State) -> Checked<Vec<Modelled>> {
        Ok(self.known(state, &self.order)?.0.into_iter().flatten().collect())
    }

    /// One model, without those that it does not rest on.
    ///
    /// # Errors
    /// The formula of one is neither a time nor a number.
    pub fn evaluated_one(&self, model: usize, state: &State) -> Checked<Modelled> {
        let needed = self.needed(model);
        let order = self.order.iter().copied().filter(|at| needed.contains(at));
        let (mut known, _) = self.known(state, &order.collect::<Vec<usize>>())?;
        known.swap_remove(model).ok_or_else(|| StackError::new("", "there is no such model"))
    }

    /// The components without parts that a model's formula names or sums up, itself or by other models: also those
    /// that are not the largest of several now.
    pub(in crate::breakdown) fn named_in(&self, model: usize) -> Vec<usize> {
        let mut found = BTreeSet::new();
        for at in self.needed(model) {
            for node in self.models[at].formula.nodes() {
                match node {
                    Node::Name { name, .. } => {
                        found.extend(self.component(name).unwrap_or_default())
                    }
                    Node::Group(group) => found.extend(self.grouped(*group)),
                    _ => {}
                }
            }
        }
        found.into_iter().collect()
    }

    /// A model, and those that it rests on.
    fn needed(&self, model: usize) -> BTreeSet<usize> {
        let mut needed = BTreeSet::from([model]);
        let mut open = vec![model];
        while let Some(at) = open.pop() {
            let names = self.models[at].formula.names();
            let others = names.into_iter().filter_map(|name| self.model(name));
            open.extend(others.filter(|other| needed.insert(*other)));
        }
        needed
    }

    /// The models of `order`, each after those that it needs, and how many derivatives were added up.
    pub(super) fn known(
        &self,
        state: &State,
        order: &[usize],
    ) -> Checked<(Vec<Option<Modelled>>, usize)> {
        let mut known = Changed { stack: self, state, models: vec![None; self.models.len()] };
        let mut used = 0;
        for &at in order {
            let Model { declared, formula } = &self.models[at];
            let wrong = |why: String| StackError::new(&declared.name, why);
            used += formula.nodes().into_iter().map(|node| known.additions(node)).sum::<usize>();
            if used > MOST_USES {
                return Err(wrong(too_many("models")));
            }
            let found = value(formula, &known).map_err(wrong)?;
            if !(0..=1).contains(&found.power) {
                let why =
                    format!("the formula of '{}' gives neither a time nor a number", declared.name);
                return Err(wrong(why));
            }
            let mut uses = Uses::new();
            derive(formula, &known, 1.0, &mut uses);
            let of = |((component, _), _): (&(usize, Side), &f64)| self.sources[*component].len();
            used += uses.iter().map(of).sum::<usize>();
            if used > MOST_USES {
                return Err(wrong(too_many("models")));
            }
            let mut sources = BTreeMap::new();
            for ((component, _), times) in &uses {
                for ((from, _), of) in &self.sources[*component] {
                    *sources.entry(*from).or_insert(0.0) += times * state.factors[*component] * of;
                }
            }
            let terms = formula.terms.iter().map(|term| {
                let found = product(term, &known).map_or(f64::NAN, |found| found.number);
                (term.text.clone(), if term.negative { -found } else { found })
            });
            known.models[at] = Some(Modelled {
                value: found.number,
                is_time: found.power == 1,
                uses,
                terms: terms.collect(),
                sources,
            });
        }
        Ok((known.models, used))
    }
}

/// Names of components with their parts, and of models that are known already.
struct Changed<'a> {
    stack: &'a Stack,
    state: &'a State,
    models: Vec<Option<Modelled>>,
}

impl Changed<'_> {
    /// How many derivatives are added up for a part of a formula.
    fn additions(&self, node: &Node) -> usize {
        let count = match node {
            Node::Name { name, .. } => match self.stack.names.get(name) {
                Some(Named::Component(at)) => self.stack.parts[*at].len(),
                Some(Named::Model(at)) => {
                    self.models[*at].iter().map(|model| model.uses.len()).sum()
                }
                None => 1,
            },
            Node::Group(group) => self.group(*group).len(),
            _ => 1,
        };
        count.max(1)
    }
}

impl Meaning for Changed<'_> {
    fn value(&self, name: &str) -> Value {
        match self.stack.names.get(name) {
            Some(Named::Component(at)) => {
                let leaves = self.stack.leaves_of(*at);
                Value { number: leaves.iter().map(|leaf| self.state.times[*leaf]).sum(), power: 1 }
            }
            Some(Named::Model(at)) => {
                let known = self.models[*at].as_ref();
                let power = known.map_or(0, |model| i32::from(model.is_time));
                Value { number: known.map_or(f64::NAN, |model| model.value), power }
            }
            None => Value { number: f64::NAN, power: 0 },
        }
    }

    fn add(&self, name: &str, side: Option<Side>, times: f64, to: &mut Uses) {
        match self.stack.names.get(name) {
            Some(Named::Component(at)) => {
                for leaf in self.stack.leaves_of(*at) {
                    let side = side.unwrap_or(self.stack.components[leaf].side);
                    *to.entry((leaf, side)).or_default() += times;
                }
            }
            Some(Named::Model(at)) => {
                for ((leaf, own), of) in self.models[*at].iter().flat_map(|model| &model.uses) {
                    *to.entry((*leaf, side.unwrap_or(*own))).or_default() += times * of;
                }
            }
            None => {}
        }
    }

    fn group(&self, group: Group) -> &[usize] {
        self.stack.grouped(group)
    }

    fn time(&self, component: usize) -> f64 {
        self.state.times[component]
    }

    fn add_one(&self, component: usize, times: f64, to: &mut Uses) {
        *to.entry((component, self.stack.components[component].side)).or_default() += times;
    }
}
