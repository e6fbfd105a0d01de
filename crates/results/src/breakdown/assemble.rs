//! A breakdown from a table of components.

use bandgap_model::breakdown::insights::spoken;
use bandgap_model::breakdown::{
    By, Declared, Group, Modelled, Observed, Question, Stack, StackError, State, Time,
};
use bandgap_record::{BarDeclared, BarsDeclared, ComponentTable, Number, Quantity, Seconds, Unit};
use bandgap_stats::Rule;
use bandgap_stats::interval::normal_factor;
use bandgap_units::Ns;

use bandgap_campaign::breakdown::TOLERANCE;

use super::schema::{
    BarFigure, Breakdown, ComponentTime, Divided, ModelTime, PartTime, StackedBar, Within,
};
use crate::AssembleError;
use crate::measured::Propagated;

/// Parts of a bar that are named; the others are one part.
const NAMED: usize = 12;

/// Numbers that were written and read again differ by this share of themselves, at most.
const ROUNDING: f64 = 1e-9;

/// The breakdown of a table.
///
/// # Errors
/// A name that a figure or a question has means nothing, or a number cannot be recorded.
pub fn breakdown(
    table: &ComponentTable,
    rule: Rule,
    confidence: f64,
) -> Result<Breakdown, AssembleError> {
    let stack = &table.stack;
    let estimate = Propagated { rule, factor: normal_factor(confidence) };
    let state = stack.state();
    let all = stack.evaluated(&state)?;
    let components = (0..stack.components().len())
        .map(|at| component(stack, at, &estimate))
        .collect::<Result<Vec<_>, AssembleError>>()?;
    let models = stack
        .models()
        .zip(&all)
        .map(|(declared, found)| model(stack, &state, declared, found, &estimate))
        .collect::<Result<Vec<_>, AssembleError>>()?;
    let usual;
    let figures = match table.figures.as_slice() {
        [] => {
            usual = usual_figures(stack, &all);
            &usual
        }
        declared => declared,
    };
    let figures = figures
        .iter()
        .map(|figure| drawn(stack, &state, &all, figure))
        .collect::<Result<Vec<_>, AssembleError>>()?;
    let questions = match table.questions.as_slice() {
        [] => Question::usual(stack),
        asked => asked.to_vec(),
    };
    let mut findings = Vec::new();
    for question in &questions {
        findings.extend(stack.answer_of(&all, question, estimate.factor)?);
    }
    findings.extend(unspread(stack, &all));
    findings.extend(assumed(stack, &all));
    findings.extend(table.notes.iter().cloned());
    Ok(Breakdown {
        name: table.name.clone(),
        description: table.description.clone(),
        components,
        models,
        figures,
        findings,
        measured: None,
    })
}

