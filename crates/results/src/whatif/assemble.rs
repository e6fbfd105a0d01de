//! What changes of a table's components would bring.

use bandgap_model::breakdown::insights::begun;
use bandgap_model::breakdown::{Change, Declared, Modelled, Saved, Stack, StackError};
use bandgap_record::{ComponentTable, CurvesDeclared, Number, Quantity, Seconds, Unit};
use bandgap_stats::Rule;
use bandgap_stats::interval::normal_factor;
use bandgap_units::{Fraction, Ns};

use super::schema::{
    ChangeMade, ModelChange, RankedComponent, Ranking, SpeedUpCurve, SpeedUpPoint, SpeedUps, WhatIf,
};
use crate::AssembleError;
use crate::breakdown::assemble::unspread;
use crate::measured::{Propagated, listed};

/// By how much each component is reduced for the ranking.
pub const RANKED: f64 = 0.2;

/// Main models that are ranked and drawn, at most: each takes many evaluations of all.
const FIRST: usize = 8;

/// Names of the curves of a table that declares none.
const USUAL: [&str; 6] = ["cpu", "io", "network", "hlp", "llp", "hardware"];

/// What `changes`, made together, bring.
///
/// # Errors
/// A name means nothing, changes contradict each other, no model is a time, or a number cannot be recorded.
pub fn whatif(
    table: &ComponentTable,
    changes: &[Change],
    rule: Rule,
    confidence: f64,
) -> Result<WhatIf, AssembleError> {
    let stack = &table.stack;
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
    let compared = |(at, model): &(usize, &Declared)| {
        compare(stack, model, &before[*at], &after[*at], &estimate)
    };
    let models = main.iter().map(compared).collect::<Result<Vec<_>, AssembleError>>()?;
    let first = &main[..main.len().min(FIRST)];
    let ranking = first
        .iter()
        .map(|(at, model)| ranking(stack, *at, model, &estimate))
        .collect::<Result<Vec<_>, AssembleError>>()?;
    let curves = drawn(table, changes, first)
        .iter()
        .map(|curves| speed_ups(stack, &before, curves, &estimate))
        .collect::<Result<Vec<_>, AssembleError>>()?;
    let mut findings: Vec<String> =
        if changes.is_empty() { Vec::new() } else { models.iter().map(saved_in_words).collect() };
    findings.extend(ranking.iter().filter_map(first_in_words));
    findings.extend(unspread(stack, &before));
    findings.extend(table.notes.iter().cloned());
    Ok(WhatIf {
        name: table.name.clone(),
        changes: changes.iter().map(|change| made(stack, change)).collect::<Result<_, _>>()?,
        models,
        ranking,
        curves,
        findings,
    })
}

