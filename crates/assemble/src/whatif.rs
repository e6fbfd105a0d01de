//! Predicts the effect of changes to a table's components.

use bandgap_model::breakdown::{
    Becomes, By, Category, Change, Layer, Model, Part, SHORTEST, Stack, Value,
};
use bandgap_record::{ComponentTable, Number, Quantity, Seconds, Unit};
use bandgap_results::{
    Breakdown, ChangeMade, ModelChange, RankedComponent, Ranking, SpeedUpCurve, WhatIf,
};
use bandgap_stats::Rule;
use bandgap_units::Ns;

use crate::breakdown::{Propagated, within};
use crate::components::changeable;
use crate::made::Made;
use crate::{AssembleError, Result};

/// By how much each component is reduced for the ranking.
const RANKED: f64 = 0.2;
/// Main models that are ranked and drawn, at most.
const FIRST: usize = 8;
/// How many of the longest components are ranked, and how many get a curve, at most.
const LONGEST: usize = 20;
const DRAWN: usize = 6;

/// The effect of all `changes` together. `of` is the breakdown that the table was taken from, if any.
///
/// # Errors
/// A name means nothing, changes contradict each other, no model takes any time, or a number cannot be recorded.
pub fn whatif(
    table: &ComponentTable,
    changes: &[Change],
    of: Option<&Breakdown>,
    rule: Rule,
    confidence: f64,
) -> Result<Made> {
    let stack = &table.stack;
    let refused = |why| AssembleError::Ambiguous {
        what: format!("change the components: {why}"),
        hint: changeable(stack),
    };
    let propagated = Propagated::new(rule, confidence);
    let (state, changed) = (stack.state(), stack.changed(changes).map_err(refused)?);
    let main = stack.models.iter().filter(|model| model.main);
    let main: Vec<(&Model, Value)> = main
        .map(|model| (model, stack.value(model, &state)))
        .filter(|(_, before)| before.ns >= SHORTEST)
        .collect();
    if main.is_empty() {
        let why = "no main model of the table takes any time".to_owned();
        return Err(AssembleError::Components(why));
    }
    let compare = |(model, before): &(&Model, Value)| {
        change(model, [before, &stack.value(model, &changed)], of, &propagated)
    };
    let (mut ranking, mut curves) = (Vec::new(), Vec::new());
    for (model, before) in main.iter().take(FIRST) {
        ranking.push(ranked(stack, model, before, &propagated)?);
        curves.extend(drawn(stack, model, before, changes));
    }
    let result = WhatIf {
        name: table.name.clone(),
        changes: changes.iter().map(|change| made(stack, change)).collect(),
        models: main.iter().map(compare).collect::<Result<_>>()?,
        ranking,
        curves,
    };
    Ok(Made { results: vec![result.into()], notes: Vec::new() })
}

/// A change as it is recorded.
fn made(stack: &Stack, change: &Change) -> ChangeMade {
    let what = &change.what;
    let whole = || {
        let own = stack.component(what).map(|at| stack.components[at].ns);
        own.or_else(|| Some(stack.value(stack.model(what)?, &stack.state()).ns))
    };
    let (reduction, set, number) = match change.becomes {
        Becomes::Shorter(share) => (Some(share), None, None),
        Becomes::Value(value) if stack.parameters.contains_key(what) => {
            (None, None, Some(Number(value)))
        }
        Becomes::Value(value) => {
            let whole = whole().filter(|whole| *whole > 0.0);
            (whole.map(|whole| 1.0 - value / whole), Some(Seconds::from(Ns(value))), None)
        }
    };
    ChangeMade { component: what.clone(), reduction: reduction.map(Number), set, number }
}

fn change(
    model: &Model,
    [before, after]: [&Value; 2],
    of: Option<&Breakdown>,
    propagated: &Propagated,
) -> Result<ModelChange> {
    let error = model.observed.map(|of| propagated.error(before, of)).transpose()?;
    let own = (error.as_ref().map(within), error);
    // A measured model was compared round by round, which is more precise than spreads allow.
    let measured = of.filter(|breakdown| breakdown.measured.is_some());
    let paired = measured.and_then(|of| of.models.iter().find(|known| known.name == model.name));
    let (within, error) = paired.map_or(own, |known| (known.within, known.error.clone()));
    Ok(ModelChange {
        name: model.name.clone(),
        before: propagated.modelled(before)?,
        error,
        within,
        after: propagated.modelled(after)?,
        speedup: propagated.speedup(before, after)?,
    })
}

