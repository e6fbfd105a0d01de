//! The procedure of a series: one operation over many message sizes.
//!
//! Rounds visit every size that has not converged, in shuffled order, for one batch, so that a
//! disturbance or a drift falls on all sizes alike. It ends when every size has the precision asked
//! for, or when the time budget is spent.

use bandgap_comm::Delay;
use bandgap_comm::passing::Tuning;
use bandgap_kernels::{Job, Kernel, Pattern};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::calm::Watchful;
use super::data::{Batch, Measured, Table};
use super::judge::Judged;
use super::key::Key;
use super::placement::straddles;
use super::runner::{Runner, Stop};
use super::sizes::{SIZES_REGION, samples_within};

/// What is done at each size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Store with its reply.
    BulkStore,
    /// Get.
    BulkGet,
    /// Round trip of a message; its time is half of that.
    Comms1,
    /// Exchange of two messages; its time is half of that.
    Comms2,
    /// Exchange of messages of all ranks with all.
    Comms3,
    /// Barrier of all ranks.
    Synch1,
}

impl Operation {
    /// Its name in run files.
    pub fn name(self) -> &'static str {
        match self {
            Self::BulkStore => "bulk_store",
            Self::BulkGet => "bulk_get",
            Self::Comms1 => "comms1",
            Self::Comms2 => "comms2",
            Self::Comms3 => "comms3",
            Self::Synch1 => "synch1",
        }
    }

    fn kernel(self) -> Kernel {
        match self {
            Self::BulkStore => Kernel::Store,
            Self::BulkGet => Kernel::Get,
            Self::Comms1 => Kernel::Comms1,
            Self::Comms2 => Kernel::Comms2,
            Self::Comms3 => Kernel::Comms3,
            Self::Synch1 => Kernel::Synch1,
        }
    }

    /// Whether it passes messages, rather than move bytes from memory to memory.
    pub fn passes_messages(self) -> bool {
        !matches!(self, Self::BulkStore | Self::BulkGet)
    }

    /// Whether all ranks take part.
    pub fn is_of_all(self) -> bool {
        matches!(self, Self::Comms3 | Self::Synch1)
    }

    /// Parts of a round that its time counts: COMMS1 and COMMS2 give half of it.
    fn parts(self) -> f64 {
        if matches!(self, Self::Comms1 | Self::Comms2) { 2.0 } else { 1.0 }
    }
}

/// What is timed of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// From its begin until nothing is under way.
    Whole,
    /// From its begin until the last operation was issued.
    Issue,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Issue => "issue",
        }
    }
}

/// One point: so many operations of one size, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sized {
    /// What is done.
    pub operation: Operation,
    /// Bytes of each.
    pub bytes: u32,
    /// Operations of one sample (M).
    pub messages: u32,
}

impl Sized {
    /// Operations of one sample that its time is divided by: those of message passing are done
    /// several times because one is short, bursts of transfers are looked at as they are.
    fn messages_per_time(&self) -> u32 {
        if self.operation.passes_messages() { self.messages } else { 1 }
    }
}

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesPlan {
    /// The points.
    pub points: Vec<Sized>,
    /// Half-width of an interval over its estimate at which a point is done.
    pub precision: f64,
    /// Confidence level of intervals.
    pub confidence: f64,
    /// Time for one launch, in seconds.
    pub budget: f64,
    /// Samples of a batch of short messages.
    pub samples: u32,
    /// Seed of the order of points.
    pub seed: u64,
    /// Cost of the clock's stamps, in nanoseconds: removed from every time.
    pub stamp: f64,
    /// The two ranks between which bytes are moved: who times, and its peer.
    pub pair: [usize; 2],
}

impl SeriesPlan {
    /// What was measured, seen with this plan's precision.
    pub fn judge<'a>(&self, table: &'a Table) -> Judged<'a> {
        Judged::of(table, self.confidence, self.precision, self.seed).stamped(self.stamp)
    }

    /// Whether messages are passed, rather than bytes moved from memory to memory.
    pub fn passes_messages(&self) -> bool {
        self.points.iter().any(|point| point.operation.passes_messages())
    }

    /// Bytes that each of `ranks` ranks must expose for it, where messages are cut so.
    pub fn exposed(&self, ranks: usize, tuning: &Tuning) -> usize {
        if self.passes_messages() {
            tuning.memory(ranks).next_multiple_of(4096)
        } else {
            2 * self.longest().next_multiple_of(4096).max(SIZES_REGION)
        }
    }

    /// Bytes that each of `ranks` ranks takes for it: what it exposes, and the buffers of messages.
    pub fn memory(&self, ranks: usize, tuning: &Tuning) -> usize {
        let buffers = if self.passes_messages() { 2 * self.longest() } else { 0 };
        self.exposed(ranks, tuning) + buffers
    }

    fn longest(&self) -> usize {
        self.points.iter().map(|point| point.bytes as usize).max().unwrap_or(0)
    }
}

