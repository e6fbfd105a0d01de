//! Rounds in which everything of a model was timed: its parts and the whole, as neighbours in time.

use std::collections::{BTreeMap, BTreeSet};

use bandgap_comm::{Border, Stamping};
use bandgap_stats::interval::Interval;
use bandgap_stats::launches::over_launches;
use bandgap_stats::outlier::fence;
use bandgap_stats::paired::{PairedRatio, paired_ratio_over_launches};
use bandgap_stats::quantile::{mean, median};
use bandgap_stats::rounds::{InRound, interval};

use super::{
    BORDERS, Division, Model, TOLERANCE, busy_key, count_key, inserted_key, key, share, slot_key,
};
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
    /// What of the software is hidden behind the transfer of a line, and so is no part.
    pub hidden: Option<Hidden>,
}

/// What of the software is hidden behind the transfer of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Hidden {
    /// Nanoseconds each way, a value for every round.
    pub values: Vec<f64>,
    /// Whether a computation made the transfer longer by more than itself, so that it does not show what is hidden.
    pub unseen: bool,
}

/// The median of the batches of each round.
fn by_round(judged: &Judged<'_>, key: &Key) -> BTreeMap<u64, f64> {
    let mut found = BTreeMap::<u64, Vec<f64>>::new();
    for (round, value) in judged.in_rounds(key) {
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

type ByRound = BTreeMap<u64, f64>;

/// The parts of half a round trip over lines: the transfer, and what the software adds to it. And what of the software is
/// hidden behind the transfer.
///
/// *Formula*: with S the software of a round trip on one processor, D what a computation adds there that each side does before it
/// stores, and X what the same computation adds to half a round trip of the bare exchange between two processors: the software
/// adds S/2 · X/(D/2), and the rest of S/2 is hidden. D is its median over the rounds. Where the median of X/(D/2) is above 1, all of
/// S/2 is added; where it is below 0, nothing.
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
    let alone = if alone.is_empty() { 0.0 } else { median(&alone) };
    let between = above(busy_slot, &slot, 1.0);
    // A computation that takes no time on one processor shows nothing.
    let share = |longer: f64| if alone > 0.0 { longer / alone } else { f64::INFINITY };
    let shares: ByRound =
        between.into_iter().map(|(round, longer)| (round, share(longer))).collect();
    let all: Vec<f64> = shares.values().copied().collect();
    let middle = if all.is_empty() { 0.0 } else { median(&all) };
    let bounded = middle.clamp(0.0, 1.0);
    let divided = |(round, all): (&u64, &f64)| {
        let share =
            shares.get(round).map(|share| if bounded == middle { *share } else { bounded })?;
        Some(((*round, share * all), (*round, (1.0 - share) * all)))
    };
    let (added, hidden) = software.iter().filter_map(divided).unzip();
    let parts = vec![("slot", slot), ("software", added)];
    Divided { parts, hidden: Some((hidden, middle > 1.0)) }
}

/// Components by rounds; over lines also what of the software is hidden, and whether that cannot be seen.
struct Divided {
    parts: Vec<(&'static str, ByRound)>,
    hidden: Option<(ByRound, bool)>,
}

/// The components of `model` by rounds, without the cost of stamps.
fn divided(judged: &Judged<'_>, model: Model, division: &Division, stamp: f64) -> Divided {
    let parts = match (division, model) {
        (Division::Lines(_), Model::Latency) => return of_lines(judged),
        (Division::Lines(_), Model::Injection) => Vec::new(),
        (Division::Calls, _) => of_calls(judged, model, stamp),
    };
    Divided { parts, hidden: None }
}

/// What stamps around calls timed, without the cost of stamps.
fn of_calls(judged: &Judged<'_>, model: Model, stamp: f64) -> Vec<(&'static str, ByRound)> {
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
    model.calls().map(component).to_vec()
}

/// The rounds in which every component of `model` and the whole were timed, in the state that is seen. Rounds in which one
/// of these is outside its own fence are left out. `None` where there are fewer than two.
pub fn rounds(judged: &Judged<'_>, model: Model, division: &Division) -> Option<Rounds> {
    let stamp = stamp(judged)?;
    let Divided { parts, hidden } = divided(judged, model, division, stamp);
    let whole = by_round(judged, &key(model, Stamping::Nothing));
    let all: Vec<&ByRound> = parts.iter().map(|(_, times)| times).chain([&whole]).collect();
    let complete = complete(&all);
    let kept = inside(&all, &complete);
    let outside = complete.len() - kept.len();
    let values = |of: &ByRound| kept.iter().filter_map(|round| of.get(round).copied()).collect();
    (kept.len() > 1).then(|| Rounds {
        parts: parts.iter().map(|(name, times)| (*name, values(times))).collect(),
        observed: values(&whole),
        outside,
        stamp,
        hidden: hidden.map(|(hidden, unseen)| Hidden { values: values(&hidden), unseen }),
        rounds: kept.clone(),
    })
}

/// What the requester does of a message on one processor alone, over what lies between two requests where a rank sends as
/// fast as it can, less one: paired by round.
pub fn alone(judged: &Judged<'_>) -> Option<PairedRatio> {
    let stamp = stamp(judged)?;
    let requester = by_round(judged, &key(Model::Latency, Stamping::Requester));
    let whole = by_round(judged, &key(Model::Injection, Stamping::Nothing));
    let all = [&requester, &whole];
    let kept = inside(&all, &complete(&all));
    let parts = vec![("alone", kept.iter().map(|round| requester[round] - stamp).collect())];
    let observed = kept.iter().map(|round| whole[round]).collect();
    Rounds { parts, observed, outside: 0, stamp, hidden: None, rounds: kept }
        .error(judged.confidence())
}

/// The rounds that all have.
fn complete(all: &[&ByRound]) -> Vec<u64> {
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
    let mut launches = BTreeMap::<u32, Vec<f64>>::new();
    for (round, value) in rounds.iter().zip(values) {
        launches.entry(launch_of(*round)).or_default().push(*value);
    }
    let all: Vec<InRound> = rounds.iter().copied().zip(values.iter().copied()).collect();
    // Of no values there is neither.
    let interval = interval(&all, confidence)?;
    let pooled = (mean(values), interval);
    let means: Vec<f64> = launches.values().map(|values| mean(values)).collect();
    Some(over_launches(pooled, &means, confidence))
}

impl Rounds {
    /// The launches that they are of.
    pub fn launches(&self) -> BTreeSet<u32> {
        self.rounds.iter().map(|round| launch_of(*round)).collect()
    }

    /// The mean of a value for every round, with its interval.
    pub fn mean(&self, values: &[f64], confidence: f64) -> Option<(f64, Interval)> {
        over(&self.rounds, values, confidence)
    }

    /// The model in each round: the sum of its parts.
    pub fn modelled(&self) -> Vec<f64> {
        let sum = |at: usize| self.parts.iter().map(|(_, values)| values[at]).sum();
        (0..self.rounds.len()).map(sum).collect()
    }

    /// What is modelled over what was observed, less one; paired by round.
    pub fn error(&self, confidence: f64) -> Option<PairedRatio> {
        let mut launches = BTreeMap::<u32, Vec<(f64, f64)>>::new();
        let pairs = self.modelled().into_iter().zip(self.observed.iter().copied());
        for (round, pair) in self.rounds.iter().zip(pairs) {
            launches.entry(launch_of(*round)).or_default().push(pair);
        }
        let launches: Vec<_> = launches.into_values().collect();
        let ratio = paired_ratio_over_launches(&launches, confidence)?;
        let Interval { low, high } = ratio.interval;
        let interval = Interval { low: low - 1.0, high: high - 1.0 };
        Some(PairedRatio { value: ratio.value - 1.0, interval })
    }
}

/// What became longer by a computation that was inserted.
#[derive(Clone, Debug, PartialEq)]
pub struct Came {
    /// The component that it is in.
    pub component: &'static str,
    /// Where it was inserted.
    pub border: Border,
    /// How long it takes by itself, in nanoseconds: of a computation before each poll half of it, since what arrives
    /// waits for half of it.
    pub inserted: f64,
    /// By how much the component became longer, in nanoseconds, with its interval.
    pub part: (f64, Interval),
    /// By how much half a round trip became longer.
    pub whole: (f64, Interval),
    /// Rounds that these rest on.
    pub rounds: usize,
}

/// An inserted computation comes back if it does within this, in nanoseconds, however short it is.
const NEAR: f64 = 5.0;

impl Came {
    /// Whether the component became longer by what was inserted, within 5 % or 5 ns: the interval lies inside, or outside.
    /// `None` where it is undecided.
    pub fn in_part(&self) -> Option<bool> {
        comes_back(self.inserted, self.part.1)
    }

    /// Whether half a round trip did.
    pub fn in_whole(&self) -> Option<bool> {
        comes_back(self.inserted, self.whole.1)
    }
}

fn comes_back(inserted: f64, longer: Interval) -> Option<bool> {
    let reach = (TOLERANCE * inserted).max(NEAR);
    let (low, high) = (longer.low - inserted, longer.high - inserted);
    let (inside, outside) = (low >= -reach && high <= reach, high < -reach || low > reach);
    (inside || outside).then_some(inside)
}

/// What came back of the computations that were inserted, in the state that is seen.
pub fn came_back(judged: &Judged<'_>, inserted: &[f64]) -> Vec<Came> {
    let longer = |part: Stamping, border: Border, ns: f64| {
        let without = by_round(judged, &key(Model::Latency, part));
        let with = by_round(judged, &inserted_key(part, border, ns));
        let both = [&without, &with];
        let kept = inside(&both, &complete(&both));
        let share = share(part);
        let longer: Vec<f64> =
            kept.iter().map(|round| share * (with[round] - without[round])).collect();
        let (value, interval) = over(&kept, &longer, judged.confidence())?;
        Some((value, interval, longer.len()))
    };
    let one = |border: Border, part: Stamping, ns: f64| {
        let key = inserted_key(part, border, ns);
        let batches = judged.table().batches(&key).iter().filter(|batch| judged.counts(batch));
        let alone: Vec<f64> = batches.filter_map(|batch| batch.delay).collect();
        let (part_longer, part_interval, part_rounds) = longer(part, border, ns)?;
        let (whole_longer, whole_interval, whole_rounds) = longer(Stamping::Nothing, border, ns)?;
        let (component, _) = Model::Latency.calls().into_iter().find(|(_, of)| *of == part)?;
        Some(Came {
            component,
            border,
            inserted: share(part) * mean_of(&alone)?,
            part: (part_longer, part_interval),
            whole: (whole_longer, whole_interval),
            rounds: part_rounds.min(whole_rounds),
        })
    };
    let all = inserted.iter().flat_map(|&ns| BORDERS.map(|(border, part)| (border, part, ns)));
    all.filter_map(|(border, part, ns)| one(border, part, ns)).collect()
}

fn mean_of(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| mean(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_insertion_comes_back_within_five_percent_or_five_nanoseconds() {
        let of = |inserted, low, high| comes_back(inserted, Interval { low, high });
        assert_eq!(of(50.0, 45.1, 54.9), Some(true));
        assert_eq!(of(50.0, 44.0, 54.9), None);
        assert_eq!(of(50.0, 30.0, 44.9), Some(false));
        assert_eq!(of(1000.0, 951.0, 1049.0), Some(true));
        assert_eq!(of(1000.0, 1051.0, 1060.0), Some(false));
    }
}
