//! Breakdowns of a message's time: from a table of components, or from a measurement over one transport.

use bandgap_campaign::breakdown::{
    AWAITED_PAIR, BYTES, BreakdownPlan, Came, ENOUGH, Longer, PAIR, Rounds, TOLERANCE, came_back,
    inexact, passed, rounds, stamp,
};
use bandgap_campaign::floors;
use bandgap_comm::division::{self, At, Division};
use bandgap_model::breakdown::{
    By, Component, Errors, Model, Observed, Provenance, Stack, Term, Value, deviation, verdict,
};
use bandgap_record::{Column, ComponentTable, Form, Labels, Note, Number, Quantity, Unit};
use bandgap_results::{
    Beside, Breakdown, ComponentTime, Inserted, ModelTime, PartTime, PartsBy, TermOf, Within,
};
use bandgap_stats::interval::normal_factor;
use bandgap_stats::quantile::mean;
use bandgap_stats::{Convergence, Interval, Rule};
use bandgap_units::Ns;

use crate::estimate::{Estimated, Measured};
use crate::made::{Builder, Made};
use crate::{AssembleError, Result};

/// Parts of a model below this share of it are what rounding leaves.
const ROUNDING: f64 = 1e-12;
/// The transports of UCT through shared memory, and their floor.
const MEMORY: [&str; 2] = ["posix", "sysv"];
const LINE: &str = "mpi_line";
/// Components that a note names, at most.
const NAMED: usize = 3;
/// A note is written if more than this share of the rounds is left out, or if a typical batch exceeds the shortest of its
/// round by more than this share.
const MANY: f64 = 0.1;

/// The estimators of errors, and of times over rounds.
const PAIRED: &str = "modelled / observed - 1, paired by round";
const OVER_ROUNDS: &str = "mean over rounds of the middle of their batches, t interval";
/// The estimator of times that use the bare loop.
const OVER_LEAST: &str =
    "mean over rounds, of the bare loop the least of their batches, t interval";

/// Turns a value with a standard deviation into an estimate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Propagated {
    /// When an estimate counts as converged.
    rule: Rule,
    /// How many standard deviations the interval reaches to either side.
    pub factor: f64,
}

impl Propagated {
    /// At a level of confidence.
    pub fn new(rule: Rule, confidence: f64) -> Propagated {
        Propagated { rule, factor: normal_factor(confidence) }
    }

    /// A value, a time in nanoseconds; without a deviation it has no interval.
    pub fn of(
        &self,
        value: f64,
        deviation: Option<f64>,
        (estimator, samples): (&'static str, usize),
    ) -> Estimated {
        let reach = deviation.map(|deviation| deviation * self.factor);
        let interval = reach.map(|reach| Interval { low: value - reach, high: value + reach });
        let convergence = reach.map_or(Convergence::No, |reach| self.rule.judge(reach, value));
        Estimated::new(value, interval, convergence, (estimator, samples as u64))
    }

    /// The time that a model predicts.
    pub fn modelled(&self, value: &Value) -> Result<Quantity> {
        let how = ("sum of components", value.parts.len());
        self.of(value.ns, value.deviation(), how).recorded(Unit::Second)
    }

    /// The relative error of a model against the observed time.
    pub fn error(&self, value: &Value, observed: Observed) -> Result<Quantity> {
        let (error, off) = value.error(observed);
        let how = ("modelled / observed - 1", value.parts.len() + 1);
        self.of(error, off, how).recorded(Unit::One)
    }
}

/// The breakdown of a table.
///
/// # Errors
/// A number cannot be recorded.
pub fn table_breakdown(table: &ComponentTable, rule: Rule, confidence: f64) -> Result<Made> {
    let propagated = Propagated::new(rule, confidence);
    let of = divided(table, &propagated)?;
    let lacks = |lacking: &bandgap_model::breakdown::Lacking| {
        let all = &lacking.components;
        let mut names = all[..all.len().min(NAMED)].join(", ");
        if all.len() > NAMED {
            names += &format!(" and {} more", all.len() - NAMED);
        }
        let note = Note::new("model_lacks", of.id()).with("model", lacking.model.as_str());
        note.with("components", names)
    };
    let notes = table.lacking.iter().map(lacks).collect();
    Ok(Made { results: vec![of.into()], notes }.and(ratios(table, &propagated)?))
}

/// Ratios of models, as far as a table has both: a name, a numerator and a denominator in each line.
///
/// *Source*: "Breaking Band", the bound of section 4.2, p ≥ gen_completion/LLP_post, and the insights of section 6.
const RATIOS: &str = include_str!("ratios.txt");

/// The parameters of a table, and its ratios. An error that numerator and denominator have in common counts once.
fn ratios(ComponentTable { name, stack, .. }: &ComponentTable, by: &Propagated) -> Result<Made> {
    let columns = vec![Column::new("value", Unit::One, "given, or the ratio of two times")];
    let mut rows = Builder::new("ratio", name, "", &["of"], columns);
    rows.rows.form = Form::Details;
    let time = |model: &str| Some(stack.value(stack.model(model)?, &stack.state()));
    let ratio = |line: &'static str| {
        let (name, models) = line.split_once(' ')?;
        let (over, under) = models.split_once(' ')?;
        let (saved, deviation) = time(under)?.saved(&time(over)?);
        Some((name, 1.0 - saved, deviation))
    };
    let given = stack.parameters.iter().map(|(name, value)| (&**name, *value, None));
    for (name, value, deviation) in given.chain(RATIOS.lines().filter_map(ratio)) {
        let mut value = by.of(value, deviation, ("given, or a ratio", 1));
        // What is given is as it is.
        value.convergence = deviation.map_or(Convergence::Converged, |_| value.convergence);
        rows.push(vec![name.into()], Labels::new(), &[Some(value)], None)?;
    }
    Ok(rows.made())
}