/// A change as it is recorded.
fn made(stack: &Stack, change: &Change) -> Result<ChangeMade, StackError> {
    let (reduction, set) = match change {
        Change::Scale { factor, .. } => (Some(1.0 - factor), None),
        Change::Set { what, ns } => {
            let whole = match stack.model(what) {
                Some(at) => stack.evaluated(&stack.state())?[at].value,
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
    Ok(ModelChange {
        name: model.name.clone(),
        label: model.label.clone(),
        before: time(before)?,
        after: time(after)?,
        speedup: speedup(stack.saved(before, after), samples, estimate)?,
    })
}

fn speedup(saved: Saved, samples: u64, estimate: &Propagated) -> Result<Quantity, AssembleError> {
    let how = "1 - after / before";
    Ok(estimate.quantity(saved.share, saved.deviation, Unit::One, how, samples)?)
}

fn ranking(
    stack: &Stack,
    at: usize,
    model: &Declared,
    estimate: &Propagated,
) -> Result<Ranking, AssembleError> {
    let ranked = stack.ranked(at, RANKED)?;
    let one = |ranked: &bandgap_model::breakdown::Ranked| {
        let component = &stack.components()[ranked.component];
        Ok(RankedComponent {
            component: component.name.clone(),
            label: component.label.clone(),
            speedup: speedup(ranked.saved, 1, estimate)?,
        })
    };
    Ok(Ranking {
        model: model.name.clone(),
        label: model.label.clone(),
        reduction: Number(RANKED),
        components: ranked.iter().map(one).collect::<Result<_, AssembleError>>()?,
    })
}

/// Which curves are drawn: of what is changed, or else those declared, or else of each category and layer.
fn drawn(
    table: &ComponentTable,
    changes: &[Change],
    main: &[(usize, &Declared)],
) -> Vec<CurvesDeclared> {
    if changes.is_empty() && !table.curves.is_empty() {
        return table.curves.clone();
    }
    let of: Vec<String> = match changes {
        [] => USUAL.iter().map(|name| (*name).to_owned()).collect(),
        some => some.iter().map(|change| change.what().to_owned()).collect(),
    };
    // Those that the table draws, if it does.
    let declared = |model: &Declared| {
        table.curves.is_empty() || table.curves.iter().any(|curves| curves.model == model.name)
    };
    let main = main.iter().filter(|(_, model)| declared(model));
    main.map(|(_, model)| CurvesDeclared {
        title: model.title().to_owned(),
        model: model.name.clone(),
        of: of.clone(),
    })
    .collect()
}

fn speed_ups(
    stack: &Stack,
    before: &[Modelled],
    curves: &CurvesDeclared,
    estimate: &Propagated,
) -> Result<SpeedUps, AssembleError> {
    let at = stack.model(&curves.model).ok_or_else(|| StackError {
        subject: curves.model.clone(),
        why: format!("'{}' is no model", curves.model),
        unknown: Some(curves.model.clone()),
    })?;
    let point = |of: &str, reduction: f64| -> Result<SpeedUpPoint, AssembleError> {
        let change = Change::Scale { what: of.to_owned(), factor: 1.0 - reduction };
        let after = stack.evaluated(&stack.changed(&[change])?)?;
        let saved = stack.saved(&before[at], &after[at]);
        let reach = saved.deviation.map(|deviation| deviation * estimate.factor);
        Ok(SpeedUpPoint {
            reduction: Number(reduction),
            speedup: Number(saved.share),
            low: reach.map(|reach| Number(saved.share - reach)),
            high: reach.map(|reach| Number(saved.share + reach)),
        })
    };
    let mut drawn = Vec::new();
    for of in &curves.of {
        let points = (1..10_u8).map(|tenth| point(of, f64::from(tenth) / 10.0));
        let points = points.collect::<Result<Vec<_>, AssembleError>>()?;
        // What the model does not hold has no curve.
        if points.iter().any(|point| point.speedup != Number(0.0)) {
            drawn.push(SpeedUpCurve { of: of.clone(), points });
        }
    }
    let (title, model) = (curves.title.clone(), curves.model.clone());
    Ok(SpeedUps { title, model, curves: drawn })
}

/// From this saved share on a change is called substantial, as the paper does.
const SUBSTANTIAL: f64 = 0.05;

fn saved_in_words(model: &ModelChange) -> String {
    let share = model.speedup.value.0;
    let title = begun(model.title());
    let size = match model.speedup.interval().unwrap_or((share, share)) {
        (low, _) if low > SUBSTANTIAL => "a substantial speed-up (more than 5 %)",
        (_, high) if high <= 0.0 => "no speed-up",
        (_, high) if high <= SUBSTANTIAL => "no substantial speed-up (at most 5 %)",
        _ => "a speed-up that may or may not be substantial (more than 5 %)",
    };
    if share == 0.0 {
        format!("{title} stays as it is.")
    } else if share < 0.0 {
        format!("{title} takes {} longer.", Fraction(-share))
    } else {
        format!("{title} takes {} less: {size}.", Fraction(share))
    }
}

/// Shares that differ by no more are alike: by rounding.
const ALIKE: f64 = 1e-9;

fn title(component: &RankedComponent) -> String {
    component.title().to_owned()
}

fn first_in_words(ranking: &Ranking) -> Option<String> {
    let most = ranking.components.first()?.speedup.value.0;
    let saves = |one: &&RankedComponent| (most - one.speedup.value.0).abs() <= ALIKE * most;
    let first: Vec<String> = ranking.components.iter().take_while(saves).map(title).collect();
    let (saves, each) = if first.len() == 1 { ("saves", "") } else { ("save", " each") };
    (most > 0.0).then(|| {
        format!(
            "Of single components made {} shorter, {} {saves} most of {}: {}{each}.",
            Fraction(ranking.reduction.0),
            listed(&first),
            ranking.title(),
            Fraction(most)
        )
    })
}
