//! The experiment that divides the time of a message over a transport into parts. Each part is
//! timed in its own batches, among batches without a stamp.

mod inserted;
mod rounds;

use std::ops::RangeInclusive;

use bandgap_comm::division::{At, AtBorder, Derivation, Division, Model, Per, Timing};
use bandgap_comm::{Delay, Floor};
use bandgap_kernels::{AtSize, Order, Refused, WHOLE, fact};
use bandgap_stats::interval::Interval;
use bandgap_stats::quantile::median;
use serde::{Deserialize, Serialize};

use crate::campaign::campaign;
use crate::control::Control;
use crate::experiment::{Experiment, Point};
use crate::judge::Judged;
use crate::key::Key;
use crate::plan::{Asked, Plan};
use crate::planned::Planned;
use crate::runner::{AtRank, Executed, Runner, Stop};

pub use inserted::{Came, Longer, came_back};
pub use rounds::{Hidden, Rounds, inexact, passed, rounds, stamp};

/// The name of parts in keys.
pub const BREAKDOWN: &str = "breakdown";
/// Stands for a part in the key of the whole time.
pub const WHOLE_TIME: &str = "whole";
/// Stands for a part in the key of the whole time with a stamp at every place.
pub const ALL_STAMPS: &str = "all_stamps";
/// Stands for a part in the key of the interval between two successive stamps.
pub const PAIR: &str = "pair";
/// The same behind an awaited load.
pub const AWAITED_PAIR: &str = "awaited_pair";

/// Batches of each point in a round. The median counts, since a stall makes one of them many times
/// longer.
const VISITS: u32 = 3;

/// Smallest and largest number of rounds.
const ROUNDS: RangeInclusive<u32> = 8..=60;
/// Largest number of rounds if computations are inserted: their effect is a small difference of
/// long times.
const ROUNDS_INSERTED: u32 = 10_000;
/// Half-width of a model's error that is narrow enough, provided the interval also decides whether
/// the error is within [`TOLERANCE`].
pub const ENOUGH: f64 = 0.01;
/// Largest relative error of a model that counts as correct.
pub const TOLERANCE: f64 = 0.05;
/// Batches of a first look. The median counts.
const LOOKS: usize = 5;

/// The usual bytes of a message.
pub const BYTES: usize = size_of::<u64>();

/// The key of a part of a model.
pub fn key(model: &Model, part: &str) -> Key {
    Key::new(BREAKDOWN).at("model", model.name).at("part", part)
}

/// The key of the number of intervals of a part per message.
pub fn count_key(model: &Model, part: &str) -> Key {
    key(model, part).at("of", "count")
}

/// The key of a part while a computation of `ns` nanoseconds is inserted into part `into`.
pub fn inserted_key(model: &Model, part: &str, into: &str, ns: f64) -> Key {
    let ps = (ns * 1e3).round() as u64;
    key(model, part).at("inserted_into", into).at("inserted_ps", ps)
}

/// The breakdown that the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BreakdownPlan {
    /// Precision and time.
    pub asked: Asked,
    /// Bytes of a message, where the division has kernels of any length.
    pub bytes: usize,
    /// Lengths of the computations that are inserted at each border of the division, in
    /// nanoseconds.
    pub inserted: Vec<f64>,
}

/// A plan, and the division of the transport that carries it out.
struct Dividing<'a> {
    plan: &'a BreakdownPlan,
    division: &'static Division,
}

/// A batch of a model's kernel.
fn order(model: &Model) -> Result<Order, Refused> {
    let ranks = crate::bare::RANKS;
    let size = AtSize::of(BYTES, model.messages, ranks);
    (fact(model.kernel)?.at)(AtSize { window: Some(model.ways), ..size }, 1, ranks)
}

/// A point of a model with these stamps and inserted computations.
fn point(model: &Model, key: Key, at: AtBorder) -> Result<Point, Refused> {
    // Only the batch without stamps is checked: the others have the same messages.
    let is_bare = at == AtBorder::point(model.whole);
    let order = Order { at_border: Some(at), ..order(model)? };
    Ok(Point { visits: VISITS, ..Point::new(key, order).checked_if(is_bare) })
}