fn divided(table: &ComponentTable, propagated: &Propagated) -> Result<Breakdown> {
    let stack = &table.stack;
    let component = |one: &Component| -> Result<ComponentTime> {
        let time = propagated.of(one.ns, deviation(&one.errors), ("given", 1));
        Ok(ComponentTime {
            name: one.name.clone(),
            category: one.category,
            layer: one.layer,
            side: one.side,
            time: time.recorded(Unit::Second)?,
            provenance: one.provenance,
            errors: one.errors.iter().map(|(of, error)| (of.clone(), Ns(*error).into())).collect(),
        })
    };
    let model = |of| model(stack, of, propagated);
    Ok(Breakdown {
        name: table.name.clone(),
        components: stack.components.iter().map(component).collect::<Result<_>>()?,
        parameters: stack.parameters.iter().map(|(name, of)| (name.clone(), Number(*of))).collect(),
        models: stack.models.iter().map(model).collect::<Result<_>>()?,
        measured: None,
    })
}

fn model(stack: &Stack, model: &Model, propagated: &Propagated) -> Result<ModelTime> {
    let value = stack.value(model, &stack.state());
    let observed = model.observed.map(|of| propagated.of(of.ns, of.spread, ("given", 1)));
    let error = model.observed.map(|of| propagated.error(&value, of)).transpose()?;
    let term = |term: &Term| TermOf {
        component: stack.components[term.component].name.clone(),
        layer: term.layer,
        side: term.side,
        times: Number(term.times),
        per: term.per.clone(),
    };
    let part = |(name, ns): (String, f64)| PartTime {
        name,
        time: Ns(ns).into(),
        share: Number(if value.ns == 0.0 { 0.0 } else { ns / value.ns }),
    };
    let divided = By::ALL.map(|(by, name)| {
        let mut parts = stack.divided(&value, by);
        parts.retain(|(_, ns)| ns.abs() > ROUNDING * value.ns.abs());
        PartsBy { by: name.to_owned(), parts: parts.into_iter().map(part).collect() }
    });
    Ok(ModelTime {
        name: model.name.clone(),
        main: model.main,
        modelled: propagated.modelled(&value)?,
        observed: observed.map(|of| of.recorded(Unit::Second)).transpose()?,
        within: error.as_ref().map(within),
        error,
        rows: model.rows.iter().map(|row| row.iter().map(term).collect()).collect(),
        divided: divided.into(),
    })
}

/// Whether an error is within the tolerance.
pub(crate) fn within(error: &Quantity) -> Within {
    let ends = error.interval().unwrap_or((error.value.0, error.value.0));
    decided(verdict(ends, TOLERANCE))
}

fn decided(holds: Option<bool>) -> Within {
    match holds {
        Some(true) => Within::Holds,
        Some(false) => Within::Off,
        None => Within::Undecided,
    }
}

