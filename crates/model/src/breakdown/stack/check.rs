//! Components and models are checked: names that mean something, no circles, times that are times.

use std::collections::{BTreeMap, HashMap};

use super::order::ordered;
use super::{Checked, Model, Named, Stack, StackError};
use crate::breakdown::bounds::{OBSERVED, SPREAD, is_observed, is_spread};
use crate::breakdown::component::Component;
use crate::breakdown::declared::Declared;
use crate::breakdown::evaluate::{Modelled, Uses};
use crate::breakdown::formula::{Formula, Group};

/// The sum of parts may differ from the whole by this share, which is rounding.
const ROUNDING: f64 = 1e-3;

/// Most models of a stack.
const MOST_MODELS: usize = 200;

impl Stack {
    /// Checks components and models.
    ///
    /// # Errors
    /// A name is given twice, cannot be one, or is that of a category, layer or side; a formula is none, names nothing, leads back to itself, or is
    /// neither a time nor a number; a time or a number is too large or too small; parts do not sum up.
    pub fn new(components: Vec<Component>, models: Vec<Declared>) -> Checked<Stack> {
        if models.len() > MOST_MODELS {
            let why = format!("there are {} models; {MOST_MODELS} are possible", models.len());
            return Err(StackError::new("", why));
        }
        let mut stack = Stack {
            parts: vec![Vec::new(); components.len()],
            groups: BTreeMap::new(),
            times: vec![0.0; components.len()],
            sources: vec![Uses::new(); components.len()],
            components,
            models: Vec::new(),
            order: Vec::new(),
            names: HashMap::new(),
            uses: 0,
            lacking: BTreeMap::new(),
        };
        for at in 0..stack.components.len() {
            stack.name(stack.components[at].name.clone(), Named::Component(at))?;
        }
        for (at, declared) in models.into_iter().enumerate() {
            stack.name(declared.name.clone(), Named::Model(at))?;
            let formula = Formula::parse(&declared.formula);
            let formula = formula.map_err(|why| StackError::new(&declared.name, why))?;
            stack.models.push(Model { declared, formula });
        }
        stack.find_parts()?;
        stack.find_groups();
        stack.find_times()?;
        stack.check_parts()?;
        stack.check_models()?;
        Ok(stack)
    }

    fn find_parts(&mut self) -> Checked {
        for at in 0..self.components.len() {
            let Some(whole) = self.components[at].part_of.clone() else { continue };
            let name = self.components[at].name.clone();
            match self.names.get(&whole) {
                Some(Named::Component(whole)) if self.components[*whole].part_of.is_none() => {
                    self.parts[*whole].push(at);
                }
                Some(Named::Component(_)) => {
                    let why = format!("'{name}' is part of '{whole}', which is a part itself");
                    return Err(StackError::new(&name, why));
                }
                _ => return Err(self.unknown(&name, &whole, "is no component")),
            }
        }
        Ok(())
    }

    /// What belongs to which group.
    fn find_groups(&mut self) {
        for at in self.leaves().collect::<Vec<usize>>() {
            let one = &self.components[at];
            let groups = [
                Group::All,
                Group::Category(one.category),
                Group::Layer(one.layer),
                Group::Side(one.side),
            ];
            for group in groups {
                self.groups.entry(group).or_default().push(at);
            }
        }
    }

    fn check_parts(&self) -> Checked {
        for (whole, parts) in self.parts.iter().enumerate().filter(|(_, parts)| !parts.is_empty()) {
            let (sum, time) =
                (parts.iter().map(|part| self.times[*part]).sum::<f64>(), self.times[whole]);
            if (sum - time).abs() > ROUNDING * time {
                let name = &self.components[whole].name;
                let why =
                    format!("the parts of '{name}' sum up to {sum} ns, and it takes {time} ns");
                return Err(StackError::new(name, why));
            }
        }
        Ok(())
    }

    fn check_models(&mut self) -> Checked {
        let needs = |at: usize| -> Checked<Vec<usize>> {
            let model = &self.models[at];
            let mut needed = Vec::new();
            for name in model.formula.names() {
                match self.names.get(name) {
                    Some(Named::Model(other)) => needed.push(*other),
                    Some(Named::Component(_)) => {}
                    None => {
                        let what = "is neither a component nor a model";
                        return Err(self.unknown(&model.declared.name, name, what));
                    }
                }
            }
            Ok(needed)
        };
        self.order =
            ordered(self.models.len(), needs, |at| self.models[at].declared.name.as_str())?;
        let (found, uses) = self.known(&self.state(), &self.order)?;
        self.uses = uses;
        let found: Vec<Modelled> = found.into_iter().flatten().collect();
        for (Model { declared, .. }, found) in self.models.iter().zip(&found) {
            let name = &declared.name;
            if let Some(why) = wrong_observed(declared, found).or_else(|| unsound(name, found)) {
                return Err(StackError::new(name, why));
            }
        }
        Ok(())
    }

    pub(super) fn unknown(&self, subject: &str, name: &str, what: &str) -> StackError {
        let why = format!("'{subject}' needs '{name}', which {what}");
        StackError { unknown: Some(name.to_owned()), ..StackError::new(subject, why) }
    }
}

/// Why what was observed of a model cannot have been.
fn wrong_observed(declared: &Declared, found: &Modelled) -> Option<String> {
    let (name, observed) = (&declared.name, declared.observed?);
    if !found.is_time {
        return Some(format!("'{name}' is no time, so none was observed of it"));
    }
    if !is_observed(observed.value) {
        return Some(format!(
            "what was observed of '{name}' is {:e} ns: {OBSERVED}",
            observed.value
        ));
    }
    let spread = observed.spread.filter(|spread| !is_spread(*spread))?;
    Some(format!("the spread of what was observed of '{name}' is {spread:e} ns: {SPREAD}"))
}

/// Why nothing can be counted with a model.
fn unsound(name: &str, found: &Modelled) -> Option<String> {
    if !found.value.is_finite() {
        return Some(format!(
            "the formula of '{name}' gives no finite number: it divides by nothing, or times are too long"
        ));
    }
    (!found.is_sound()).then(|| {
        format!(
            "the formula of '{name}' gives {:e}, and that, a term of it or how it changes with a component is too \
             large or too small a number to count with",
            found.value
        )
    })
}
