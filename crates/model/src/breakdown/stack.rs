//! Components and models together: names that mean something, no circles, times that are times.

use std::collections::{BTreeMap, HashMap};

use super::component::{Component, Side, Time};
use super::evaluate::{Meaning, Modelled, State, Uses, Value, derive, product, value};
use super::formula::{Formula, Group};

/// A model as it is declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// What formulas call it.
    pub name: String,
    /// What readers call it; its name where there is none.
    pub label: Option<String>,
    /// Its formula.
    pub formula: String,
    /// Whether it is what the stack is modelled for, and not a step on the way.
    pub main: bool,
    /// What was observed.
    pub observed: Option<Observed>,
}

impl Declared {
    /// What readers call it.
    pub fn title(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }
}

/// What was observed of what a model stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// In nanoseconds.
    pub value: f64,
    /// Its standard deviation, where it is known.
    pub spread: Option<f64>,
}

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
    /// The time of each component in nanoseconds.
    times: Vec<f64>,
    /// The derivatives of each by the times that were given.
    sources: Vec<Uses>,
    models: Vec<Model>,
    /// The models, each after those that its formula names.
    order: Vec<usize>,
    names: HashMap<String, Named>,
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

/// The sum of parts may differ from the whole by this share, which is rounding.
const ROUNDING: f64 = 1e-3;

impl Stack {
    /// Checks components and models.
    ///
    /// # Errors
    /// A name is given twice or cannot be one; a formula is none, names nothing, leads back to itself, or is
    /// neither a time nor a number; a derived time is negative; parts do not sum up.
    pub fn new(components: Vec<Component>, models: Vec<Declared>) -> Checked<Stack> {
        let mut stack = Stack {
            parts: vec![Vec::new(); components.len()],
            times: vec![0.0; components.len()],
            sources: vec![Uses::new(); components.len()],
            components,
            models: Vec::new(),
            order: Vec::new(),
            names: HashMap::new(),
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
        match self.names.insert(name.clone(), named) {
            None => Ok(()),
            Some(_) => Err(StackError::new(&name, format!("'{name}' is there twice"))),
        }
    }

    /// The times of the components: those given, and those that formulas derive from them.
    fn find_times(&mut self) -> Checked {
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
            (self.times[at], self.sources[at]) = (found.number, sources);
        }
        Ok(())
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

    fn unknown(&self, subject: &str, name: &str, what: &str) -> StackError {
        let why = format!("'{subject}' needs '{name}', which {what}");
        StackError { unknown: Some(name.to_owned()), ..StackError::new(subject, why) }
    }

    /// All components.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// The components that have no parts: each time counts once among them.
    pub fn leaves(&self) -> impl Iterator<Item = usize> {
        (0..self.components.len()).filter(|at| self.parts[*at].is_empty())
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
    pub(super) fn grouped(&self, group: Group) -> Vec<usize> {
        let belongs = |at: &usize| {
            let one = &self.components[*at];
            match group {
                Group::All => true,
                Group::Category(category) => one.category == category,
                Group::Layer(layer) => one.layer == layer,
                Group::Side(side) => one.side == side,
            }
        };
        self.leaves().filter(belongs).collect()
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

    /// All models, in the order of their declarations. One that divides by a component that changes took
    /// away is not finite.
    ///
    /// # Errors
    /// The formula of one is neither a time nor a number.
    pub fn evaluated(&self, state: &State) -> Checked<Vec<Modelled>> {
        let mut known = Changed { stack: self, state, models: vec![None; self.models.len()] };
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

/// Places, each after those that it needs.
fn ordered<'a>(
    count: usize,
    needs: impl Fn(usize) -> Checked<Vec<usize>>,
    name: impl Fn(usize) -> &'a String,
) -> Checked<Vec<usize>> {
    let mut order = Vec::with_capacity(count);
    let mut done = vec![false; count];
    let mut open = vec![false; count];
    for start in 0..count {
        if done[start] {
            continue;
        }
        // The path to where the search is, each with what it still needs.
        let mut path = vec![(start, needs(start)?)];
        open[start] = true;
        while let Some((at, needed)) = path.last_mut() {
            let at = *at;
            match needed.pop() {
                None => {
                    (open[at], done[at]) = (false, true);
                    order.push(at);
                    path.pop();
                }
                Some(next) if done[next] => {}
                Some(next) if open[next] => {
                    let circle = path.iter().map(|(at, _)| *at).skip_while(|at| *at != next);
                    let circle: Vec<&str> =
                        circle.chain([next]).map(|at| name(at).as_str()).collect();
                    let why =
                        format!("formulas lead back to where they began: {}", circle.join(" → "));
                    return Err(StackError::new(name(next), why));
                }
                Some(next) => {
                    open[next] = true;
                    path.push((next, needs(next)?));
                }
            }
        }
    }
    Ok(order)
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