/// The breakdown of a measurement over one transport. Errors are paired by round.
///
/// # Errors
/// Too little was measured, or a number cannot be recorded.
pub fn breakdown(
    of: &Measured<'_>,
    plan: &BreakdownPlan,
    division: &'static Division,
) -> Result<Made> {
    let judged = of.judged;
    let confidence = judged.confidence;
    let mut name = of.setting.transport.clone();
    if plan.bytes != BYTES {
        name += &format!(":bytes={}", plan.bytes);
    }
    let (mut found, mut notes) = (Vec::<Divides>::new(), Vec::new());
    let (mut beside, mut is_memory) = (Beside::default(), false);
    for model in division.models {
        let passes = passed(judged, division, model);
        is_memory |= passes.iter().any(|way| MEMORY.contains(way));
        let passes = passes.join(", ");
        let about = format!("breakdown/{name}/model={}", model.name);
        if let Some((part, count)) = inexact(judged, model) {
            let note =
                Note::new("counts_off", about).with("model", model.name).with("component", part);
            notes.push(note.with("count", count).with("passes", passes));
            continue;
        }
        if !passes.is_empty() {
            beside.passes.insert(model.name.to_owned(), passes);
        }
        let Some(rounds) = rounds(judged, division, model) else {
            notes.push(Note::new("too_little", about).with("what", model.name));
            continue;
        };
        found.push((model, rounds));
    }
    if found.is_empty() {
        return Ok(Made { results: Vec::new(), notes });
    }
    let rule = judged.rule().without_clock();
    let stack = stack(&found, confidence);
    let table = ComponentTable { name, stack, lacking: Vec::new() };
    let mut breakdown = divided(&table, &Propagated::new(rule, confidence))?;
    let id = breakdown.id();
    for model in &mut breakdown.models {
        let rounds = found.iter().find(|(of, _)| of.name == model.name);
        let Some((_, rounds)) = rounds else { continue };
        let of = InRounds { measured: of, rounds, rule };
        let is_bare = rounds.parts.iter().any(|(part, _)| matches!(part.at, At::Floor(_)));
        let how = if is_bare { OVER_LEAST } else { OVER_ROUNDS };
        model.modelled = of.time(&rounds.modelled(), how)?;
        model.observed = Some(of.time(&rounds.observed, OVER_ROUNDS)?);
        let error = of.error()?;
        // Without an interval nothing is decided.
        let within = error.interval().map_or(Within::Undecided, |_| within(&error));
        (model.error, model.within) = (Some(error), Some(within));
        for (part, values) in &rounds.parts {
            let component = breakdown.components.iter_mut().find(|one| one.name == part.name);
            if let Some(component) = component {
                component.time = of.time(values, how)?;
            }
        }
        notes.extend(of.notes(&format!("{id}/model={}", model.name), &model.name));
    }
    let hidden = found.iter().find_map(|(_, rounds)| {
        let hidden = rounds.hidden.as_ref()?;
        Some((InRounds { measured: of, rounds, rule }, hidden))
    });
    if let Some((of, hidden)) = hidden {
        match hidden.is_seen {
            true => beside.hidden = Some(of.time(&hidden.values, OVER_LEAST)?),
            false => notes.push(Note::new("hidden_unseen", id.as_str())),
        }
    }
    let overlap = found.iter().find_map(|(_, rounds)| Some((rounds, rounds.overlap.as_ref()?)));
    if let Some((rounds, overlap)) = overlap {
        let of = InRounds { measured: of, rounds, rule }.mean(overlap, OVER_ROUNDS)?;
        beside.overlap = Some(of.recorded(Unit::Second)?);
    }
    let cost = |name| {
        let cost = stamp(judged, division, name)?;
        Some(of.of_point(&cost, OVER_ROUNDS, rule.judge_point(&cost)).recorded(Unit::Second))
    };
    beside.stamp = cost(PAIR).transpose()?;
    beside.awaited_stamp = cost(AWAITED_PAIR).transpose()?;
    if is_memory {
        let line = of.time(&floors::key(LINE));
        beside.line = line.map(|line| line.recorded(Unit::Second)).transpose()?;
    }
    for came in came_back(judged, division, &plan.inserted) {
        let inserted = inserted(&came, rule)?;
        if [inserted.comes_back, inserted.whole_comes_back].contains(&Within::Off) {
            let about = format!("{id}/component={}/time", came.component);
            let note = Note::new("insertion_lost", about).with("component", came.component);
            let note = note.with("inserted", inserted.inserted.0.0);
            let note = note.with("part", inserted.part.value.0);
            notes.push(note.with("whole", inserted.whole.value.0));
        }
        beside.inserted.push(inserted);
    }
    breakdown.measured = Some(beside);
    Ok(Made { results: vec![breakdown.into()], notes })
}