/// A breakdown that was recorded, whose components and models are those of `table`: as it was recorded if it was
/// measured, since its models were compared round by round; else at this level, with what it said if nothing differs.
/// What follows from the recorded numbers is not taken from the file: whoever changed these may have left it.
///
/// # Errors
/// Those of [`breakdown`].
pub fn again(
    mut recorded: Breakdown,
    table: &ComponentTable,
    rule: Rule,
    confidence: f64,
) -> Result<Breakdown, AssembleError> {
    recorded.models.iter_mut().for_each(follow);
    if recorded.measured.is_some() {
        return Ok(recorded);
    }
    let anew = breakdown(table, rule, confidence)?;
    let alike = |(one, other): (&ModelTime, &ModelTime)| {
        let errors = match (&one.error, &other.error) {
            (Some(one), Some(other)) => same(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        let divided = one.divided.iter().zip(&other.divided).all(same_parts);
        same(&one.modelled, &other.modelled)
            && errors
            && one.divided.len() == other.divided.len()
            && divided
    };
    let is_same = recorded.models.iter().zip(&anew.models).all(alike);
    Ok(if is_same { recorded } else { anew })
}

/// The verdict of a model that its error gives, and the shares that its parts' times give.
fn follow(model: &mut ModelTime) {
    model.within = model.error.as_ref().map(within);
    let whole = model.modelled.value.0;
    for part in model.divided.iter_mut().flat_map(|divided| &mut divided.parts) {
        let share = if whole == 0.0 { 0.0 } else { part.time.0.0 / whole };
        if !near(part.share.0, share) {
            part.share = Number(share);
        }
    }
}

/// Whether a time is divided into the same parts.
fn same_parts((one, other): (&Divided, &Divided)) -> bool {
    let alike = |(one, other): (&PartTime, &PartTime)| {
        one.name == other.name && near(one.time.0.0, other.time.0.0)
    };
    one.by == other.by
        && one.parts.len() == other.parts.len()
        && one.parts.iter().zip(&other.parts).all(alike)
}

/// Whether two numbers are the same but for rounding.
fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= ROUNDING * one.abs().max(other.abs())
}

/// Whether two quantities are the same but for rounding.
fn same(one: &Quantity, other: &Quantity) -> bool {
    let ends = match (one.interval(), other.interval()) {
        (Some(one), Some(other)) => near(one.0, other.0) && near(one.1, other.1),
        (one, other) => one.is_none() && other.is_none(),
    };
    ends && near(one.value.0, other.value.0) && one.converged == other.converged
}

fn component(
    stack: &Stack,
    at: usize,
    estimate: &Propagated,
) -> Result<ComponentTime, AssembleError> {
    let one = &stack.components()[at];
    let deviation = stack.deviation(&stack.sources(at));
    let (how, samples) = match &one.time {
        Time::Given { .. } => ("given", 1),
        Time::Derived(_) => ("formula over given times", stack.sources(at).len() as u64),
    };
    Ok(ComponentTime {
        name: one.name.clone(),
        label: one.label.clone(),
        category: one.category,
        layer: one.layer,
        side: one.side,
        time: estimate.quantity(stack.times()[at], deviation, Unit::Second, how, samples)?,
        spread: stack.spread(at).map(|spread| Ns(spread).into()),
        provenance: one.provenance,
        formula: match &one.time {
            Time::Given { .. } => None,
            Time::Derived(formula) => Some(formula.clone()),
        },
        part_of: one.part_of.clone(),
        apart: one.apart,
    })
}

fn model(
    stack: &Stack,
    state: &State,
    declared: &Declared,
    found: &Modelled,
    estimate: &Propagated,
) -> Result<ModelTime, AssembleError> {
    let unit = if found.is_time { Unit::Second } else { Unit::One };
    let deviation = stack.deviation(&found.sources);
    let samples = stack.spread_of(found).1 as u64;
    let how = "formula over components";
    let modelled = estimate.quantity(found.value, deviation, unit, how, samples)?;
    let observed = declared.observed;
    let error = observed.map(|observed| error(found.value, deviation, observed, samples, estimate));
    let error = error.transpose()?;
    let divided = By::ALL.iter().filter(|_| found.is_time).map(|(by, name)| Divided {
        by: (*name).to_owned(),
        parts: parts(stack.divided(found, state, *by, None), found.value),
    });
    Ok(ModelTime {
        name: declared.name.clone(),
        label: declared.label.clone(),
        formula: declared.formula.clone(),
        main: declared.main,
        modelled,
        observed: observed
            .map(|Observed { value, spread }| estimate.quantity(value, spread, unit, "given", 1))
            .transpose()?,
        observed_spread: observed.and_then(|observed| observed.spread).map(|ns| Ns(ns).into()),
        within: error.as_ref().map(within),
        error,
        divided: divided.collect(),
    })
}

/// modelled / observed − 1, the errors of both being independent.
pub(crate) fn error(
    modelled: f64,
    deviation: Option<f64>,
    observed: Observed,
    samples: u64,
    estimate: &Propagated,
) -> Result<Quantity, AssembleError> {
    let Observed { value, spread } = observed;
    let both =
        [deviation.map(|own| own / value), spread.map(|own| modelled * own / (value * value))];
    let known = both.iter().any(Option::is_some);
    let deviation = known.then(|| both.iter().flatten().map(|own| own * own).sum::<f64>().sqrt());
    let how = "modelled / observed - 1";
    Ok(estimate.quantity(modelled / value - 1.0, deviation, Unit::One, how, samples + 1)?)
}

/// Whether an error is within what counts as right.
pub(crate) fn within(error: &Quantity) -> Within {
    let (low, high) = error.interval().unwrap_or((error.value.0, error.value.0));
    if low >= -TOLERANCE && high <= TOLERANCE {
        Within::Yes
    } else if high < -TOLERANCE || low > TOLERANCE {
        Within::No
    } else {
        Within::Undecided
    }
}

fn parts(found: Vec<(String, f64)>, whole: f64) -> Vec<PartTime> {
    let share = |time: f64| Number(if whole == 0.0 { 0.0 } else { time / whole });
    let part = |(name, time)| PartTime { name, time: Seconds::from(Ns(time)), share: share(time) };
    found.into_iter().map(part).collect()
}

/// A figure as it is declared, its names those that readers know.
fn drawn(
    stack: &Stack,
    state: &State,
    all: &[Modelled],
    figure: &BarsDeclared,
) -> Result<BarFigure, AssembleError> {
    let mut bars = Vec::new();
    for bar in &figure.bars {
        let BarDeclared { model, by, only, label } = bar;
        let at = stack.model(model).ok_or_else(|| StackError {
            subject: model.clone(),
            why: format!("a figure is about '{model}', which is no model"),
            unknown: Some(model.clone()),
        })?;
        let title = || stack.models().nth(at).map_or("", Declared::title).to_owned();
        let found = stack.divided(&all[at], state, *by, *only);
        let whole: f64 = found.iter().map(|(_, time)| time).sum();
        let named = found.into_iter().map(|(key, time)| (titled(stack, *by, &key), time));
        bars.push(StackedBar {
            name: label.clone().unwrap_or_else(title),
            whole: Ns(whole).into(),
            parts: parts(shortened(named.collect()), whole),
        });
    }
    Ok(BarFigure { title: figure.title.clone(), bars })
}

/// The longest parts in their order, and the sum of the others.
fn shortened(mut found: Vec<(String, f64)>) -> Vec<(String, f64)> {
    if found.len() <= NAMED {
        return found;
    }
    let mut times: Vec<f64> = found.iter().map(|(_, time)| *time).collect();
    times.sort_by(|a, b| b.total_cmp(a));
    let least = times[NAMED - 2];
    let (mut others, mut count, mut kept) = (0.0, 0, 0);
    found.retain(|(_, time)| {
        let keeps = *time >= least && kept < NAMED - 1;
        (kept, count) = if keeps { (kept + 1, count) } else { (kept, count + 1) };
        others += if keeps { 0.0 } else { *time };
        keeps
    });
    found.push((format!("{count} others"), others));
    found
}

/// What readers call a part.
fn titled(stack: &Stack, by: By, key: &str) -> String {
    let (name, side) = key.split_once('@').map_or((key, None), |(name, side)| (name, Some(side)));
    let component = || stack.component_named(name).map(|one| one.title().to_owned());
    let model = || Some(stack.models().nth(stack.model(name)?)?.title().to_owned());
    let title = match by {
        By::Component => component(),
        By::Term => component().or_else(model),
        By::Category | By::Layer | By::Side => None,
    };
    let title = title.unwrap_or_else(|| spoken(name).to_owned());
    side.map_or(title.clone(), |side| format!("{title}, {side}"))
}

/// Each main model by component, category, layer and side, as far as it has several.
fn usual_figures(stack: &Stack, all: &[Modelled]) -> Vec<BarsDeclared> {
    let main = stack.models().zip(all).filter(|(model, found)| model.main && found.is_time);
    main.map(|(model, _)| BarsDeclared {
        title: format!("{} by component, category, layer and side", model.title()),
        bars: By::ALL
            .iter()
            .filter(|(by, _)| *by != By::Term)
            .map(|(by, name)| BarDeclared {
                model: model.name.clone(),
                by: *by,
                only: None::<Group>,
                label: Some((*name).to_owned()),
            })
            .collect(),
    })
    .collect()
}

/// What the intervals do not hold.
pub(crate) fn unspread(stack: &Stack, all: &[Modelled]) -> Option<String> {
    let used = all.iter().flat_map(|one| &one.sources).filter(|(_, times)| **times != 0.0);
    let mut used: Vec<usize> = used.map(|(at, _)| *at).collect();
    used.sort_unstable();
    used.dedup();
    let lacking = used.iter().filter(|at| stack.spread(**at).is_none()).count();
    match (lacking, used.len()) {
        (0, _) => None,
        (lacking, all) if lacking == all => {
            Some("No component has a spread, so what is modelled has no intervals.".to_owned())
        }
        (lacking, all) => Some(format!(
            "{lacking} of {all} components have no spread: the intervals of what is modelled do not \
             contain theirs."
        )),
    }
}

/// Which times are assumed, where some are and others are not.
fn assumed(stack: &Stack, all: &[Modelled]) -> Option<String> {
    use bandgap_model::breakdown::Provenance;
    // What cancels is nothing that a model rests on.
    let rests = |model: &Modelled, at: usize| model.sources.get(&at).is_some_and(|of| *of != 0.0);
    let names: Vec<&str> = (0..stack.components().len())
        .filter(|at| stack.components()[*at].provenance == Provenance::Assumed)
        .filter(|at| all.iter().any(|model| rests(model, *at)))
        .map(|at| stack.components()[at].name.as_str())
        .collect();
    if names.is_empty() {
        return None;
    }
    if names.len() == stack.components().len() {
        return Some("All times count as assumed: of none it is said that it was measured.".into());
    }
    let known = |at: usize| stack.components()[at].provenance == Provenance::Assumed;
    let models = stack.models().zip(all);
    let resting =
        models.filter(|(_, model)| model.sources.keys().any(|at| known(*at) && rests(model, *at)));
    let resting: Vec<&str> = resting.map(|(model, _)| model.name.as_str()).collect();
    Some(format!(
        "Assumed, and not measured: {}. Models that rest on {}: {}.",
        few(&names),
        if names.len() == 1 { "it" } else { "them" },
        few(&resting)
    ))
}

/// Names, as many as a sentence can hold.
fn few(names: &[&str]) -> String {
    match names.len() {
        0..=8 => names.join(", "),
        more => format!("{} and {} more", names[..7].join(", "), more - 7),
    }
}
