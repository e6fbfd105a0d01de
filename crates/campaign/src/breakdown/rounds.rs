//! Rounds in which all parts of a model and the whole were timed, as neighbours in time.

use std::collections::{BTreeMap, BTreeSet};

use bandgap_comm::division::{At, ByRound, Division, Model, Part, Per, Timing};
use bandgap_stats::BatchEstimate;
use bandgap_stats::estimate::{estimate_of_kept, ratio_of_kept};
use bandgap_stats::interval::Interval;
use bandgap_stats::outlier::fence;
use bandgap_stats::quantile::{mean, median};
use bandgap_stats::rounds::InRound;

use super::{ALL_STAMPS, AWAITED_PAIR, PAIR, WHOLE_TIME, count_key, key};
use crate::judge::{Judged, launch_of};
use crate::key::Key;

/// A model's parts and the whole in each round, in nanoseconds per message, without the cost of
/// stamps.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    /// Launch and number of each round.
    pub rounds: Vec<u64>,
    /// The components, each with one value per round.
    pub parts: Vec<(&'static Part, Vec<f64>)>,
    /// The whole time, measured without stamps.
    pub observed: Vec<f64>,
    /// Number of complete rounds that were left out because a value was outside its fence.
    pub outside: usize,
    /// The median batch of a round without stamps over the shortest one: the median over the
    /// rounds.
    pub held_up: f64,
    /// What the processor does at once without stamps: a whole with a stamp at every place, less the whole without and
    /// the stamps. It belongs to no part.
    pub overlap: Option<Vec<f64>>,
    /// The software's time that overlaps with the transfer and so belongs to no part.
    pub hidden: Option<Hidden>,
}

/// The software's time that overlaps with the transfer.
#[derive(Clone, Debug, PartialEq)]
pub struct Hidden {
    /// Nanoseconds each way, one value per round.
    pub values: Vec<f64>,
    /// Whether the computation in place of the software confirms it.
    pub is_seen: bool,
}

/// The median of the batches of each round.
pub(super) fn by_round(judged: &Judged<'_>, key: &Key) -> ByRound {
    of_rounds(judged.in_rounds(key), median)
}

/// The least of the batches of each round.
fn least_by_round(judged: &Judged<'_>, key: &Key) -> ByRound {
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    of_rounds(judged.in_rounds(key), least)
}

/// One value of the values of each round.
pub(super) fn of_rounds(
    values: impl Iterator<Item = InRound>,
    one: impl Fn(&[f64]) -> f64,
) -> ByRound {
    let mut found = BTreeMap::<u64, Vec<f64>>::new();
    for (round, value) in values {
        found.entry(round).or_default().push(value);
    }
    found.into_iter().map(|(round, values)| (round, one(&values))).collect()
}

/// The cost of stamps in one interval, of pairs with this name: the mean over the rounds.
pub fn stamp(judged: &Judged<'_>, division: &Division, name: &str) -> Option<BatchEstimate> {
    let pairs = by_round(judged, &key(division.models.first()?, name));
    let kept = inside(&[&pairs], &complete(&[&pairs]));
    let values: Vec<f64> = kept.iter().filter_map(|round| pairs.get(round).copied()).collect();
    over(&kept, &values, judged.confidence)
}

/// What messages of a model passed, of which there was anything timed, by its division's names.
pub fn passed<'a>(judged: &Judged<'_>, division: &'a Division, model: &Model) -> Vec<&'a str> {
    let key = key(model, WHOLE_TIME).at("of", "passed");
    let batches = judged.table.batches(&key).iter().flat_map(|batch| &batch.samples);
    let all = batches.fold(0, |all, bits| all | *bits as u32);
    let names = division.passes.iter().enumerate();
    names.filter(|(bit, _)| all >> bit & 1 == 1).map(|(_, name)| *name).collect()
}

/// The time of a part in each round, without the cost of stamps.
fn of_part(judged: &Judged<'_>, model: &Model, part: &Part, stamp: f64) -> ByRound {
    let counts = by_round(judged, &count_key(model, part.name));
    let without = |(round, time): (u64, f64)| {
        let intervals = match part.per {
            Per::Interval => 1.0,
            Per::Message => *counts.get(&round)?,
        };
        Some((round, part.share * (time - intervals * part.stamps * stamp)))
    };
    by_round(judged, &key(model, part.name)).into_iter().filter_map(without).collect()
}

/// How far a message may be from its number of intervals.
const EXACT: f64 = 0.0005;

/// The parts that messages pass.
fn on_the_way(judged: &Judged<'_>, model: &'static Model) -> impl Iterator<Item = &'static Part> {
    let is_there = |part: &&Part| !judged.table.batches(&key(model, part.name)).is_empty();
    model.parts.iter().filter(move |part| !part.optional || is_there(part))
}

/// A part whose intervals are not exactly as many as messages, in the mean over batches, and how many each has.
pub fn inexact(judged: &Judged<'_>, model: &'static Model) -> Option<(&'static str, f64)> {
    on_the_way(judged, model).find_map(|part| {
        let (exact, key) = (part.exact?, count_key(model, part.name));
        let counts: Vec<f64> = judged.in_rounds(&key).map(|(_, count)| count).collect();
        let count = (!counts.is_empty()).then(|| mean(&counts))?;
        ((count / exact - 1.0).abs() > EXACT).then_some((part.name, count))
    })
}

/// The times under this name in each round: the least for a floor, else the median.
fn timed(judged: &Judged<'_>, model: &Model, name: &str) -> ByRound {
    let of_floor = |of: Timing| of.name == name && matches!(of.at, At::Floor(_));
    let times = if model.timings().any(of_floor) { least_by_round } else { by_round };
    times(judged, &key(model, name))
}

