//! Applies one stack's models to another's components, matched by name.

use super::{Component, Model, Stack, Term};

/// What a model needs and a table does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    /// The model.
    pub model: String,
    /// The components.
    pub components: Vec<String>,
}

/// Coefficients that sum up to no more than this are none.
const ROUNDING: f64 = 1e-9;

/// A term before its component is looked up.
type Named<'a> = (&'a str, Term);

impl Stack {
    /// The models of this stack over these components, as far as they are there, and what the main ones lack. A component
    /// that has the name of a model stands for that sum in the others. Without any model there is their sum.
    pub fn over(&self, components: Vec<Component>) -> (Stack, Vec<Lacking>) {
        let mut stack =
            Stack { components, parameters: self.parameters.clone(), models: Vec::new() };
        let mut lacking = Vec::new();
        let is_known = |one: &Component| {
            self.component(&one.name).is_some() || self.model(&one.name).is_some()
        };
        let knows = stack.components.iter().any(is_known);
        let wanted =
            |model: &&Model| knows && !stack.components.iter().any(|one| one.name == model.name);
        let wanted: Vec<&Model> = self.models.iter().filter(wanted).collect();
        for model in wanted {
            let rows: Vec<Result<Vec<Term>, Vec<String>>> =
                model.rows.iter().map(|row| self.row_over(row, &stack)).collect();
            if let Some(Err(missing)) = rows.first() {
                if model.main {
                    lacking
                        .push(Lacking { model: model.name.clone(), components: missing.clone() });
                }
                continue;
            }
            let rows = rows.into_iter().filter_map(Result::ok).collect();
            stack.models.push(Model { rows, ..model.clone() });
        }
        if stack.models.iter().all(|model| !model.main) {
            stack.models.iter_mut().for_each(|model| model.main = true);
        }
        if stack.models.is_empty() {
            let all: Vec<usize> = (0..stack.components.len()).collect();
            let mut name = "total".to_owned();
            while stack.component(&name).is_some() {
                name.push('_');
            }
            stack.sums(&name, &[&all], None);
        }
        let used = |name: &String| {
            let terms = stack.models.iter().flat_map(|model| model.rows.iter().flatten());
            terms.into_iter().any(|term| term.per.as_ref() == Some(name))
        };
        let parameters = stack.parameters.iter().filter(|(name, _)| used(name));
        let parameters = parameters.map(|(name, value)| (name.clone(), *value)).collect();
        (Stack { parameters, ..stack }, lacking)
    }

    /// A row over the components of another stack, or which of them are not there.
    fn row_over(&self, row: &[Term], other: &Stack) -> Result<Vec<Term>, Vec<String>> {
        let named = row.iter().map(|term| (&*self.components[term.component].name, term.clone()));
        let mut named: Vec<Named<'_>> = named.collect();
        for whole in self.models.iter().filter(|whole| other.component(&whole.name).is_some()) {
            self.stand_in(whole, &mut named);
        }
        let counts = |name: &str| {
            let per = |term: &Term| term.per.as_ref().map_or(1.0, |per| self.parameters[per]);
            let same = named.iter().filter(|(of, _)| *of == name);
            same.map(|(_, term)| term.times / per(term)).sum::<f64>().abs() > ROUNDING
        };
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for (name, term) in &named {
            let Some(at) = other.component(name) else {
                // What cancels is not needed.
                if counts(name) {
                    missing.push((*name).to_owned());
                }
                continue;
            };
            // A component that is called as the parameter means something else.
            if let Some(per) = term.per.as_ref().filter(|per| other.component(per).is_some()) {
                missing.push(per.clone());
            }
            let usual = self.component(name).map(|at| &self.components[at]);
            let elsewhere = usual.is_some_and(|of| (of.layer, of.side) != (term.layer, term.side));
            let place = if elsewhere { term.clone() } else { other.term(at, term.times) };
            found.push(Term { component: at, times: term.times, per: term.per.clone(), ..place });
        }
        if missing.is_empty() { Ok(found) } else { Err(missing) }
    }

    /// Replaces the terms of a model within a row by the whole, if all of them are there equally often.
    fn stand_in<'a>(&'a self, whole: &'a Model, row: &mut Vec<Named<'a>>) {
        let [parts] = whole.rows.as_slice() else { return };
        let ratio = |part: &Term| {
            let name = &self.components[part.component].name;
            let same: Vec<&Term> =
                row.iter().filter(|(of, _)| of == name).map(|(_, term)| term).collect();
            let times = same.iter().map(|term| term.times).sum::<f64>() / part.times;
            match (&part.per, &same.first()?.per) {
                (own, per) if own == per => Some((times, None)),
                (None, per) => Some((times, per.clone())),
                _ => None,
            }
        };
        let ratios: Option<Vec<_>> = parts.iter().map(ratio).collect();
        let Some((first, rest)) = ratios.as_deref().and_then(<[_]>::split_first) else { return };
        if rest.iter().any(|other| other != first) {
            return;
        }
        let (times, per) = first.clone();
        let term = Term { times, per, ..parts[0].clone() };
        let is_part =
            |name: &str| parts.iter().any(|part| self.components[part.component].name == name);
        row.retain(|(name, _)| !is_part(name));
        row.push((&whole.name, term));
    }
}
