//! Rounds in which everything of a model was timed: its parts and the whole, as neighbours in time.

use std::collections::{BTreeMap, BTreeSet};

use bandgap_comm::Stamping;
use bandgap_stats::Point;
use bandgap_stats::estimate::{estimate_of_kept, ratio_of_kept};
use bandgap_stats::interval::Interval;
use bandgap_stats::outlier::fence;
use bandgap_stats::quantile::{mean, median};
use bandgap_stats::rounds::InRound;

use super::{Division, Model, busy_key, count_key, key, share, slot_key};
use crate::judge::{Judged, launch_of};
use crate::key::Key;

/// A model's parts and the whole by rounds, in nanoseconds for each message, without the cost of stamps.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    /// The launch and the round of each.
    pub rounds: Vec<u64>,
    /// The components, each with a value for every round.
    pub parts: Vec<(&'static str, Vec<f64>)>,
    /// Without stamps.
    pub observed: Vec<f64>,
    /// Rounds that had everything, and one value of them outside its fence.
    pub outside: usize,
    /// What an interval between two stamps contains of them.
    pub stamp: f64,
    /// How many times as long as the shortest the middle batch of a round without stamps is: the median over the rounds.
    pub held_up: f64,
    /// What of the software is hidden behind the transfer of a line, and so is no part.
    pub hidden: Option<Hidden>,
}

/// What of the software is hidden behind the transfer of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Hidden {
    /// Nanoseconds each way, a value for every round.
    pub values: Vec<f64>,
    /// Whether the computation shows it.
    pub seen: Seen,
}

/// Whether a computation in the bare loop shows what is hidden of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It does.
    Yes,
    /// It made the transfer longer by more than itself.
    LongerThanItself,
    /// It took no time on one processor.
    NoComputation,
}

/// The median of the batches of each round.
pub(super) fn by_round(judged: &Judged<'_>, key: &Key) -> ByRound {
    middles(judged.in_rounds(key))
}

/// The median of the values of each round.
pub(super) fn middles(values: impl Iterator<Item = InRound>) -> ByRound {
    let mut found = BTreeMap::<u64, Vec<f64>>::new();
    for (round, value) in values {
        found.entry(round).or_default().push(value);
    }
    found.into_iter().map(|(round, values)| (round, median(&values))).collect()
}

/// The least of the batches of each round: a loop that does nothing but poll can hold a line up for microseconds at a time.
fn least_by_round(judged: &Judged<'_>, key: &Key) -> ByRound {
    let mut found = ByRound::new();
    for (round, value) in judged.in_rounds(key) {
        let least = found.entry(round).or_insert(value);
        *least = least.min(value);
    }
    found
}

/// What an interval between two stamps contains of them: the mean over the rounds.
fn stamp(judged: &Judged<'_>) -> Option<f64> {
    let pairs = by_round(judged, &key(Model::Latency, Stamping::Pair));
    let kept = inside(&[&pairs], &complete(&[&pairs]));
    let values: Vec<f64> = kept.iter().filter_map(|round| pairs.get(round).copied()).collect();
    (!values.is_empty()).then(|| mean(&values))
}

pub(super) type ByRound = BTreeMap<u64, f64>;

/// The parts of half a round trip over lines: the transfer, and what the software adds to it. And what of the software is
/// hidden behind the transfer.
///
/// *Formula*: with S the software of a round trip on one processor, D what a computation adds there that each side does before it
/// stores, and X what the same computation adds to half a round trip of the bare exchange between two processors: the software
/// adds S/2 · X/(D/2), and the rest of S/2 is hidden. D is its median over the rounds. Where the median of X/(D/2) is above 1, all of
/// S/2 is added, and where it is below 0 nothing, in the mean; the rounds are then as far apart as they were. Where D is not
/// above 0 all of S/2 is added.
fn of_lines(judged: &Judged<'_>) -> Divided {
    let lines_key = key(Model::Latency, Stamping::Lines);
    let [lines, busy_lines] = [&lines_key, &busy_key(&lines_key)].map(|key| by_round(judged, key));
    let [slot, busy_slot] =
        [&slot_key(), &busy_key(&slot_key())].map(|key| least_by_round(judged, key));
    let together = by_round(judged, &key(Model::Latency, Stamping::Together));
    // All times on one processor have as many stamps, and half of what a round trip has there is on each way.
    let above = |times: ByRound, bare: &ByRound, share: f64| -> ByRound {
        let above = |(round, time): (u64, f64)| Some((round, share * (time - bare.get(&round)?)));
        times.into_iter().filter_map(above).collect()
    };
    let software = above(together, &lines, 0.5);
    let alone: Vec<f64> = above(busy_lines, &lines, 0.5).into_values().collect();
    let alone = median_of(&alone);
    let between = above(busy_slot, &slot, 1.0);
    let shares: ByRound =
        between.into_iter().map(|(round, longer)| (round, longer / alone)).collect();
    let middle = median_of(&shares.values().copied().collect::<Vec<f64>>());
    let seen = match middle {
        _ if alone <= 0.0 => Seen::NoComputation,
        above if above > 1.0 => Seen::LongerThanItself,
        _ => Seen::Yes,
    };
    let bounded = middle.clamp(0.0, 1.0);
    let divided = |(round, all): (&u64, &f64)| {
        let share = match (seen, shares.get(round)?) {
            (Seen::NoComputation, _) => 1.0,
            (_, share) => share + bounded - middle,
        };
        Some(((*round, share * all), (*round, (1.0 - share) * all)))
    };
    let (added, hidden) = software.iter().filter_map(divided).unzip();
    let parts = vec![("slot", slot), ("software", added)];
    Divided { parts, hidden: Some((hidden, seen)) }
}

