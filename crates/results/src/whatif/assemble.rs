//! What changes of a table's components would bring.

use bandgap_model::breakdown::{Change, Declared, Modelled, Saved, Stack, StackError};
use bandgap_record::{ComponentTable, Number, Quantity, Seconds, Unit};
use bandgap_stats::Rule;
use bandgap_stats::interval::normal_factor;
use bandgap_units::Ns;

use super::curves::{drawn, speed_ups};
use super::findings::{self, Ranked};
use super::schema::{ChangeMade, ModelChange, RankedComponent, Ranking, WhatIf};
use crate::AssembleError;
use crate::breakdown::Breakdown;
use crate::breakdown::assemble::{error, within};
use crate::measured::Propagated;

/// By how much each component is reduced for the ranking.
pub const RANKED: f64 = 0.2;

/// Main models that are ranked and drawn, at most: each takes many evaluations of all.
const FIRST: usize = 8;

/// What `changes`, made together, bring. `of`: the breakdown that the table is of, if it is of one.
///
/// # Errors
/// A name means nothing, changes contradict each other, no model is a time, or a number cannot be recorded.
pub fn whatif(
    table: &ComponentTable,
    changes: &[Change],
    of: Option<&Breakdown>,
    rule: Rule,
    confidence: f64,
) -> Result<WhatIf, AssembleError> {
    let stack = &table.stack;
    let changes: Vec<Change> = changes.iter().map(|change| spelled(stack, change)).collect();
    let changes = changes.as_slice();
    let estimate = Propagated { rule, factor: normal_factor(confidence) };
    let before = stack.evaluated(&stack.state())?;
    let after = stack.evaluated(&stack.changed(changes)?)?;
    let main: Vec<(usize, &Declared)> = stack
        .models()
        .enumerate()
        .filter(|(at, model)| model.main && before[*at].is_time && before[*at].value > 0.0)
        .collect();
    if main.is_empty() {
        let why = "no main model of the table is a time above 0".to_owned();
        return Err(StackError { subject: String::new(), why, unknown: None }.into());
    }
    for (at, model) in &main {
        sound(model, &after[*at], changes)?;
    }
    let compared = |(at, model): &(usize, &Declared)| {
        compare(stack, model, &before[*at], &after[*at], &estimate)
    };
    let mut models = main.iter().map(compared).collect::<Result<Vec<_>, AssembleError>>()?;
    if let Some(breakdown) = of {
        models.iter_mut().for_each(|model| judged(model, breakdown));
    }
    let first = &main[..main.len().min(FIRST)];
    let ranked = first
        .iter()
        .map(|(at, model)| ranked(stack, *at, model, &estimate))
        .collect::<Result<Vec<_>, AssembleError>>()?;
    let curves = drawn(table, changes, first)
        .iter()
        .map(|curves| speed_ups(stack, &before, curves, &estimate))
        .collect::<Result<Vec<_>, AssembleError>>()?;
    // What no change touches has no picture.
    let curves = curves.into_iter().filter(|drawn| !drawn.curves.is_empty()).collect();
    let told = findings::Told { table, changes, of, before: &before };
    let findings = told.sentences(&models, &ranked)?;
    let ranking = ranked.into_iter().map(|ranked| ranked.ranking).collect();
    Ok(WhatIf {
        name: table.name.clone(),
        changes: changes.iter().map(|change| made(stack, change)).collect::<Result<_, _>>()?,
        models,
        ranking,
        curves,
        findings,
    })
}

/// That a model can be counted with after the changes.
fn sound(model: &Declared, after: &Modelled, changes: &[Change]) -> Result<(), StackError> {
    if after.is_sound() {
        return Ok(());
    }
    let what: Vec<&str> = changes.iter().map(Change::what).collect();
    let why = format!(
        "with this change of {} the formula of '{}' gives no number to count with: it divides by what takes no time \
         any more, or times are too long",
        what.join(", "),
        model.name
    );
    Err(StackError { subject: model.name.clone(), why, unknown: None })
}

