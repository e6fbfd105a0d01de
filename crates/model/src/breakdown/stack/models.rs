//! The values of a stack's models.

use std::collections::BTreeMap;

use super::{Checked, Model, Named, Stack, StackError};
use crate::breakdown::component::Side;
use crate::breakdown::evaluate::{Meaning, Modelled, State, Uses, Value, derive, product, value};
use crate::breakdown::formula::Group;

/// Uses of components in formulas, of all models together, and of all derived times. Each takes memory and time.
pub(super) const MOST_USES: usize = 1 << 18;

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
        let mut known = Changed { stack: self, state, models: vec![None; self.models.len()] };
        let mut used = 0;
        for &at in &self.order {
            let Model { declared, formula } = &self.models[at];
            let wrong = |why: String| StackError::new(&declared.name, why);
            let found = value(formula, &known).map_err(wrong)?;
            if !(0..=1).contains(&found.power) {
                let why =
                    format!("the formula of '{}' gives neither a time nor a number", declared.name);
                return Err(wrong(why));
            }
            let mut uses = Uses::new();
            derive(formula, &known, 1.0, &mut uses);
            used += uses.len();
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
        Ok(known.models.into_iter().flatten().collect())
    }
}

/// Names of components with their parts, and of models that are known already.
struct Changed<'a> {
    stack: &'a Stack,
    state: &'a State,
    models: Vec<Option<Modelled>>,
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
                    let side = side.unwrap_or(self.side(leaf));
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

    fn group(&self, group: Group) -> Vec<usize> {
        self.stack.grouped(group)
    }

    fn time(&self, component: usize) -> f64 {
        self.state.times[component]
    }

    fn side(&self, component: usize) -> Side {
        self.stack.components[component].side
    }
}
