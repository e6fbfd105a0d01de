//! Components that take the place of others.

use std::collections::BTreeSet;

use bandgap_model::breakdown::formula::Formula;
use bandgap_model::breakdown::{Component, Declared, Observed, Stack, StackError};

use super::ComponentTable;
use super::shown::Shown;

impl ComponentTable {
    /// The table with these components in the place of those of the same names. One that has the name of a
    /// model takes its place; components that only this model used are no longer there. `observed`: what was
    /// observed of a model, if there is one of that name.
    ///
    /// What cannot be shown any more, for want of components, is left out.
    ///
    /// # Errors
    /// What a component has taken the place of had parts, or something else that no longer fits.
    pub fn with(
        self,
        new: Vec<Component>,
        observed: Option<(&str, Observed)>,
    ) -> Result<ComponentTable, StackError> {
        let mut components = self.stack.components().to_vec();
        let mut models: Vec<Declared> = self.stack.models().cloned().collect();
        let mut removed = Vec::new();
        for one in new {
            if let Some(same) = components.iter_mut().find(|same| same.name == one.name) {
                (same.time, same.provenance) = (one.time, one.provenance);
                continue;
            }
            let model = models.iter().position(|model| model.name == one.name);
            let model = model.map(|at| models.remove(at));
            let label = model.as_ref().and_then(|model| model.label.clone()).or(one.label);
            components.push(Component { label, ..one });
            removed.extend(model);
        }
        let unused = unused(&components, &models, &removed);
        components.retain(|one| !unused.contains(&one.name));
        if let Some((name, observed)) = observed
            && let Some(model) = models.iter_mut().find(|model| model.name == name)
        {
            model.observed = Some(observed);
        }
        let stack = Stack::new(components, models)?;
        fn unplaced<T>(all: Vec<T>) -> Vec<(u64, T)> {
            all.into_iter().map(|one| (0, one)).collect()
        }
        let shown = Shown::of(
            &stack,
            unplaced(self.figures),
            unplaced(self.questions),
            unplaced(self.curves),
            unplaced(self.cases),
        );
        Ok(ComponentTable {
            stack,
            figures: shown.figures,
            questions: shown.questions,
            curves: shown.curves,
            cases: shown.cases,
            ..self
        })
    }
}

/// What only models use that are no longer there.
fn unused(components: &[Component], models: &[Declared], removed: &[Declared]) -> BTreeSet<String> {
    let formulas = |models: &[Declared]| -> Vec<Formula> {
        models.iter().filter_map(|model| Formula::parse(&model.formula).ok()).collect()
    };
    let (left, before) = (formulas(models), formulas(removed));
    let derived = components.iter().filter_map(|one| match &one.time {
        bandgap_model::breakdown::Time::Derived(formula) => Formula::parse(formula).ok(),
        bandgap_model::breakdown::Time::Given { .. } => None,
    });
    let derived: Vec<Formula> = derived.collect();
    let wholes = components.iter().filter_map(|one| one.part_of.as_deref());
    let used: BTreeSet<&str> =
        left.iter().chain(&derived).flat_map(Formula::names).chain(wholes).collect();
    let names = before.iter().flat_map(Formula::names);
    names.filter(|name| !used.contains(name)).map(str::to_owned).collect()
}