/// A change of a name as it is declared.
fn spelled(stack: &Stack, change: &Change) -> Change {
    let what = stack.spelled(change.what());
    match *change {
        Change::Scale { factor, .. } => Change::Scale { what, factor },
        Change::Set { ns, .. } => Change::Set { what, ns },
    }
}

/// How far a model is off is what its breakdown says, which may have compared it round by round.
fn judged(model: &mut ModelChange, breakdown: &Breakdown) {
    let known = breakdown.models.iter().find(|known| known.name == model.name);
    if let Some(known) = known.filter(|known| known.error.is_some()) {
        model.observed.clone_from(&known.observed);
        model.error.clone_from(&known.error);
        model.within = known.within;
    }
}

/// A change as it is recorded.
fn made(stack: &Stack, change: &Change) -> Result<ChangeMade, StackError> {
    let (reduction, set) = match change {
        Change::Scale { factor, .. } => (Some(1.0 - factor), None),
        Change::Set { what, ns } => {
            let whole = match stack.model(what) {
                Some(at) => stack.evaluated_one(at, &stack.state())?.value,
                None => stack.meant(what)?.iter().map(|at| stack.times()[*at]).sum(),
            };
            ((whole > 0.0).then(|| 1.0 - ns / whole), Some(Seconds::from(Ns(*ns))))
        }
    };
    Ok(ChangeMade { component: change.what().to_owned(), reduction: reduction.map(Number), set })
}

fn compare(
    stack: &Stack,
    model: &Declared,
    before: &Modelled,
    after: &Modelled,
    estimate: &Propagated,
) -> Result<ModelChange, AssembleError> {
    let samples = stack.spread_of(before).1 as u64;
    let time = |of: &Modelled| {
        let how = "formula over components";
        estimate.quantity(of.value, stack.deviation(&of.sources), Unit::Second, how, samples)
    };
    let deviation = stack.deviation(&before.sources);
    let observed = model.observed.map(|observed| {
        estimate.quantity(observed.value, observed.spread, Unit::Second, "given", 1)
    });
    let error = model
        .observed
        .map(|observed| error(before.value, deviation, observed, samples, estimate))
        .transpose()?;
    Ok(ModelChange {
        name: model.name.clone(),
        label: model.label.clone(),
        before: time(before)?,
        observed: observed.transpose()?,
        within: error.as_ref().map(within),
        error,
        after: time(after)?,
        speedup: speedup(stack.saved(before, after), samples, estimate)?,
    })
}

fn speedup(saved: Saved, samples: u64, estimate: &Propagated) -> Result<Quantity, AssembleError> {
    let how = "1 - after / before";
    Ok(estimate.quotient(saved.share, saved.off, how, samples)?)
}

fn ranked(
    stack: &Stack,
    at: usize,
    model: &Declared,
    estimate: &Propagated,
) -> Result<Ranked, AssembleError> {
    let ranked = stack.ranked(at, RANKED)?;
    let whole = stack.evaluated_one(at, &stack.state())?.value;
    let behind = |ranked: &bandgap_model::breakdown::Ranked| {
        let (by, deviation) = ranked.behind;
        (by / whole, deviation.unwrap_or(0.0) * estimate.factor / whole)
    };
    let behind = ranked.iter().map(behind).collect();
    let one = |ranked: &bandgap_model::breakdown::Ranked| {
        let component = &stack.components()[ranked.component];
        Ok(RankedComponent {
            component: component.name.clone(),
            label: component.label.clone(),
            speedup: speedup(ranked.saved, 1, estimate)?,
        })
    };
    let ranking = Ranking {
        model: model.name.clone(),
        label: model.label.clone(),
        reduction: Number(RANKED),
        components: ranked.iter().map(one).collect::<Result<_, AssembleError>>()?,
    };
    Ok(Ranked { ranking, behind })
}
