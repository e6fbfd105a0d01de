//! A breakdown of a transport of bandgap's, from batches.

use std::collections::BTreeSet;

use bandgap_campaign::Setting;
use bandgap_campaign::breakdown::{
    BREAKDOWN, BreakdownPlan, Came, Division, ENOUGH, Hidden, Longer, Model, Rounds, Seen, alone,
    came_back, key, rounds,
};
use bandgap_campaign::judge::Judged;
use bandgap_comm::Stamping;
use bandgap_model::breakdown::{
    Category, Component, Errors, Layer, Observed, Provenance, Side, Stack,
};
use bandgap_record::{ComponentTable, Convergence, Evidence, Number, Quantity};
use bandgap_stats::Rule;
use bandgap_stats::interval::{Interval, normal_factor};
use bandgap_stats::paired::PairedRatio;
use bandgap_stats::quantile::{mean, quantile_sorted, sorted};
use bandgap_units::Ns;

use super::assemble::{breakdown, decided, within};
use super::schema::{Arrivals, Breakdown, HiddenTime, Inserted, Measured, ModelRounds, Within};
use crate::AssembleError;
use crate::measured::{Launches, State};

/// Lengths of arrivals' intervals that are recorded, as shares of all.
const SHARES: [f64; 13] = [0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];

/// How times over rounds are estimated.
const OVER_ROUNDS: &str = "mean over rounds of the middle of their batches, t interval";
/// The same of what rests on the bare loop.
const OVER_LEAST: &str =
    "mean over rounds, of the bare loop the least of their batches, t interval";

/// Bandgap's own code is the high-level protocol, the system's calls on a socket are the low-level one; a line of memory
/// moves without any software.
#[rustfmt::skip] // One line each.
const ABOUT: [(&str, Category, Layer, Side); 10] = [
    ("turn", Category::Cpu, Layer::Hlp, Side::Both),
    ("visible", Category::Cpu, Layer::Llp, Side::Initiator),
    ("poll", Category::Cpu, Layer::Llp, Side::Target),
    ("receive", Category::Cpu, Layer::Llp, Side::Target),
    ("send_calls", Category::Cpu, Layer::Llp, Side::Initiator),
    ("receive_calls", Category::Cpu, Layer::Llp, Side::Initiator),
    ("failing_polls", Category::Cpu, Layer::Llp, Side::Initiator),
    ("own_code", Category::Cpu, Layer::Hlp, Side::Initiator),
    ("slot", Category::Network, Layer::Hardware, Side::Network),
    ("software", Category::Cpu, Layer::Hlp, Side::Both),
];

/// The components of models, and the models as their sums.
fn stack(found: &[(Model, Rounds)], confidence: f64) -> Stack {
    let mut stack = Stack::default();
    for (model, rounds) in found.iter().filter(|(_, rounds)| !rounds.parts.is_empty()) {
        let mut row = Vec::new();
        for (name, values) in &rounds.parts {
            let Some((_, category, layer, side)) = ABOUT.iter().find(|(of, ..)| of == name) else {
                continue;
            };
            let (value, spread) = known(rounds, values, confidence);
            let one = Component {
                name: (*name).to_owned(),
                category: *category,
                layer: *layer,
                side: *side,
                // Of what is short beside a stamp, the stamp's cost may be more than there was.
                ns: value.max(0.0),
                errors: Errors::new(),
                provenance: match *name {
                    "software" => Provenance::Derived,
                    _ => Provenance::Measured,
                },
            };
            row.push(stack.push(one.spread(spread)));
        }
        let (ns, spread) = known(rounds, &rounds.observed, confidence);
        stack.sums(model.name(), &[&row], Some(Observed { ns, spread }));
    }
    stack
}

/// The mean of a value for every round, and its standard deviation.
fn known(rounds: &Rounds, values: &[f64], confidence: f64) -> (f64, Option<f64>) {
    match rounds.mean(values, confidence) {
        Some((value, interval)) => (value, Some(interval.half_width() / normal_factor(confidence))),
        None => (mean(values), None),
    }
}

