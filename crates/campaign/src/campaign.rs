//! The rounds in which every experiment is measured.
//!
//! Each round visits every open point, in shuffled order, so that a disturbance or a slow drift of
//! the machine falls on all points alike, and an interrupted run has batches of every point. A
//! campaign ends when the experiment knows enough, or when the time budget is spent: the first look, the
//! warm-up and the checks are part of it. Only the least rounds may take what else the launch has.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Duration;

use bandgap_comm::Floor;
use bandgap_kernels::{Order, fact};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::bare::{self, samples_of};
use crate::beside::Beside;
use crate::budget::Budget;
use crate::calm::Watchful;
use crate::control::drifts;
use crate::data::{Batch, Kept, Measurements, Rejected, Scarce, Verified};
use crate::experiment::{Experiment, LEAST_ROUNDS, Point, VIRTUAL_SAMPLES};
use crate::key::Key;
use crate::placement::straddles;
use crate::plan::Plan;
use crate::runner::{Executed, Runner, Stop};
use crate::stopping::may_stop;

/// Attempts at a batch that is rejected, as the machine changed during it, say.
const ATTEMPTS: usize = 4;
/// Samples of a checked batch, at most.
const CHECKED_SAMPLES: u32 = 2;
/// Share of the progress that the first round is at least.
const FIRST_ROUND: f64 = 0.2;
/// Progress shown at most before the campaign ends.
const ALMOST: f64 = 0.99;
/// Share of the budget after which no more points are checked before the first round.
const CHECKING: f64 = 0.75;
/// Points that are checked at least between hosts, however long it takes.
const FAR_CHECKED: usize = 2;
/// Longest pause between two rounds, in seconds.
const LONGEST_PAUSE: f64 = 1.0;

/// Measures `experiment`; batches go to [`Runner::keep`] as they are made.
///
/// # Errors
/// Communication failed, something wrong arrived, or the run was stopped; what was kept stays kept.
pub fn campaign(
    runner: &mut dyn Runner,
    experiment: &mut dyn Experiment,
    plan: &Plan,
) -> Result<(), Stop> {
    say(runner, plan, 0.0, "first look")?;
    let budget = Budget::from_now(runner, plan.asked.budget);
    let watchful = Watchful::since(runner.elapsed());
    let mut points = experiment.points(runner)?;
    if runner.virtual_time() {
        points.iter_mut().for_each(|point| point.order.samples = VIRTUAL_SAMPLES);
    }
    let beside = if runner.virtual_time() || !plan.floors { &[] } else { runner.beside() };
    let floors: Vec<Floor> = beside.iter().map(Beside::short).collect();
    let own = points.len();
    for floor in &floors {
        points.push(bare::point(floor, bare::key(&floor.name), floor.bytes())?);
    }
    let mut table = Measurements::default();
    for point in &points {
        if let Some(described) = point.described.clone() {
            let kept = Kept::Point { key: point.key.clone(), point: described };
            table.push(kept.clone());
            runner.keep(kept)?;
        }
    }
    Campaign {
        runner,
        experiment,
        plan,
        points: &points,
        own,
        floors,
        table,
        watchful,
        budget,
        round: 0,
        unavailable: BTreeSet::new(),
    }
    .rounds()
}

/// Says how far this campaign is, as part of the whole measurement.
fn say(runner: &mut dyn Runner, plan: &Plan, done: f64, doing: &str) -> Result<(), Stop> {
    let done = plan.progress.start + (plan.progress.end - plan.progress.start) * done;
    match plan.title.as_str() {
        "" => runner.progress(done, doing),
        title => runner.progress(done, &format!("{title}, {doing}")),
    }
}

struct Campaign<'a> {
    runner: &'a mut dyn Runner,
    experiment: &'a dyn Experiment,
    plan: &'a Plan,
    /// Those of the experiment, then those of the floors beside it.
    points: &'a [Point],
    /// How many are the experiment's.
    own: usize,
    floors: Vec<Floor>,
    table: Measurements,
    watchful: Watchful,
    budget: Budget,
    /// Rounds that are done.
    round: u32,
    /// Points that this machine does not allow.
    unavailable: BTreeSet<usize>,
}