impl Propagated {
    /// The share of a model's time that is saved.
    fn speedup(&self, before: &Value, after: &Value) -> Result<Quantity> {
        let (share, off) = before.saved(after);
        // If the time may be 0, its share is not bounded.
        let known = before.deviation().is_none_or(|own| own * self.factor < before.ns);
        let how = ("1 - after / before", before.parts.len());
        self.of(share, off.filter(|_| known), how).recorded(Unit::One)
    }
}

/// A model's value with one component (or category, layer, …) reduced by a share.
fn reduced(stack: &Stack, model: &Model, what: &str, share: f64) -> Option<Value> {
    let change = Change { what: what.to_owned(), becomes: Becomes::Shorter(share) };
    Some(stack.value(model, &stack.changed(&[change]).ok()?))
}

/// The names of the components that take most of a model.
fn longest(stack: &Stack, before: &Value, most: usize) -> Vec<String> {
    let mut parts = stack.divided(before, By::Component);
    parts.retain(|(_, ns)| *ns > 0.0);
    parts.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    parts.into_iter().take(most).map(|(name, _)| name).collect()
}

fn ranked(
    stack: &Stack,
    model: &Model,
    before: &Value,
    propagated: &Propagated,
) -> Result<Ranking> {
    let mut components = Vec::new();
    for component in longest(stack, before, LONGEST) {
        if let Some(after) = reduced(stack, model, &component, RANKED) {
            let speedup = propagated.speedup(before, &after)?;
            components.push(RankedComponent { component, speedup });
        }
    }
    components.sort_by(|a, b| b.speedup.value.0.total_cmp(&a.speedup.value.0));
    Ok(Ranking { model: model.name.clone(), reduction: Number(RANKED), components })
}

/// Speed-ups over reductions of whatever is changed; without changes, of each category, layer,
/// part of a layer, and longest component.
///
/// *Source*: "Breaking Band", figure 17.
fn drawn(stack: &Stack, model: &Model, before: &Value, changes: &[Change]) -> Vec<SpeedUpCurve> {
    let mut names: Vec<String> = changes.iter().map(|change| change.what.clone()).collect();
    // The parts of the model that a component, category or layer is, or those of another model.
    let parts = |of: &str| -> Vec<Part> {
        let other = stack.model(of).map(|other| stack.value(other, &stack.state()).parts);
        let is_its = |part: &&Part| {
            let own = &stack.components[part.component];
            own.name == of || own.category.to_string() == of || part.layer.to_string() == of
        };
        other.unwrap_or_else(|| before.parts.iter().filter(is_its).cloned().collect())
    };
    let category = |of: &str| {
        let mut all: Vec<Category> =
            parts(of).iter().map(|part| stack.components[part.component].category).collect();
        all.dedup();
        if let [one] = all[..] { Some(one) } else { None }
    };
    if names.is_empty() {
        let categories = Category::ALL.iter().map(Category::to_string);
        names = categories.chain(Layer::ALL.iter().map(Layer::to_string)).collect();
        // A layer's posting or progress: components of one layer and category, all in this model.
        let is_part = |other: &&Model| {
            let parts = parts(&other.name);
            let is_in = |part: &Part| before.parts.iter().any(|of| of.component == part.component);
            let is_one = parts.iter().all(|part| part.layer == parts[0].layer && is_in(part));
            !other.main && is_one && parts.len() > 1 && category(&other.name).is_some()
        };
        names.extend(stack.models.iter().filter(is_part).map(|other| other.name.clone()));
        names.extend(longest(stack, before, DRAWN));
    }
    let curve = |of: String| {
        let point = |share: f64| {
            let after = reduced(stack, model, &of, share)?;
            Some((Number(share), Number(before.saved(&after).0)))
        };
        // No curve for parameters, which cannot be reduced, and for components outside the model.
        let points: Vec<_> =
            (1..10_u8).map(|tenth| point(f64::from(tenth) / 10.0)).collect::<Option<_>>()?;
        let touches = points.iter().any(|(_, saved)| *saved != Number(0.0));
        let category = category(&of);
        touches.then(|| SpeedUpCurve { model: model.name.clone(), of, category, points })
    };
    let mut curves: Vec<SpeedUpCurve> = names.into_iter().filter_map(curve).collect();
    if changes.is_empty() {
        // Of what is all of its layer or category, the first name is enough.
        let mut known = Vec::new();
        curves.retain(|of| {
            !known.contains(&of.points) && {
                known.push(of.points.clone());
                true
            }
        });
    }
    curves
}

#[cfg(test)]
mod tests;
