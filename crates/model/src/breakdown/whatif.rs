//! What a change of components would bring.

use std::collections::BTreeMap;

use super::{Category, LARGEST, LONGEST, Layer, SHORTEST, Side, Stack, Term};

/// A change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What is changed.
    pub what: String,
    /// What becomes of it.
    pub becomes: Becomes,
}

/// What becomes of what is changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Becomes {
    /// A component, a model's components, a category, a layer or a side is shorter by this share.
    Shorter(f64),
    /// A component has this time in nanoseconds, or a parameter this number. A model's components keep their proportions.
    Value(f64),
}

/// Times and parameters, perhaps changed.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The time of each component.
    pub times: Vec<f64>,
    /// By what the error of each is multiplied.
    pub scales: Vec<f64>,
    /// Each parameter.
    pub parameters: BTreeMap<String, f64>,
    groups: Vec<(Group, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Group {
    Category(Category),
    Layer(Layer),
    Side(Side),
}

impl Group {
    fn named(word: &str) -> Option<Group> {
        let category = || Category::named(word).map(Group::Category);
        let layer = || Layer::named(word).map(Group::Layer);
        category().or_else(layer).or_else(|| Side::named(word).map(Group::Side))
    }
}

impl State {
    /// By what the groups that a term is in multiply it.
    pub(super) fn factor(&self, category: Category, term: &Term) -> f64 {
        let holds = |group: Group| match group {
            Group::Category(of) => of == category,
            Group::Layer(of) => of == term.layer,
            Group::Side(of) => of == term.side,
        };
        self.groups.iter().filter(|(group, _)| holds(*group)).map(|(_, factor)| factor).product()
    }
}

/// A name that means nothing, or what cannot be done with it.
pub type Refused = String;

impl Stack {
    /// The state without changes.
    pub fn state(&self) -> State {
        State {
            times: self.components.iter().map(|one| one.ns).collect(),
            scales: vec![1.0; self.components.len()],
            parameters: self.parameters.clone(),
            groups: Vec::new(),
        }
    }

    /// The state after all these changes.
    ///
    /// # Errors
    /// A name means nothing, what it means cannot be set, or it is set and changed in another way too.
    pub fn changed(&self, changes: &[Change]) -> Result<State, Refused> {
        let mut state = self.state();
        // Whether each component was set, of those that were changed.
        let mut touched: BTreeMap<usize, bool> = BTreeMap::new();
        for Change { what, becomes } in changes {
            let is_set = matches!(becomes, Becomes::Value(_));
            if let Some(parameter) = state.parameters.get_mut(what) {
                let Becomes::Value(value) = *becomes else {
                    return Err(format!("'{what}' is a number: set it"));
                };
                if !(1.0 / LARGEST..=LARGEST).contains(&value) {
                    return Err(format!("'{what}' must be from 1e-6 to 1e6"));
                }
                *parameter = value;
                continue;
            }
            let Some(components) = self.meant(what) else {
                let why = match (Group::named(what), becomes) {
                    (Some(group), Becomes::Shorter(share)) => {
                        state.groups.push((group, 1.0 - share));
                        continue;
                    }
                    (Some(_), _) => "has many components: reduce it, or set one of them",
                    (None, _) => "is no component, model, parameter, category, layer or side",
                };
                return Err(format!("'{what}' {why}"));
            };
            for at in &components {
                if let Some(was_set) = touched.insert(*at, is_set)
                    && (was_set || is_set)
                {
                    return Err(format!(
                        "'{}' is set, and changed in another way too",
                        self.components[*at].name
                    ));
                }
            }
            match *becomes {
                Becomes::Shorter(share) => {
                    for at in components {
                        state.times[at] *= 1.0 - share;
                        state.scales[at] *= 1.0 - share;
                    }
                }
                Becomes::Value(value) => {
                    if !(value == 0.0 || (SHORTEST..=LONGEST).contains(&value)) {
                        return Err(format!("'{what}' must be 0, or from 1e-21 to 1e18 ns"));
                    }
                    let before = self.model(what).map(|model| self.value(model, &self.state()).ns);
                    for at in components {
                        let share =
                            before.map_or(value, |whole| self.components[at].ns * value / whole);
                        if !share.is_finite() {
                            return Err(format!("'{what}' takes no time that could be divided"));
                        }
                        (state.times[at], state.scales[at]) = (share, 0.0);
                    }
                }
            }
        }
        Ok(state)
    }

    /// The components that a name means: one, or those of a model.
    fn meant(&self, what: &str) -> Option<Vec<usize>> {
        if let Some(at) = self.component(what) {
            return Some(vec![at]);
        }
        let mut all: Vec<usize> =
            self.model(what)?.rows.iter().flatten().map(|term| term.component).collect();
        all.sort_unstable();
        all.dedup();
        Some(all)
    }
}