/// Attempts at a batch that straddles a change of state.
const ATTEMPTS: usize = 4;
/// Rounds over all points at least, whatever the budget.
const LEAST_ROUNDS: u32 = 2;
/// Multiple of the budget that these rounds may take on a machine that is too busy for it.
const PATIENCE: f64 = 3.0;
/// Bytes that a batch moves at most before its samples become fewer.
const BATCH_BYTES: u64 = 2 << 20;
/// Samples that a batch has at least.
const LEAST_SAMPLES: u32 = 8;
/// The same of messages longer than [`LONG`], of which one takes as long as many others together.
const FEWEST_SAMPLES: u32 = 3;
const LONG: u32 = 16 << 20;

/// Measures the series; batches go to [`Runner::keep`] as they are made.
///
/// # Errors
/// Communication failed or the run was stopped; what was kept stays kept.
pub fn measure<R: Runner>(runner: &mut R, plan: &SeriesPlan) -> Result<Table, Stop> {
    let mut session =
        Session { runner, plan, table: Table::default(), watchful: Watchful::default() };
    session.runner.progress(0.0, "first round")?;
    session.rounds()?;
    Ok(session.table)
}

struct Session<'a, R> {
    runner: &'a mut R,
    plan: &'a SeriesPlan,
    table: Table,
    watchful: Watchful,
}

impl<R: Runner> Session<'_, R> {
    fn rounds(&mut self) -> Result<(), Stop> {
        let all = self.plan.points.len();
        let mut order = Xoshiro256PlusPlus::seed_from_u64(self.plan.seed);
        let begun = self.runner.elapsed().as_secs_f64();
        let mut open = self.plan.points.clone();
        let mut round = 0_u32;
        loop {
            open.shuffle(&mut order);
            for (at, point) in open.iter().enumerate() {
                self.batch(*point)?;
                let spent = self.runner.elapsed().as_secs_f64() - begun;
                let first = if round == 0 { at as f64 / open.len() as f64 } else { 1.0 };
                let done = (spent / self.plan.budget).max(0.2 * first);
                self.runner.progress(
                    done.min(0.99),
                    &format!("round {}, {} of {all} sizes open", round + 1, open.len()),
                )?;
                let patience = if round >= LEAST_ROUNDS { 1.0 } else { PATIENCE };
                if spent > patience * self.plan.budget {
                    return Ok(());
                }
            }
            round += 1;
            if self.runner.virtual_time() {
                if round >= LEAST_ROUNDS {
                    return Ok(());
                }
                continue;
            }
            let judged = self.plan.judge(&self.table);
            // All are judged again: which state is looked from may have changed.
            let done = |point: &Sized| judged.converged(&key(*point, Part::Whole));
            open = self.plan.points.iter().copied().filter(|point| !done(point)).collect();
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    /// One batch of one point; repeated when the placement changed within it.
    fn batch(&mut self, point: Sized) -> Result<(), Stop> {
        let [requester, replier] = self.plan.pair;
        let job = Job {
            kernel: point.operation.kernel(),
            pattern: match point.operation.is_of_all() {
                true => Pattern::All,
                false => Pattern::OneToOne { requester, replier },
            },
            messages: point.messages,
            samples: self.samples(point),
            bytes: point.bytes,
            delay: Delay::NONE,
            probed: true,
        };
        for attempt in 1..=ATTEMPTS {
            self.watchful.await_calm(self.runner, &job)?;
            let done = self.runner.run(&job)?;
            self.watchful.note(done.probe);
            let rejected = straddles(done.probe);
            let again = rejected.is_some() && attempt < ATTEMPTS;
            let launch = self.runner.launch();
            let parts = point.operation.parts() * f64::from(point.messages_per_time());
            let whole: Vec<f64> = done.drained.iter().map(|time| time / parts).collect();
            let issue = (!point.operation.passes_messages()).then_some(done.issue);
            let measured = [(Part::Whole, Some(whole)), (Part::Issue, issue)];
            for (part, samples) in measured {
                let Some(samples) = samples else { continue };
                let (probe, rejected) = (done.probe, rejected.clone());
                let batch = Batch { samples, probe, delay: None, launch, rejected };
                let measured = Measured { key: key(point, part), batch };
                self.table.push(measured.clone());
                self.runner.keep(measured)?;
            }
            if !again {
                break;
            }
        }
        Ok(())
    }

    /// Samples of a batch: in virtual time they are all alike, and of long messages few suffice.
    fn samples(&self, point: Sized) -> u32 {
        if self.runner.virtual_time() {
            return 2;
        }
        let least = if point.bytes > LONG { FEWEST_SAMPLES } else { LEAST_SAMPLES };
        samples_within(BATCH_BYTES, point.bytes, point.messages, least, self.plan.samples)
    }
}

/// The key under which a point's batches are kept.
pub fn key(point: Sized, part: Part) -> Key {
    let Sized { operation, bytes, messages } = point;
    let key = Key::new(operation.name()).at("bytes", bytes).at("messages", messages);
    key.at("part", part.name())
}