/// A model of a division, and the rounds in which it was measured.
type Divides = (&'static division::Model, Rounds);

/// The components of models, and the models as their sums.
fn stack(found: &[Divides], confidence: f64) -> Stack {
    let mut stack = Stack::default();
    for (model, rounds) in found {
        let known = |values: &[f64]| match rounds.mean(values, confidence) {
            Some(of) => (of.value, Some(of.interval.half_width() / normal_factor(confidence))),
            None => (mean(values), None),
        };
        let mut row = Vec::new();
        for (part, values) in &rounds.parts {
            let &division::Part { category, layer, side, at, .. } = *part;
            let (value, spread) = known(values);
            let provenance =
                if at == At::Derived { Provenance::Derived } else { Provenance::Measured };
            // For a part that is short compared with a stamp, removing the stamp's cost may leave less than 0.
            let (name, ns, errors) = (part.name.to_owned(), value.max(0.0), Errors::new());
            let one = Component { name, category, layer, side, ns, errors, provenance };
            row.push(stack.push(one.spread(spread)));
        }
        let (ns, spread) = known(&rounds.observed);
        stack.sums(model.name, &[&row], Some(Observed { ns, spread }));
    }
    stack
}

/// Values over the rounds of a model.
struct InRounds<'a> {
    measured: &'a Measured<'a>,
    rounds: &'a Rounds,
    rule: Rule,
}

impl InRounds<'_> {
    /// The mean over rounds.
    fn mean(&self, values: &[f64], how: &'static str) -> Result<Estimated> {
        let mean = self.rounds.mean(values, self.measured.judged.confidence);
        let mean = mean.ok_or(AssembleError::Unmeasured)?;
        let judged = self.rule.judge(mean.interval.half_width(), mean.value);
        Ok(self.measured.of_point(&mean, how, judged))
    }

    /// The same of a time. A mean below 0 is recorded as 0, and the interval is extended to include 0.
    fn time(&self, values: &[f64], how: &'static str) -> Result<Quantity> {
        let mut of = self.mean(values, how)?;
        let value = of.value.max(0.0);
        of.value = value;
        of.interval = of
            .interval
            .map(|Interval { low, high }| Interval { low: low.min(value), high: high.max(value) });
        of.launches.iter_mut().flatten().for_each(|own| *own = own.max(0.0));
        of.recorded(Unit::Second)
    }

    /// The model's error, without an interval if observations differ so much between rounds or launches that any error is
    /// possible.
    fn error(&self) -> Result<Quantity> {
        let rounds = self.rounds;
        let ratio = rounds.error(self.measured.judged.confidence);
        let plain = || mean(&rounds.modelled()) / mean(&rounds.observed) - 1.0;
        let value = ratio.as_ref().map_or_else(plain, |ratio| ratio.value);
        let interval = ratio.map(|ratio| ratio.interval);
        let convergence = interval.is_some_and(|of| of.half_width() <= ENOUGH).into();
        let how = (PAIRED, rounds.rounds.len() as u64);
        Estimated::new(value, interval, convergence, how).recorded(Unit::One)
    }

    /// Notes about the rounds of a model.
    fn notes(&self, id: &str, model: &str) -> Vec<Note> {
        let Rounds { outside, held_up, ref rounds, .. } = *self.rounds;
        let mut notes = Vec::new();
        let all = (outside + rounds.len()) as f64;
        if outside as f64 > MANY * all {
            let note = Note::new("rounds_outside", id).with("outside", outside as f64);
            notes.push(note.with("rounds", all));
        }
        if held_up > 1.0 + MANY {
            let note = Note::new("held_up", id).with("model", model);
            notes.push(note.with("times", held_up));
        }
        notes
    }
}

/// An inserted computation, and how much longer it made its component and the whole.
fn inserted(came: &Came, rule: Rule) -> Result<Inserted> {
    let longer = |&Longer { value, interval, rounds, .. }: &Longer| {
        let convergence = rule.judge(interval.half_width(), value);
        let how = ("mean of the differences within each round, t interval", rounds as u64);
        Estimated::new(value, Some(interval), convergence, how).recorded(Unit::Second)
    };
    Ok(Inserted {
        component: came.component.to_owned(),
        inserted: Ns(came.part.inserted).into(),
        part: longer(&came.part)?,
        comes_back: decided(came.part.comes_back()),
        whole: longer(&came.whole)?,
        whole_comes_back: decided(came.whole.comes_back()),
    })
}

#[cfg(test)]
pub(crate) mod tests;