/// The median; 0 of nothing.
fn median_of(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { median(values) }
}

/// Components by rounds; over lines also what of the software is hidden, and whether that is seen.
struct Divided {
    parts: Vec<(&'static str, ByRound)>,
    hidden: Option<(ByRound, Seen)>,
}

/// What stamps around calls timed, without the cost of stamps.
fn of_calls(judged: &Judged<'_>, model: Model, stamp: f64) -> Divided {
    let component = |(name, part)| {
        let counts = by_round(judged, &count_key(model, part));
        let without = |(round, time): (u64, f64)| {
            let intervals = match model {
                // Both of its ends are beginnings of calls: what of a stamp comes after the clock is read
                // is before both.
                Model::Latency if part == Stamping::Visible => 0.0,
                // The time is that of one interval.
                Model::Latency => 1.0,
                Model::Injection => *counts.get(&round)?,
            };
            Some((round, share(part) * (time - intervals * stamp)))
        };
        (name, by_round(judged, &key(model, part)).into_iter().filter_map(without).collect())
    };
    Divided { parts: model.calls().map(component).to_vec(), hidden: None }
}

/// The rounds in which every component of `model` and the whole were timed, in the state that is seen. Rounds in which one
/// of these is outside its own fence are left out. `None` where there are fewer than two.
pub fn rounds(judged: &Judged<'_>, model: Model, division: &Division) -> Option<Rounds> {
    let stamp = stamp(judged)?;
    let Divided { parts, hidden } = match division {
        Division::Calls => of_calls(judged, model, stamp),
        Division::Lines(_) => of_lines(judged),
    };
    let whole = by_round(judged, &key(model, Stamping::Nothing));
    let all: Vec<&ByRound> = parts.iter().map(|(_, times)| times).chain([&whole]).collect();
    let complete = complete(&all);
    let kept = inside(&all, &complete);
    let outside = complete.len() - kept.len();
    let values = |of: &ByRound| kept.iter().filter_map(|round| of.get(round).copied()).collect();
    let least = least_by_round(judged, &key(model, Stamping::Nothing));
    let held_up: Vec<f64> = kept.iter().map(|round| whole[round] / least[round]).collect();
    (kept.len() > 1).then(|| Rounds {
        parts: parts.iter().map(|(name, times)| (*name, values(times))).collect(),
        observed: values(&whole),
        outside,
        stamp,
        held_up: median(&held_up),
        hidden: hidden.map(|(hidden, seen)| Hidden { values: values(&hidden), seen }),
        rounds: kept.clone(),
    })
}

/// The rounds that all have.
pub(super) fn complete(all: &[&ByRound]) -> Vec<u64> {
    let Some((first, others)) = all.split_first() else { return Vec::new() };
    let has = |round: &&u64| others.iter().all(|other| other.contains_key(round));
    first.keys().filter(has).copied().collect()
}

/// Those of the rounds in which the value of each is inside its fence: the fence of its launch.
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

/// The mean of values of these rounds, with its interval, which holds the variance between launches. Nothing more is
/// fenced off.
pub(super) fn over(rounds: &[u64], values: &[f64], confidence: f64) -> Option<(f64, Interval)> {
    let in_launch = |(round, value): (&u64, &f64)| (launch_of(*round), *round, *value);
    let values: Vec<_> = rounds.iter().zip(values).map(in_launch).collect();
    let Point { value, interval, .. } = estimate_of_kept(&values, confidence)?;
    Some((value, interval))
}

impl Rounds {
    /// The mean of a value for every round, with its interval.
    pub fn mean(&self, values: &[f64], confidence: f64) -> Option<(f64, Interval)> {
        over(&self.rounds, values, confidence)
    }

    /// The model in each round: the sum of its parts.
    pub fn modelled(&self) -> Vec<f64> {
        let sum = |at: usize| self.parts.iter().map(|(_, values)| values[at]).sum();
        (0..self.rounds.len()).map(sum).collect()
    }

    /// What is modelled over what was observed, less one; paired by round. `None` also where either is not above 0 in some
    /// round.
    pub fn error(&self, confidence: f64) -> Option<Point> {
        let pairs = self.modelled().into_iter().zip(self.observed.iter().copied());
        let in_launch = |(round, (a, b)): (&u64, (f64, f64))| (launch_of(*round), *round, a, b);
        let pairs: Vec<_> = self.rounds.iter().zip(pairs).map(in_launch).collect();
        let ratio = ratio_of_kept(&pairs, confidence)?;
        let Interval { low, high } = ratio.interval;
        let interval = Interval { low: low - 1.0, high: high - 1.0 };
        Some(Point { value: ratio.value - 1.0, interval, ..ratio })
    }
}
