//! The times of components: those given, and those that formulas derive from them.

use std::collections::HashMap;

use super::models::{MOST_USES, too_many};
use super::order::ordered;
use super::{Checked, Named, Stack, StackError};
use crate::breakdown::bounds::{LONGEST, SPREAD, TIME, is_derivative, is_spread, is_time};
use crate::breakdown::component::{Side, Time};
use crate::breakdown::evaluate::{Meaning, Uses, Value, derive, value};
use crate::breakdown::formula::{Formula, Group, Node};

impl Stack {
    /// The times of the components: those given, and those that formulas derive from them. Who is a part of whom
    /// is known already.
    pub(super) fn find_times(&mut self) -> Checked {
        let mut derived: HashMap<usize, Formula> = HashMap::new();
        for (at, component) in self.components.iter().enumerate() {
            let wrong = |why: String| StackError::new(&component.name, why);
            match &component.time {
                Time::Given { ns, spread } => {
                    if !is_time(*ns) {
                        let why = format!("the time of '{}' is {ns:e} ns: {TIME}", component.name);
                        return Err(wrong(why));
                    }
                    if let Some(spread) = spread.filter(|spread| !is_spread(*spread)) {
                        let name = &component.name;
                        let why = format!("the spread of '{name}' is {spread:e} ns: {SPREAD}");
                        return Err(wrong(why));
                    }
                    self.times[at] = *ns;
                    self.sources[at].insert((at, component.side), 1.0);
                }
                Time::Derived(text) => {
                    derived.insert(at, Formula::parse(text).map_err(wrong)?);
                }
            }
        }
        let mut used = 0;
        for at in self.derivation(&derived)? {
            let Some(formula) = derived.get(&at) else { continue };
            let name = &self.components[at].name;
            let raw = Raw(self);
            used += formula.nodes().into_iter().map(|node| raw.additions(node)).sum::<usize>();
            if used > MOST_USES {
                return Err(StackError::new(name, too_many("components")));
            }
            let found = value(formula, &raw).map_err(|why| StackError::new(name, why))?;
            if found.power != 1 {
                let why = format!("the formula of '{name}' gives no time");
                return Err(StackError::new(name, why));
            }
            let mut sources = Uses::new();
            derive(formula, &raw, 1.0, &mut sources);
            if !is_time(found.number) {
                let ns = found.number;
                let ns = if ns.abs() < LONGEST { ns.to_string() } else { format!("{ns:e}") };
                let why = format!("the time of '{name}' is derived as {ns} ns: {TIME}");
                return Err(StackError::new(name, why));
            }
            if !sources.values().all(|times| is_derivative(*times)) {
                let why =
                    format!("the time of '{name}' changes too much with others to count with");
                return Err(StackError::new(name, why));
            }
            (self.times[at], self.sources[at]) = (found.number, sources);
        }
        Ok(())
    }

    /// The components in an order in which they can be derived.
    fn derivation(&self, derived: &HashMap<usize, Formula>) -> Checked<Vec<usize>> {
        // A sum over a group has a place of its own behind the components: it needs all in it once.
        let count = self.components.len();
        let groups: Vec<(Group, String)> =
            self.groups.keys().map(|group| (*group, format!("sum:{group}"))).collect();
        let place = |group: &Group| groups.iter().position(|(one, _)| one == group);
        let needs = |at: usize| -> Checked<Vec<usize>> {
            if let Some((group, _)) = at.checked_sub(count).and_then(|at| groups.get(at)) {
                return Ok(self.grouped(*group).to_vec());
            }
            let Some(formula) = derived.get(&at) else { return Ok(Vec::new()) };
            let mut needed = Vec::new();
            for node in formula.nodes() {
                match node {
                    Node::Name { name, .. } => match self.names.get(name) {
                        Some(Named::Component(other)) => needed.push(*other),
                        _ => {
                            let own = &self.components[at].name;
                            return Err(self.unknown(own, name, "is no component"));
                        }
                    },
                    // A group that nothing belongs to has no place, and needs nothing.
                    Node::Group(group) => needed.extend(place(group).map(|at| count + at)),
                    _ => {}
                }
            }
            Ok(needed)
        };
        let name = |at: usize| match at.checked_sub(count).and_then(|at| groups.get(at)) {
            Some((_, name)) => name.as_str(),
            None => self.components[at].name.as_str(),
        };
        ordered(count + groups.len(), needs, name)
    }
}

/// Names of components as their own times, without regard to parts: what times are derived from. A group counts
/// each time once, so that parts stand in it for their whole.
struct Raw<'a>(&'a Stack);

impl Raw<'_> {
    /// How many derivatives are added up for a part of a formula.
    fn additions(&self, node: &Node) -> usize {
        let of = |at: &usize| self.0.sources[*at].len().max(1);
        match node {
            Node::Name { name, .. } => match self.0.names.get(name) {
                Some(Named::Component(at)) => of(at),
                _ => 1,
            },
            Node::Group(group) => self.group(*group).iter().map(of).sum::<usize>().max(1),
            _ => 1,
        }
    }
}

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
            self.add_one(*at, times, to);
        }
    }

    fn group(&self, group: Group) -> &[usize] {
        self.0.grouped(group)
    }

    fn time(&self, component: usize) -> f64 {
        self.0.times[component]
    }

    fn add_one(&self, component: usize, times: f64, to: &mut Uses) {
        for (from, of) in &self.0.sources[component] {
            *to.entry(*from).or_default() += times * of;
        }
    }
}
