//! Components and models are checked: names that mean something, no circles, times that are times.

use std::collections::{BTreeMap, HashMap};

use super::order::ordered;
use super::{Checked, Model, Named, Stack, StackError};
use crate::breakdown::component::{Category, Component};
use crate::breakdown::declared::Declared;
use crate::breakdown::evaluate::Uses;
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
    /// neither a time nor a number; a derived time is negative; parts do not sum up.
    pub fn new(components: Vec<Component>, models: Vec<Declared>) -> Checked<Stack> {
        if models.len() > MOST_MODELS {
            let why = format!("there are {} models; {MOST_MODELS} are possible", models.len());
            return Err(StackError::new("", why));
        }
        let mut stack = Stack {
            parts: vec![Vec::new(); components.len()],
            times: vec![0.0; components.len()],
            sources: vec![Uses::new(); components.len()],
            components,
            models: Vec::new(),
            order: Vec::new(),
            names: HashMap::new(),
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
        stack.find_times()?;
        stack.find_parts()?;
        stack.check_models()?;
        Ok(stack)
    }

    fn name(&mut self, name: String, named: Named) -> Checked {
        let unfit = |c: char| c.is_whitespace() || c.is_control() || "`=\"',".contains(c);
        if name.is_empty() || name.len() > 80 || name.chars().any(unfit) {
            let why = format!(
                "'{}' cannot be a name: 1 to 80 letters, digits, '_', '-' and '.'",
                name.escape_debug()
            );
            return Err(StackError::new(&name, why));
        }
        if let Some(what) = self.group_called(&name, named) {
            let why = format!(
                "'{}' cannot be a name: it would not be clear whether it is meant or {what}",
                name.escape_debug()
            );
            return Err(StackError::new(&name, why));
        }
        match self.names.insert(name.clone(), named) {
            None => Ok(()),
            Some(_) => Err(StackError::new(&name, format!("'{name}' is there twice"))),
        }
    }

    /// What else the name of a component stands for: a category, a layer, a side, or all. The network may be called so:
    /// both are the same.
    fn group_called(&self, name: &str, named: Named) -> Option<String> {
        let Named::Component(at) = named else { return None };
        let name = name.to_ascii_lowercase();
        let is_network = self.components[at].category == Category::Network;
        match Group::named(&name)? {
            Group::Category(Category::Network) if is_network => None,
            Group::Category(_) => Some(format!("the category {name}")),
            Group::Layer(_) => Some(format!("the layer {name}")),
            Group::Side(_) => Some(format!("the side {name}")),
            Group::All => Some("all components".to_owned()),
        }
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
        self.order = ordered(self.models.len(), needs, |at| &self.models[at].declared.name)?;
        let found = self.evaluated(&self.state())?;
        for (Model { declared, .. }, found) in self.models.iter().zip(&found) {
            if declared.observed.is_some() && !found.is_time {
                let why = format!("'{}' is no time, so none was observed of it", declared.name);
                return Err(StackError::new(&declared.name, why));
            }
        }
        match self.models.iter().zip(found).find(|(_, found)| !found.value.is_finite()) {
            None => Ok(()),
            Some((Model { declared: Declared { name, .. }, .. }, _)) => Err(StackError::new(
                name,
                format!(
                    "the formula of '{name}' gives no finite number: it divides by nothing, or times are too long"
                ),
            )),
        }
    }

    pub(super) fn unknown(&self, subject: &str, name: &str, what: &str) -> StackError {
        let why = format!("'{subject}' needs '{name}', which {what}");
        StackError { unknown: Some(name.to_owned()), ..StackError::new(subject, why) }
    }
}