/// The same as it is recorded.
fn time(
    rounds: &Rounds,
    values: &[f64],
    how: &str,
    judged: &Judged<'_>,
) -> Result<Quantity, AssembleError> {
    let count = rounds.rounds.len() as u64;
    let found = rounds.mean(values, judged.confidence());
    let (value, interval) = found.map_or((mean(values), None), |(value, of)| (value, Some(of)));
    let rule = Rule { precision: judged.precision(), stamp: 0.0 };
    let converged = interval.map_or(Convergence::No, |of| rule.judge(of.half_width(), value));
    // What came out below 0 stands as 0, and its interval holds that.
    let value = value.max(0.0);
    let ends = interval.map(|of| (Ns(of.low.min(value)), Ns(of.high.max(value))));
    Ok(Quantity::time(Ns(value), ends, Evidence::new(how, count, converged))?)
}

/// The breakdown of what was measured over one transport.
///
/// # Errors
/// Too little was measured, or a number cannot be recorded.
pub(crate) fn measured(
    setting: &Setting,
    plan: &BreakdownPlan,
    judged: &Judged<'_>,
) -> Result<Breakdown, AssembleError> {
    let found: Vec<(Model, Rounds)> = Model::ALL
        .into_iter()
        .map(|model| Some((model, rounds(judged, model, &plan.divided)?)))
        .collect::<Option<_>>()
        .ok_or(AssembleError::NoRounds)?;
    let stack = stack(&found, judged.confidence());
    let table = ComponentTable { name: setting.transport.clone(), stack, lacking: Vec::new() };
    let rule = Rule { precision: judged.precision(), stamp: 0.0 };
    let mut breakdown = breakdown(&table, rule, judged.confidence())?;
    for model in &mut breakdown.models {
        let rounds = found.iter().find(|(of, _)| of.name() == model.name);
        let Some((_, rounds)) = rounds else { continue };
        // The transfer and what is hidden behind it are seen on the bare loop.
        let how = if rounds.hidden.is_some() { OVER_LEAST } else { OVER_ROUNDS };
        model.modelled = time(rounds, &rounds.modelled(), how, judged)?;
        model.observed = Some(time(rounds, &rounds.observed, OVER_ROUNDS, judged)?);
        let error = error(rounds, judged)?;
        // Without an interval nothing is decided.
        model.within = Some(error.interval().map_or(Within::Undecided, |_| within(&error)));
        model.error = Some(error);
        for (name, values) in &rounds.parts {
            let found = breakdown.components.iter_mut().find(|one| one.name == *name);
            let Some(component) = found else { continue };
            component.time = time(rounds, values, how, judged)?;
        }
    }
    let launches: Vec<BTreeSet<u32>> = found.iter().map(|(_, rounds)| rounds.launches()).collect();
    let measured = judged.table().iter().flat_map(|(_, batches)| batches);
    let launches =
        Launches::of_points(setting.launches, measured.map(|batch| batch.launch), &launches);
    let about = Measured { lost_launches: launches.lost, ..about(setting, plan, judged, &found)? };
    breakdown.measured = Some(about);
    Ok(breakdown)
}

/// The error of a model, paired by round. It has no interval where what was observed differs so much between rounds or
/// launches that any error is possible.
fn error(rounds: &Rounds, judged: &Judged<'_>) -> Result<Quantity, AssembleError> {
    let ratio = rounds.error(judged.confidence());
    let value = ratio.map_or_else(
        || mean(&rounds.modelled()) / mean(&rounds.observed) - 1.0,
        |ratio| ratio.value,
    );
    of_rounds(value, ratio, rounds.rounds.len())
}