/// The point for one timing. A floor does the computation, if there is one, before it sends.
fn timed(
    model: &Model,
    timing: &Timing,
    computation: Option<(u8, Delay)>,
) -> Result<Option<Point>, Refused> {
    let (key, inserted) = (key(model, timing.name), computation.filter(|_| timing.computing));
    match timing.at {
        At::Derived => Ok(None),
        At::Point(at) => point(model, key, AtBorder { point: at, inserted }).map(Some),
        At::Floor(floor) => {
            let turn = inserted.map_or(0, |(_, computation)| computation.iterations);
            let order = crate::bare::turned(floor, floor.bytes(), turn);
            Ok(Some(Point { checked: None, visits: VISITS, ..Point::new(key, order) }))
        }
    }
}

/// The computation that a derivation needs, and its border.
fn computation(
    model: &Model,
    of: &Derivation,
    runner: &mut dyn Runner,
) -> Result<(u8, Delay), Stop> {
    let mut look = |at: &AtBorder| {
        let order = Order { at_border: Some(*at), ..order(model)? };
        let times = (0..LOOKS).map(|_| Ok(stamped_time(&runner.run(&order)?).unwrap_or(0.0)));
        Ok(median(&times.collect::<Result<Vec<f64>, Stop>>()?))
    };
    let looks = of.looks.iter().map(&mut look).collect::<Result<Vec<f64>, Stop>>()?;
    Ok((of.computation)(&looks))
}

/// The mean length of the intervals that all ranks stamped; `None` if there were none.
fn stamped_time(done: &Executed) -> Option<f64> {
    let sum = |of: fn(&AtRank) -> f64| done.at_border.iter().map(of).sum::<f64>();
    let (ns, count) = (sum(|rank| rank.ns), sum(|rank| rank.count as f64));
    (count > 0.0).then(|| ns / count)
}

impl Dividing<'_> {
    /// The computations to insert: none if the division has no border.
    fn inserted(&self) -> &[f64] {
        if self.division.borders().next().is_some() { &self.plan.inserted } else { &[] }
    }
}