/// The rounds of the main placement state in which all components of `model` and the whole were
/// timed. Rounds with a value outside its fence are left out. `None` if fewer than two remain.
pub fn rounds(judged: &Judged<'_>, division: &Division, model: &'static Model) -> Option<Rounds> {
    let cost = |name, pair: Option<u8>| match pair {
        Some(_) => stamp(judged, division, name).map(|cost| Some(cost.value)),
        None => Some(None),
    };
    let (stamp, awaited) = (cost(PAIR, division.pair)?, cost(AWAITED_PAIR, division.awaited)?);
    let cost = |part: &Part| if part.awaited { awaited.or(stamp) } else { stamp }.unwrap_or(0.0);
    let own: Vec<&'static Part> = on_the_way(judged, model).collect();
    let (parts, hidden) = match model.derivation {
        None => {
            let of = |part: &Part| of_part(judged, model, part, cost(part));
            let own_time = |part: &&'static Part| {
                let within = own.iter().find(|of| Some(of.name) == part.contains);
                let Some(within) = within.map(|part| of(part)) else { return of(part) };
                let less = |(round, time)| Some((round, time - within.get(&round)?));
                of(part).into_iter().filter_map(less).collect()
            };
            (own.iter().map(own_time).collect(), None)
        }
        Some(derivation) => {
            let derived = (derivation.parts)(&|name| timed(judged, model, name));
            (derived.parts, Some((derived.hidden, derived.is_seen)))
        }
    };
    let whole = by_round(judged, &key(model, WHOLE_TIME));
    let stamped = model.all.map(|_| by_round(judged, &key(model, ALL_STAMPS)));
    let all: Vec<&ByRound> = parts.iter().chain([&whole]).chain(&stamped).collect();
    let complete = complete(&all);
    let kept = inside(&all, &complete);
    let outside = complete.len() - kept.len();
    let values = |of: &ByRound| kept.iter().filter_map(|round| of.get(round).copied()).collect();
    let least = least_by_round(judged, &key(model, WHOLE_TIME));
    let held_up: Vec<f64> = kept.iter().map(|round| whole[round] / least[round]).collect();
    let stamps: f64 = own.iter().map(|part| cost(part)).sum();
    let longer =
        |of: &ByRound| kept.iter().map(|round| of[round] - whole[round] - stamps).collect();
    (kept.len() > 1).then(|| Rounds {
        overlap: stamped.as_ref().map(longer),
        parts: own.iter().copied().zip(&parts).map(|(part, times)| (part, values(times))).collect(),
        observed: values(&whole),
        outside,
        held_up: median(&held_up),
        hidden: hidden.map(|(hidden, is_seen)| Hidden { values: values(&hidden), is_seen }),
        rounds: kept.clone(),
    })
}

/// The rounds that all of them have.
pub(super) fn complete(all: &[&ByRound]) -> Vec<u64> {
    let Some((first, others)) = all.split_first() else { return Vec::new() };
    let has = |round: &&u64| others.iter().all(|other| other.contains_key(round));
    first.keys().filter(has).copied().collect()
}

/// The rounds in which every value is inside its fence. Each launch has its own fences.
pub(super) fn inside(all: &[&ByRound], rounds: &[u64]) -> Vec<u64> {
    let launches: BTreeSet<u32> = rounds.iter().map(|round| launch_of(*round)).collect();
    let mut kept = rounds.to_vec();
    for launch in launches {
        let own = |round: &&u64| launch_of(**round) == launch;
        for of in all {
            let values: Vec<f64> = rounds.iter().filter(own).map(|round| of[round]).collect();
            let fence = fence(&values);
            kept.retain(|round| launch_of(*round) != launch || fence.contains(of[round]));
        }
    }
    kept
}

/// The mean of the values of these rounds, with its interval, which includes the variance between
/// launches. No further values are fenced off.
pub(super) fn over(rounds: &[u64], values: &[f64], confidence: f64) -> Option<BatchEstimate> {
    let in_launch = |(round, value): (&u64, &f64)| (launch_of(*round), *round, *value);
    let values: Vec<_> = rounds.iter().zip(values).map(in_launch).collect();
    estimate_of_kept(&values, confidence)
}

impl Rounds {
    /// The mean of one value per round, with its interval.
    pub fn mean(&self, values: &[f64], confidence: f64) -> Option<BatchEstimate> {
        over(&self.rounds, values, confidence)
    }

    /// The model in each round: the sum of its parts. One whose mean is below 0 counts as 0.
    pub fn modelled(&self) -> Vec<f64> {
        let parts = || self.parts.iter().filter(|(_, values)| mean(values) > 0.0);
        let sum = |at: usize| parts().map(|(_, values)| values[at]).sum();
        (0..self.rounds.len()).map(sum).collect()
    }

    /// The relative error of the model, paired by round. `None` also if a modelled or observed time
    /// is not above 0.
    ///
    /// *Formula*: modelled / observed − 1.
    pub fn error(&self, confidence: f64) -> Option<BatchEstimate> {
        let pairs = self.modelled().into_iter().zip(self.observed.iter().copied());
        let in_launch = |(round, (a, b)): (&u64, (f64, f64))| (launch_of(*round), *round, a, b);
        let pairs: Vec<_> = self.rounds.iter().zip(pairs).map(in_launch).collect();
        let ratio = ratio_of_kept(&pairs, confidence)?;
        let Interval { low, high } = ratio.interval;
        let interval = Interval { low: low - 1.0, high: high - 1.0 };
        Some(BatchEstimate { value: ratio.value - 1.0, interval, ..ratio })
    }
}
