//! The rounds in which every experiment is measured.
//!
//! Each round visits every open point in shuffled order. So a disturbance or a slow drift of the
//! machine affects all points alike, and an interrupted run has batches of every point. A campaign
//! ends when the experiment knows enough or the time budget is spent, which includes the first
//! look, the warm-up and the checks. Only the least rounds may use the rest of the launch's time.

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
use crate::stopping::{may_plan, may_stop};

/// Largest number of attempts at a batch that is rejected, for example because the machine changed
/// during it.
const ATTEMPTS: usize = 4;
/// Largest number of samples in a checked batch.
const CHECKED_SAMPLES: u32 = 2;
/// Smallest progress after the first round.
const FIRST_ROUND: f64 = 0.2;
/// Largest progress before the campaign ends.
const ALMOST: f64 = 0.99;
/// Share of the budget after which no more points are checked in the first round.
const CHECKING: f64 = 0.75;
/// Smallest number of checked points between hosts, however long they take.
const FAR_CHECKED: usize = 2;
/// Longest pause between two rounds, in seconds.
const LONGEST_PAUSE: f64 = 1.0;

/// Measures `experiment`; batches go to [`Runner::keep`] as they are made, and all are returned.
///
/// # Errors
/// Communication failed, something wrong arrived, or the run was stopped; what was kept stays kept.
pub fn campaign(
    runner: &mut dyn Runner,
    experiment: &mut dyn Experiment,
    plan: &Plan,
) -> Result<Measurements, Stop> {
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
    let mut campaign = Campaign {
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
    };
    campaign.rounds()?;
    Ok(campaign.table)
}

/// Reports the campaign's progress as part of the whole measurement's.
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
    /// The experiment's points, then those of the floors beside it.
    points: &'a [Point],
    /// Number of the experiment's points.
    own: usize,
    floors: Vec<Floor>,
    table: Measurements,
    watchful: Watchful,
    budget: Budget,
    /// Number of completed rounds.
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
            let reserve = self.budget.left(self.runner) / f64::from(LEAST_ROUNDS);
            for (visited, &at) in visits.iter().enumerate() {
                self.visit(at)?;
                let share = (visited + 1) as f64 / visits.len() as f64;
                self.report(share, open.len())?;
                if self.is_over() {
                    return self.cut(share);
                }
                // No time for the others in the least rounds: those visited so far go on alone.
                if self.round == 0 && share < 1.0 && self.budget.left(self.runner) < reserve {
                    open.retain(|(at, _)| visits[..=visited].contains(at));
                    self.keep(Kept::Cut { what: Scarce::Rounds, share })?;
                    break;
                }
            }
            self.round += 1;
            if self.is_over() || self.round == *self.limits().end() {
                return self.cut(0.0);
            }
            open = self.open(open);
        }
        Ok(())
    }

    /// Smallest and largest number of rounds.
    fn limits(&self) -> RangeInclusive<u32> {
        match self.runner.virtual_time() {
            true => LEAST_ROUNDS..=LEAST_ROUNDS,
            false => self.experiment.rounds(),
        }
    }

    /// The points of the next round and their numbers of batches; unchanged if it is not time to
    /// ask.
    fn open(&self, before: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
        let is_least = self.round < *self.limits().start();
        let stops = self.runner.virtual_time() || may_stop(self.round);
        let plans = self.experiment.plans_early() && may_plan(self.round);
        let mut open = match is_least || !(stops || plans) {
            true => before,
            false => {
                let judged = self.plan.asked.judge(&self.table);
                let planned = self.experiment.visits(&judged, &self.points[..self.own]);
                if planned.is_empty() && !stops { before } else { planned }
            }
        };
        // Floors go on while any point of the experiment does.
        if !open.is_empty() && open.iter().all(|(at, _)| *at < self.own) {
            open.extend((self.own..self.points.len()).map(|at| self.usual(at)));
        }
        open.retain(|(at, _)| !self.unavailable.contains(at));
        open
    }

    /// A point, and its usual number of batches in a round.
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

    /// Notes that the least rounds were cut short, if they were, after `part` of the current one.
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

    /// Reports the progress when `share` of this round's visits are done.
    fn report(&mut self, share: f64, open: usize) -> Result<(), Stop> {
        let first = if self.round == 0 { share } else { 1.0 };
        let rounds = (f64::from(self.round) + share) / f64::from(*self.limits().end());
        let done = self.budget.spent(self.runner).max(FIRST_ROUND * first).max(rounds);
        let (round, all) = (self.round + 1, self.points.len());
        let doing = format!("round {round}, {open} of {all} points open");
        say(self.runner, self.plan, done.min(ALMOST), &doing)
    }

    /// Runs a checked batch of each open point, before the round's timed batches: checked ones use
    /// other memory and leave the caches in another state. They leave part of the budget to timed
    /// batches.
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
                // Between hosts, a point that was not checked is not measured.
                let rest = open.iter().map(|(at, _)| *at).filter(|of| is_first && *of >= at);
                self.unavailable.extend(rest.filter(|at| self.points[*at].checked.is_some()));
                return Ok(());
            }
            let point = &self.points[at];
            let Some(order) = point.checked.clone() else { continue };
            let samples = point.order.samples.min(CHECKED_SAMPLES);
            let order = Order { samples, ..order }.checked();
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

    /// Runs a batch of one point, and repeats it while it is rejected. If the pace changes all the
    /// time, the last attempt stands and is judged with the others at the end.
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

    /// The samples of a batch by key; empty if this machine does not allow the batch.
    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        let floor = self.floors.iter().find(|floor| bare::key(&floor.name) == point.key);
        match (&done.unavailable, floor) {
            (Some(_), _) => vec![(point.key.clone(), Vec::new())],
            (None, Some(floor)) => vec![(point.key.clone(), samples_of(floor, done))],
            (None, None) => self.experiment.split(point, done),
        }
    }

    /// Keeps an executed batch under each of its keys.
    fn record(&mut self, point: &Point, done: &Executed, batch: &Batch) -> Result<(), Stop> {
        for (at, (key, samples)) in self.split(point, done).into_iter().enumerate() {
            let mut batch = Batch { samples, again: at > 0, ..batch.clone() };
            if batch.samples.is_empty() {
                batch.rejected.get_or_insert(Rejected::NoSamples);
            }
            self.keep(Kept::Batch { key, batch })?;
        }
        if self.runner.virtual_time() || point.checked.is_none() {
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