impl Campaign<'_> {
    fn rounds(&mut self) -> Result<(), Stop> {
        self.warm()?;
        let mut order = Xoshiro256PlusPlus::seed_from_u64(self.plan.asked.seed);
        let mut open: Vec<(usize, f64)> = (0..self.points.len()).map(|at| self.usual(at)).collect();
        while !open.is_empty() && self.round < *self.limits().end() {
            if self.round > 0 {
                self.pause();
            }
            if self.round == 0 || self.plan.asked.check {
                self.check(&open)?;
                open.retain(|(at, _)| !self.unavailable.contains(at));
            }
            let mut visits: Vec<usize> = Vec::new();
            for &(at, times) in &open {
                let (whole, part) = (times as usize, times.fract());
                let more = part > 0.0 && order.random_bool(part);
                visits.extend(std::iter::repeat_n(at, whole + usize::from(more)));
            }
            visits.shuffle(&mut order);
            for (visited, &at) in visits.iter().enumerate() {
                self.visit(at)?;
                self.report(visited as f64 / visits.len() as f64, open.len())?;
                if self.is_over() {
                    return self.cut((visited + 1) as f64 / visits.len() as f64);
                }
            }
            self.round += 1;
            if self.is_over() {
                return self.cut(0.0);
            }
            open = self.open(open);
        }
        Ok(())
    }

    /// How many rounds there are at least and at most.
    fn limits(&self) -> RangeInclusive<u32> {
        match self.runner.virtual_time() {
            true => LEAST_ROUNDS..=LEAST_ROUNDS,
            false => self.experiment.rounds(),
        }
    }

    /// The points of the next round with their batches; the same as before where it is not asked.
    fn open(&self, before: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
        let is_least = self.round < *self.limits().start();
        let mut open = match is_least || !(self.runner.virtual_time() || may_stop(self.round)) {
            true => before,
            false => {
                let judged = self.plan.asked.judge(&self.table);
                self.experiment.visits(&judged, &self.points[..self.own])
            }
        };
        // Floors go on as long as there is something to compare with them.
        if !open.is_empty() && open.iter().all(|(at, _)| *at < self.own) {
            open.extend((self.own..self.points.len()).map(|at| self.usual(at)));
        }
        open.retain(|(at, _)| !self.unavailable.contains(at));
        open
    }

    /// A point with the batches that it usually has in a round.
    fn usual(&self, at: usize) -> (usize, f64) {
        (at, f64::from(self.points[at].visits))
    }

    /// Whether the budget is spent. The least rounds may take longer.
    fn is_over(&self) -> bool {
        match self.round < *self.limits().start() {
            true => self.budget.spent_of_all(self.runner) > 1.0,
            false => self.budget.spent(self.runner) > 1.0,
        }
    }

    /// Says so, if the end came, after this share of a round, before the least rounds were done.
    fn cut(&mut self, part: f64) -> Result<(), Stop> {
        let share = (f64::from(self.round) + part) / f64::from(*self.limits().start());
        let cut = Kept::Cut { what: Scarce::Rounds, share };
        if share < 1.0 { self.keep(cut) } else { Ok(()) }
    }

    fn pause(&mut self) {
        let pause = self.plan.pause.clamp(0.0, LONGEST_PAUSE);
        if pause > 0.0 && !self.runner.virtual_time() {
            self.runner.pause(Duration::from_secs_f64(pause));
        }
    }

    /// Says how far the campaign is, when `share` of this round's visits are done.
    fn report(&mut self, share: f64, open: usize) -> Result<(), Stop> {
        let first = if self.round == 0 { share } else { 1.0 };
        let rounds = (f64::from(self.round) + share) / f64::from(*self.limits().end());
        let done = self.budget.spent(self.runner).max(FIRST_ROUND * first).max(rounds);
        let (round, all) = (self.round + 1, self.points.len());
        let doing = format!("round {round}, {open} of {all} points open");
        say(self.runner, self.plan, done.min(ALMOST), &doing)
    }

    /// One checked batch of each open point. All come before the round's timed ones: they use
    /// other memory, and would leave the caches in another state than timed batches do. Of the budget they leave a
    /// part to timed ones.
    fn check(&mut self, open: &[(usize, f64)]) -> Result<(), Stop> {
        if self.runner.virtual_time() {
            return Ok(());
        }
        let checkable = open.iter().filter(|(at, _)| self.points[*at].checked.is_some());
        for (checked, &(at, _)) in checkable.enumerate() {
            let is_first = self.round == 0 && self.runner.is_far();
            let (share, least) = match (self.round, is_first) {
                (0, true) => (CHECKING, FAR_CHECKED),
                (0, false) => (CHECKING, 1),
                _ => (1.0, 0),
            };
            if self.budget.spent(self.runner) > share && checked >= least {
                // What could not be checked is not measured there.
                let rest = open.iter().map(|(at, _)| *at).filter(|of| is_first && *of >= at);
                self.unavailable.extend(rest.filter(|at| self.points[*at].checked.is_some()));
                return Ok(());
            }
            let point = &self.points[at];
            let Some(order) = point.checked.clone() else { continue };
            let order = Order { samples: order.samples.min(CHECKED_SAMPLES), ..order }.checked();
            let verified = match (fact(&order.kernel)?.check)(&order, self.runner.size()) {
                Err(_) => Verified::default(),
                Ok(()) => {
                    let checked = self.runner.run(&order)?.checked;
                    Verified { checked_batches: 1, checked, ..Verified::default() }
                }
            };
            self.keep(Kept::Verified { key: point.key.clone(), verified })?;
            self.report(0.0, open.len())?;
        }
        Ok(())
    }

    /// One batch of one point; repeated when it is rejected. Where the pace changes all the time, the
    /// last attempt stands, and is judged with the others when all is measured.
    fn visit(&mut self, at: usize) -> Result<(), Stop> {
        let point = &self.points[at];
        let order = point.order.clone().probed();
        for attempt in 1..=ATTEMPTS {
            if self.budget.spent(self.runner) < 1.0 {
                self.watchful.await_calm(self.runner, &order)?;
            }
            let before = point.control.map(|control| control.time(self.runner));
            let done = self.runner.run(&order)?;
            let after = point.control.map(|control| control.time(self.runner));
            self.watchful.note(done.probe.into_iter().flatten());
            let delays = before.zip(after).map(|(before, after)| [before, after]);
            let rejected = match &done.unavailable {
                Some(reason) => Some(Rejected::Unavailable(reason.clone())),
                None => straddles(done.probe)
                    .or_else(|| delays.and_then(drifts))
                    .or_else(|| self.experiment.rejects(point, &done).filter(|_| at < self.own))
                    .or_else(|| self.watchful.straddles(done.probe).filter(|_| attempt < ATTEMPTS)),
            };
            let again = rejected.is_some() && done.unavailable.is_none();
            let batch = Batch {
                samples: Vec::new(),
                probe: done.probe,
                delay: delays.map(|[before, after]| f64::midpoint(before, after)),
                launch: self.runner.launch(),
                round: self.round,
                rejected,
                again: false,
            };
            self.record(point, &done, &batch)?;
            if done.unavailable.is_some() {
                self.unavailable.insert(at);
            }
            if !again || self.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// The samples of a batch under their keys; none of a batch that this machine does not allow.
    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        let floor = self.floors.iter().find(|floor| bare::key(&floor.name) == point.key);
        match (&done.unavailable, floor) {
            (Some(_), _) => vec![(point.key.clone(), Vec::new())],
            (None, Some(floor)) => vec![(point.key.clone(), samples_of(floor, done))],
            (None, None) => self.experiment.split(point, done),
        }
    }

    /// Keeps an executed batch under its keys, each with its own samples.
    fn record(&mut self, point: &Point, done: &Executed, batch: &Batch) -> Result<(), Stop> {
        for (at, (key, samples)) in self.split(point, done).into_iter().enumerate() {
            let mut batch = Batch { samples, again: at > 0, ..batch.clone() };
            if batch.samples.is_empty() {
                batch.rejected.get_or_insert(Rejected::NoSamples);
            }
            self.keep(Kept::Batch { key, batch })?;
        }
        if self.runner.virtual_time() || point.checked.is_none() || done.unavailable.is_some() {
            return Ok(());
        }
        let verified = Verified { timed: done.checked, ..Verified::default() };
        self.keep(Kept::Verified { key: point.key.clone(), verified })
    }

    fn keep(&mut self, kept: Kept) -> Result<(), Stop> {
        self.table.push(kept.clone());
        self.runner.keep(kept)
    }
}

mod warm;

#[cfg(test)]
mod tests;
