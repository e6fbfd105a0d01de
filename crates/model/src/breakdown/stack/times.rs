//! The times of components: those given, and those that formulas derive from them.

use std::collections::HashMap;

use super::models::{MOST_USES, too_many};
use super::order::ordered;
use super::{Checked, Named, Stack, StackError};
use crate::breakdown::component::{Side, Time};
use crate::breakdown::evaluate::{Meaning, Uses, Value, derive, value};
use crate::breakdown::formula::{Formula, Group};

impl Stack {
    /// The times of the components: those given, and those that formulas derive from them.
    pub(super) fn find_times(&mut self) -> Checked {
        let mut derived: HashMap<usize, Formula> = HashMap::new();
        for (at, component) in self.components.iter().enumerate() {
            match &component.time {
                Time::Given { ns, spread } => {
                    let fine = |time: f64| time.is_finite() && time >= 0.0;
                    if !fine(*ns) || !spread.is_none_or(fine) {
                        let why = format!(
                            "the time of '{}' and its spread must be finite and not negative",
                            component.name
                        );
                        return Err(StackError::new(&component.name, why));
                    }
                    self.times[at] = *ns;
                    self.sources[at].insert((at, component.side), 1.0);
                }
                Time::Derived(text) => {
                    let formula = Formula::parse(text);
                    let formula = formula.map_err(|why| StackError::new(&component.name, why))?;
                    derived.insert(at, formula);
                }
            }
        }
        let needs = |at: usize| -> Checked<Vec<usize>> {
            let Some(formula) = derived.get(&at) else { return Ok(Vec::new()) };
            let of = |name: &str| match self.names.get(name) {
                Some(Named::Component(needed)) => Ok(*needed),
                _ => Err(self.unknown(&self.components[at].name, name, "is no component")),
            };
            formula.names().into_iter().map(of).collect()
        };
        let order = ordered(self.components.len(), needs, |at| &self.components[at].name)?;
        let mut used = 0;
        for at in order.into_iter().filter(|at| derived.contains_key(at)) {
            let name = &self.components[at].name;
            let raw = Raw(self);
            let found = value(&derived[&at], &raw).map_err(|why| StackError::new(name, why))?;
            if found.power != 1 || !found.number.is_finite() || found.number < 0.0 {
                let why = match found.power {
                    1 => format!("the time of '{name}' is derived as {} ns", found.number),
                    _ => format!("the formula of '{name}' gives no time"),
                };
                return Err(StackError::new(name, why));
            }
            let mut sources = Uses::new();
            derive(&derived[&at], &raw, 1.0, &mut sources);
            used += sources.len();
            if used > MOST_USES {
                return Err(StackError::new(name, too_many("components")));
            }
            (self.times[at], self.sources[at]) = (found.number, sources);
        }
        Ok(())
    }
}

/// Names of components as their own times, without regard to parts: what times are derived from.
struct Raw<'a>(&'a Stack);

impl Meaning for Raw<'_> {
    fn value(&self, name: &str) -> Value {
        let number = match self.0.names.get(name) {
            Some(Named::Component(at)) => self.0.times[*at],
            _ => f64::NAN,
        };
        Value { number, power: 1 }
    }

    fn add(&self, name: &str, _: Option<Side>, times: f64, to: &mut Uses) {
        if let Some(Named::Component(at)) = self.0.names.get(name) {
            for (from, of) in &self.0.sources[*at] {
                *to.entry(*from).or_default() += times * of;
            }
        }
    }

    /// A time is not derived from all others, its own among them.
    fn group(&self, _: Group) -> Vec<usize> {
        Vec::new()
    }

    fn time(&self, component: usize) -> f64 {
        self.0.times[component]
    }

    fn side(&self, component: usize) -> Side {
        self.0.components[component].side
    }
}