impl Experiment for Dividing<'_> {
    fn points(&mut self, runner: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        let mut points = Vec::new();
        for model in self.division.models {
            points.push(point(model, key(model, WHOLE_TIME), AtBorder::point(model.whole))?);
            if let Some(all) = model.all {
                points.push(point(model, key(model, ALL_STAMPS), AtBorder::point(all))?);
            }
            let wanted = model.derivation.map(|of| computation(model, of, runner));
            let computation = wanted.transpose()?;
            for timing in model.timings() {
                points.extend(timed(model, &timing, computation)?);
            }
        }
        let pairs = [(PAIR, self.division.pair), (AWAITED_PAIR, self.division.awaited)];
        for (name, pair) in pairs {
            if let (Some(pair), [first, ..]) = (pair, self.division.models) {
                points.push(point(first, key(first, name), AtBorder::point(pair))?);
            }
        }
        for &ns in self.inserted() {
            let delay = runner.delay(ns);
            for (model, part, border) in self.division.borders() {
                let own = if let At::Point(own) = part.at { own } else { model.whole };
                for (name, at) in [(part.name, own), (WHOLE_TIME, model.whole)] {
                    let at = AtBorder { point: at, inserted: Some((border, delay)) };
                    let key = inserted_key(model, name, part.name, ns);
                    let control = Control::of(delay, model.messages);
                    points.push(Point { control, ..point(model, key, at)? });
                }
            }
        }
        for point in points.iter_mut().filter(|_| self.division.any_length) {
            point.order.parameters["bytes"] = self.plan.bytes.into();
        }
        Ok(points)
    }

    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        let key = &point.key;
        let is_timed = |floor: &&Floor| point.order.parameters["floor"] == *floor.name;
        if let Some(floor) = self.division.floors().find(is_timed) {
            return vec![(key.clone(), crate::bare::samples_of(floor, done))];
        }
        let is_its = |model: &&Model| key.text("model") == Some(model.name);
        let Some(model) = self.division.models.iter().find(is_its) else { return Vec::new() };
        let at = point.order.at_border.unwrap_or_default().point;
        let each = f64::from(model.messages * model.ways);
        if at == model.whole || Some(at) == model.all {
            let passed = done.at_border.iter().fold(0, |all, rank| all | rank.passed);
            let passed =
                (passed > 0).then(|| (key.clone().at("of", "passed"), vec![f64::from(passed)]));
            let times = done.column(WHOLE).iter().map(|ns| ns / each).collect();
            return [(key.clone(), times)].into_iter().chain(passed).collect();
        }
        let part = model.parts.iter().find(|part| part.at == At::Point(at));
        let is_exact = part.is_some_and(|part| part.exact.is_some());
        let count = |count: f64| (key.clone().at("of", "count"), vec![count / each]);
        if part.is_none_or(|part| part.per == Per::Interval) {
            // All ranks do the same. Where the number is exact, each has intervals that belong together, or none counts.
            let is_whole = !is_exact || done.at_border.iter().all(|rank| rank.count > 0);
            let time = stamped_time(done).filter(|_| is_whole).map(|ns| (key.clone(), vec![ns]));
            let begun = done.at_border.iter().map(|rank| rank.begun as f64).sum();
            let count = is_exact.then(|| count(begun));
            return time.into_iter().chain(count).collect();
        }
        done.at_border.first().map_or_else(Vec::new, |requester| {
            let intervals = if is_exact { requester.begun } else { requester.count };
            let is_whole = !is_exact || requester.count > 0;
            let time = is_whole.then(|| (key.clone(), vec![requester.ns / each]));
            time.into_iter().chain([count(intervals as f64)]).collect()
        })
    }

    fn open(&self, judged: &Judged<'_>, points: &[Point]) -> Vec<usize> {
        let known = |model: &'static Model| {
            let rounds = rounds(judged, self.division, model);
            let error = rounds.and_then(|rounds| rounds.error(judged.confidence));
            error.is_some_and(|error| {
                let Interval { low, high } = error.interval;
                let straddles = |limit: f64| low <= limit && limit <= high;
                error.interval.half_width() <= ENOUGH
                    && !straddles(TOLERANCE)
                    && !straddles(-TOLERANCE)
            })
        };
        if !self.division.models.iter().all(known) {
            return (0..points.len()).collect();
        }
        let came = came_back(judged, self.division, self.inserted());
        let decided =
            |came: &Came| came.part.comes_back().is_some() && came.whole.comes_back().is_some();
        if came.iter().all(decided) {
            return Vec::new();
        }
        // A model into which nothing is inserted is already known well enough.
        let inserts = |at: &usize| {
            let model = points[*at].key.text("model");
            self.division.borders().any(|(of, ..)| Some(of.name) == model)
        };
        (0..points.len()).filter(inserts).collect()
    }

    fn rounds(&self) -> RangeInclusive<u32> {
        let most = if self.inserted().is_empty() { *ROUNDS.end() } else { ROUNDS_INSERTED };
        *ROUNDS.start()..=most
    }
}

impl Planned for BreakdownPlan {
    const NAME: &'static str = "breakdown";
    const STAMPS: bool = true;

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        let refused = || Refused::because("its transport takes no stamps".to_owned());
        let division = runner.division().ok_or_else(|| refused().of(Self::NAME))?;
        campaign(
            runner,
            &mut Dividing { plan: self, division },
            &Plan::new(&self.asked.unstamped()),
        )
        .map(drop)
    }

    #[cfg(test)]
    fn short(asked: &Asked) -> Self {
        Self { asked: asked.clone(), bytes: BYTES, inserted: vec![100.0] }
    }
}

#[cfg(test)]
mod tests;
