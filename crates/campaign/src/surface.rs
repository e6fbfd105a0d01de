//! The procedure of bulk transfers: times over all sizes, then the signature at a few of them.
//!
//! The signatures over (M, Δ) of several lengths n are the signature's surface over (M, Δ, n). Each
//! gets an equal share of the time that is left.

use std::ops::Range;
use std::time::Duration;

use bandgap_comm::Delay;
use bandgap_comm::passing::Tuning;
use bandgap_kernels::Job;
use serde::{Deserialize, Serialize};

use super::data::{Measured, Table};
use super::judge::Judged;
use super::runner::{Executed, Runner, Stop};
use super::series::{self, SeriesPlan};
use super::signature::{self, SignaturePlan};

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BulkPlan {
    /// The times over all sizes.
    pub series: SeriesPlan,
    /// The signatures, of no bytes first: what comes of the others rests on that one.
    pub surface: Vec<SignaturePlan>,
    /// Time for one launch, in seconds.
    pub budget: f64,
}

impl BulkPlan {
    /// What was measured, seen with this plan's precision.
    pub fn judge<'a>(&self, table: &'a Table) -> Judged<'a> {
        self.series.judge(table)
    }

    /// Bytes that each of `ranks` ranks must expose for it.
    pub fn exposed(&self, ranks: usize, tuning: &Tuning) -> usize {
        self.series.exposed(ranks, tuning)
    }
}

/// Least share of the whole time that one signature gets, even if the series took longer than it
/// should.
const LEAST_SHARE: f64 = 0.04;

/// Measures series and signatures; batches go to [`Runner::keep`] as they are made.
///
/// # Errors
/// Communication failed or the run was stopped; what was kept stays kept.
pub fn measure<R: Runner>(runner: &mut R, plan: &BulkPlan) -> Result<(), Stop> {
    let begun = runner.elapsed();
    let share = if plan.surface.is_empty() { 1.0 } else { plan.series.budget / plan.budget };
    series::measure(&mut Share::new(runner, 0.0..share), &plan.series)?;
    let all = plan.surface.len();
    for (at, signature) in plan.surface.iter().enumerate() {
        let spent = (runner.elapsed() - begun).as_secs_f64();
        let left = (plan.budget - spent) / (all - at) as f64;
        let signature =
            SignaturePlan { budget: left.max(LEAST_SHARE * plan.budget), ..signature.clone() };
        let end = |at: usize| share + (1.0 - share) * at as f64 / all as f64;
        signature::measure(&mut Share::new(runner, end(at)..end(at + 1)), &signature)?;
    }
    Ok(())
}

/// A runner for one of several procedures, whose time begins with it and whose progress is part of
/// the whole.
struct Share<'a, R> {
    runner: &'a mut R,
    done: Range<f64>,
    begun: Duration,
}

impl<'a, R: Runner> Share<'a, R> {
    fn new(runner: &'a mut R, done: Range<f64>) -> Self {
        let begun = runner.elapsed();
        Self { runner, done, begun }
    }
}

impl<R: Runner> Runner for Share<'_, R> {
    fn size(&self) -> usize {
        self.runner.size()
    }

    fn capacity(&self) -> usize {
        self.runner.capacity()
    }

    fn virtual_time(&self) -> bool {
        self.runner.virtual_time()
    }

    fn launch(&self) -> u32 {
        self.runner.launch()
    }

    fn run(&mut self, job: &Job) -> Result<Executed, Stop> {
        self.runner.run(job)
    }

    fn delay(&self, ns: f64) -> Delay {
        self.runner.delay(ns)
    }

    fn time_delay(&mut self, delay: Delay, messages: u32, samples: u32) -> Vec<f64> {
        self.runner.time_delay(delay, messages, samples)
    }

    fn keep(&mut self, measured: Measured) -> Result<(), Stop> {
        self.runner.keep(measured)
    }

    fn progress(&mut self, done: f64, doing: &str) -> Result<(), Stop> {
        let Range { start, end } = self.done;
        self.runner.progress(start + (end - start) * done, doing)
    }

    fn elapsed(&self) -> Duration {
        self.runner.elapsed() - self.begun
    }
}

#[cfg(test)]
mod tests;