/// A ratio less 1, as it is recorded.
fn of_rounds(
    value: f64,
    ratio: Option<PairedRatio>,
    rounds: usize,
) -> Result<Quantity, AssembleError> {
    let interval = ratio.map(|ratio| ratio.interval);
    let converged = interval.is_some_and(|of| of.half_width() <= ENOUGH);
    let how = "modelled / observed - 1, paired by round";
    let ends = interval.map(|Interval { low, high }| (low, high));
    Ok(Quantity::number(value, ends, Evidence::new(how, rounds as u64, converged))?)
}

/// What is known of the measurement beside the components.
fn about(
    setting: &Setting,
    plan: &BreakdownPlan,
    judged: &Judged<'_>,
    found: &[(Model, Rounds)],
) -> Result<Measured, AssembleError> {
    let inserted = came_back(judged, &plan.inserted);
    let arrivals = sorted(
        &judged
            .table()
            .batches(&key(Model::Injection, Stamping::Arrivals))
            .iter()
            .filter(|batch| judged.counts(batch))
            .flat_map(|batch| batch.samples.iter().copied())
            .collect::<Vec<f64>>(),
    );
    Ok(Measured {
        transport: setting.transport.clone(),
        hidden: found
            .iter()
            .find_map(|(_, rounds)| hidden(rounds, judged).transpose())
            .transpose()?,
        alone: match plan.divided {
            Division::Calls => None,
            Division::Lines(_) => {
                let rounds = found.first().map_or(0, |(_, rounds)| rounds.rounds.len());
                let ratio = alone(judged);
                ratio.map(|ratio| of_rounds(ratio.value, Some(ratio), rounds)).transpose()?
            }
        },
        state: State::seen(judged, judged.table().of(BREAKDOWN)),
        rounds: found
            .iter()
            .filter(|(_, rounds)| !rounds.parts.is_empty())
            .map(|(model, rounds)| ModelRounds {
                model: model.name().to_owned(),
                rounds: rounds.rounds.len() as u64,
                outside: rounds.outside as u64,
                held_up: Number(rounds.held_up),
            })
            .collect(),
        lost_launches: Vec::new(),
        stamp: match plan.divided {
            Division::Calls => found.first().map(|(_, rounds)| Ns(rounds.stamp).into()),
            // All that is timed there has as many stamps, which differences do not hold.
            Division::Lines(_) => None,
        },
        inserted: inserted
            .iter()
            .map(|one| came(one, judged.precision()))
            .collect::<Result<_, AssembleError>>()?,
        arrivals: (!arrivals.is_empty()).then(|| Arrivals {
            count: arrivals.len() as u64,
            quantiles: SHARES
                .map(|share| (Number(share), Ns(quantile_sorted(&arrivals, share)).into()))
                .to_vec(),
        }),
    })
}

/// What of the software is hidden behind the transfer of a line.
fn hidden(rounds: &Rounds, judged: &Judged<'_>) -> Result<Option<HiddenTime>, AssembleError> {
    let Some(Hidden { values, seen }) = &rounds.hidden else { return Ok(None) };
    let (time, seen) = match seen {
        Seen::Yes => (Some(time(rounds, values, OVER_LEAST, judged)?), "yes"),
        Seen::LongerThanItself => (None, "longer_than_itself"),
        Seen::NoComputation => (None, "no_computation"),
    };
    Ok(Some(HiddenTime { time, seen: seen.to_owned() }))
}

/// A computation that was inserted, and what came back of it.
fn came(came: &Came, precision: f64) -> Result<Inserted, AssembleError> {
    let rule = Rule { precision, stamp: 0.0 };
    let longer = |Longer { value, interval, rounds, .. }: &Longer| {
        let ends = Some((Ns(interval.low), Ns(interval.high)));
        let converged = rule.judge(interval.half_width(), *value);
        let how = "mean of the differences within each round, t interval";
        Quantity::time(Ns(*value), ends, Evidence::new(how, *rounds as u64, converged))
    };
    Ok(Inserted {
        border: came.border,
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
