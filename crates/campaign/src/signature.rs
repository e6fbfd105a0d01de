//! The procedure of the LogP signature.
//!
//! A first look finds the round trip, the gap and how many messages it takes to see it; from these
//! the grid is chosen. Then rounds: each visits every point that has not converged, in shuffled
//! order, for one batch, so that a disturbance or a slow drift of the machine falls on all points
//! alike. It ends when every point and every parameter has the precision asked for, or when the
//! time budget is spent.

use bandgap_comm::Delay;
use bandgap_kernels::{Job, Pattern};
use bandgap_stats::quantile::median;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::calm::Watchful;
use super::data::{Batch, Measured, Table};
use super::grid::{FirstLook, Limits, Point, choose};
use super::judge::{Judged, batch_value};
use super::key::Key;
use super::load::Load;
use super::placement::straddles;
use super::runner::{Executed, Runner, Stop};

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignaturePlan {
    /// Half-width of an interval over its estimate at which a point is done.
    pub precision: f64,
    /// Confidence level of intervals.
    pub confidence: f64,
    /// Time for one launch, in seconds.
    pub budget: f64,
    /// Samples of a batch.
    pub samples: u32,
    /// Seed of the order of points and of the bootstrap.
    pub seed: u64,
    /// Who asks whom.
    pub pattern: SignaturePattern,
    /// What each request carries.
    pub load: Load,
    /// Cost of the clock's stamps, in nanoseconds: removed from every time.
    pub stamp: f64,
}

impl SignaturePlan {
    /// What was measured, seen with this plan's precision.
    pub fn judge<'a>(&self, table: &'a Table) -> Judged<'a> {
        Judged::of(table, self.confidence, self.precision, self.seed).stamped(self.stamp)
    }
}

/// Who asks whom in a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignaturePattern {
    /// Rank 0 asks rank 1.
    OneToOne,
    /// Half of the ranks ask the other half.
    Pairs,
    /// Rank 0 asks all others in turn.
    FanOut,
}

impl SignaturePattern {
    fn kernels(self) -> Pattern {
        match self {
            Self::OneToOne => Pattern::OneToOne { requester: 0, replier: 1 },
            Self::Pairs => Pattern::Pairs,
            Self::FanOut => Pattern::FanOut,
        }
    }
}

/// Rounds over all points at least, whatever the budget.
const LEAST_ROUNDS: u32 = 2;
/// Multiple of the budget that these rounds may take on a machine that is too busy for it.
const PATIENCE: f64 = 3.0;
/// Samples of a batch of the first look at most.
const FEW: u32 = 20;
/// Attempts at a batch that straddles a change of state.
const ATTEMPTS: usize = 4;
/// Share by which the delay may differ before and after a batch.
const DRIFT: f64 = 0.1;
/// Samples of the delay by itself, before and after a batch.
const DELAY_SAMPLES: u32 = 9;
/// Time that one of these may take, in nanoseconds, if it is of more than one delay.
const DELAY_TIME: f64 = 5e4;
/// Points whose batch takes less than this, in nanoseconds, are visited several times in a round:
/// round trips and short bursts are where the overheads come from, and cost least.
const CHEAP: f64 = 4e5;
/// Visits of the round trip in a round.
const RTT_VISITS: usize = 4;
/// Successive slopes of elapsed(M) within this share of each other are stable.
const STABLE: f64 = 0.1;
/// Multiples of the capacity between which the largest M lies: full rate is reached only when the
/// requests that flow control allows are outstanding, which takes several times as many messages.
const PAST_CAPACITY: std::ops::Range<u32> = 8..32;

/// Measures the signature; batches go to [`Runner::keep`] as they are made.
///
/// # Errors
/// Communication failed or the run was stopped; what was kept stays kept.
pub fn measure<R: Runner>(runner: &mut R, plan: &SignaturePlan) -> Result<Table, Stop> {
    let mut session = Session::new(runner, plan);
    session.runner.progress(0.0, "first look")?;
    let look = session.first_look()?;
    let mut points: Vec<Point> = vec![Point::Rtt; RTT_VISITS];
    let limits = session.limits();
    let curves = choose(&look, limits, |messages| session.samples(messages));
    let mut delays = Vec::new();
    for curve in curves {
        let delay = if curve.delay > 0.0 { session.runner.delay(curve.delay) } else { Delay::NONE };
        // Several delays shorter than the shortest that the processor can make are one.
        if delays.contains(&delay) {
            continue;
        }
        delays.push(delay);
        for &messages in &curve.messages {
            let point = Point::Issue { messages, delay };
            let samples = session.samples(messages);
            let batch = look.sample_time(messages, curve.delay) * f64::from(samples);
            let visits = (CHEAP / batch).clamp(1.0, limits.visits);
            points.extend(std::iter::repeat_n(point, visits as usize));
        }
    }
    session.rounds(points)?;
    Ok(session.table)
}

struct Session<'a, R> {
    runner: &'a mut R,
    plan: &'a SignaturePlan,
    table: Table,
    watchful: Watchful,
}

impl<'a, R: Runner> Session<'a, R> {
    fn new(runner: &'a mut R, plan: &'a SignaturePlan) -> Self {
        Self { runner, plan, table: Table::default(), watchful: Watchful::default() }
    }

    /// Samples of a batch: in virtual time they are all alike.
    fn samples(&self, messages: u32) -> u32 {
        if self.runner.virtual_time() {
            return 2;
        }
        self.plan.load.samples(messages, self.plan.samples)
    }

    /// What keeps a round short: in virtual time nothing, since no sample takes long and no bytes
    /// have a place.
    fn limits(&self) -> Limits {
        match self.runner.virtual_time() {
            true => Load::Words.limits(f64::INFINITY),
            false => self.plan.load.limits(self.plan.budget),
        }
    }

    /// Longest time that one sample may take, in nanoseconds.
    fn longest_sample(&self) -> f64 {
        match self.runner.virtual_time() {
            true => f64::INFINITY,
            false => self.plan.load.longest_sample(),
        }
    }

    /// Round trip, send overhead and gap, well enough to choose a grid.
    fn first_look(&mut self) -> Result<FirstLook, Stop> {
        let mut rtt = self.warm()?;
        let looks = if self.runner.virtual_time() { 1 } else { self.plan.load.looks() };
        let elapsed = |session: &mut Self, messages: u32| {
            let samples = session.samples(messages).min(FEW);
            let mut least = f64::INFINITY;
            for _ in 0..looks {
                let done = session.execute(messages, Delay::NONE, samples)?;
                least = least.min(batch_value(&done.issue));
            }
            Ok::<f64, Stop>(least)
        };
        let one = elapsed(self, 1)?;
        let eight = elapsed(self, 8)?;
        let send_overhead = ((eight - one) / 7.0).max(0.0);
        rtt = rtt.max(1.0);
        let capacity = self.runner.capacity().clamp(8, 1 << 12) as u32;
        let (most, longest) = (self.limits().most, self.longest_sample());
        let (mut messages, mut before) = (16_u32, eight);
        let mut slopes: Vec<f64> = Vec::new();
        let mut previous = 8_u32;
        loop {
            let now = elapsed(self, messages)?;
            slopes.push((now - before) / f64::from(messages - previous));
            let stable = slopes.windows(2).next_back().is_some_and(|w| near(w[0], w[1], STABLE));
            let past = messages >= PAST_CAPACITY.start * capacity;
            let far =
                messages >= PAST_CAPACITY.end * capacity || messages > most / 2 || now > longest;
            if past && stable || far {
                break;
            }
            (previous, before) = (messages, now);
            messages *= 2;
        }
        let gap = slopes.last().copied().unwrap_or(rtt).max(0.1);
        Ok(FirstLook { rtt, send_overhead, gap, messages, untimed: self.plan.load.untimed() })
    }

    /// Round trips until successive batches agree.
    fn warm(&mut self) -> Result<f64, Stop> {
        let samples = self.samples(1).min(FEW);
        let mut last = f64::INFINITY;
        for _ in 0..20 {
            let now = batch_value(&self.execute(1, Delay::NONE, samples)?.drained);
            if near(last, now, 0.05) {
                return Ok(now);
            }
            last = now;
        }
        Ok(last)
    }

    fn rounds(&mut self, points: Vec<Point>) -> Result<(), Stop> {
        let mut order = Xoshiro256PlusPlus::seed_from_u64(self.plan.seed);
        let begun = self.runner.elapsed().as_secs_f64();
        let mut open = points.clone();
        let mut round = 0_u32;
        loop {
            open.shuffle(&mut order);
            for (at, point) in open.iter().enumerate() {
                self.batch(*point)?;
                let spent = self.runner.elapsed().as_secs_f64() - begun;
                let share = (spent / self.plan.budget).max(if round == 0 {
                    0.5 * at as f64 / open.len() as f64
                } else {
                    0.5
                });
                self.runner
                    .progress(share.min(0.99), &self.doing(round, open.len(), points.len()))?;
                if self.over(round, spent) {
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
            let done = |point: &Point| judged.converged(&self.key(*point));
            open = points.iter().copied().filter(|point| !done(point)).collect();
            if open.is_empty() {
                if judged.parameters_converged(self.plan.load) {
                    return Ok(());
                }
                open = points.clone();
            }
            let spent = self.runner.elapsed().as_secs_f64() - begun;
            if self.over(round, spent) {
                return Ok(());
            }
        }
    }

    /// Whether to stop after `rounds` whole rounds and `spent` seconds: within the budget, save
    /// that a few rounds over all points, without which there is nothing to fit, may take longer.
    fn over(&self, rounds: u32, spent: f64) -> bool {
        let patience = if rounds >= LEAST_ROUNDS { 1.0 } else { PATIENCE };
        spent > patience * self.plan.budget
    }

    fn doing(&self, round: u32, open: usize, points: usize) -> String {
        let load = match self.plan.load {
            Load::Words => String::new(),
            load => format!("{load}, "),
        };
        format!("{load}round {}, {open} of {points} points open", round + 1)
    }

    /// One batch of one point; repeated when the placement changed within it.
    fn batch(&mut self, point: Point) -> Result<(), Stop> {
        for attempt in 1..=ATTEMPTS {
            let (messages, delay) = match point {
                Point::Issue { messages, delay } => (messages, delay),
                Point::Rtt => (1, Delay::NONE),
            };
            let samples = self.samples(messages);
            self.watchful.await_calm(self.runner, &self.job(messages, delay, samples))?;
            let before = self.delay_in_place(delay, messages);
            let done = self.execute(messages, delay, samples)?;
            let after = self.delay_in_place(delay, messages);
            let probe = done.probe;
            self.watchful.note(probe);
            let samples = if point == Point::Rtt { done.drained } else { done.issue };
            let delay = before.zip(after).map(|(before, after)| f64::midpoint(before, after));
            let rejected = straddles(probe).or_else(|| drifts(before, after));
            let again = rejected.is_some() && attempt < ATTEMPTS;
            let launch = self.runner.launch();
            let measured = Measured {
                key: self.key(point),
                batch: Batch { samples, probe, delay, launch, rejected },
            };
            self.table.push(measured.clone());
            self.runner.keep(measured)?;
            if !again {
                break;
            }
        }
        Ok(())
    }

    /// Δ by itself, timed in a burst of the same kind.
    fn delay_in_place(&mut self, delay: Delay, messages: u32) -> Option<f64> {
        if delay == Delay::NONE {
            return None;
        }
        let enough = (DELAY_TIME * 1e3 / delay.picoseconds as f64).max(1.0) as u32;
        let messages = messages.clamp(16, 64).min(enough);
        let times = self.runner.time_delay(delay, messages, DELAY_SAMPLES);
        // Few samples, of which an interrupt may hit some; each is long against the clock's step.
        Some(median(&times))
    }

    fn execute(&mut self, messages: u32, delay: Delay, samples: u32) -> Result<Executed, Stop> {
        let job = self.job(messages, delay, samples);
        self.runner.run(&job)
    }

    fn job(&self, messages: u32, delay: Delay, samples: u32) -> Job {
        Job {
            kernel: self.plan.load.kernel(),
            pattern: self.plan.pattern.kernels(),
            messages,
            samples,
            bytes: self.plan.load.bytes(),
            delay,
            probed: true,
        }
    }

    /// The key under which a point's batches are kept.
    fn key(&self, point: Point) -> Key {
        let load = self.plan.load;
        match point {
            Point::Issue { messages, delay } => issue(load, messages, delay.picoseconds),
            Point::Rtt => rtt(load),
        }
    }
}

/// Why the delays before and after a batch are not those of one speed of the processor.
fn drifts(before: Option<f64>, after: Option<f64>) -> Option<String> {
    let (before, after) = before.zip(after)?;
    let apart = (before - after).abs();
    (apart > DRIFT * before.min(after) + 1.0).then(|| {
        format!(
            "the processor's speed changed within the batch: Δ took {before:.1}, then {after:.1} ns"
        )
    })
}

fn near(a: f64, b: f64, share: f64) -> bool {
    (a - b).abs() <= share * a.abs().max(b.abs())
}

/// The name of issue phases.
pub const ISSUE: &str = "issue";
/// The name of round trips.
pub const RTT: &str = "rtt";

/// The key of the issue phase of `messages` requests with a delay of this many picoseconds.
pub fn issue(load: Load, messages: u32, delay_ps: u64) -> Key {
    loaded(ISSUE, load).at("messages", messages).at("delay_ps", delay_ps)
}

/// The key of one request with its reply.
pub fn rtt(load: Load) -> Key {
    loaded(RTT, load)
}

fn loaded(what: &str, load: Load) -> Key {
    Key::new(what).at("load", load.name()).at("bytes", load.bytes())
}

/// The part of a table that belongs to the signature whose requests carry this.
pub fn of_load(table: &Table, load: Load) -> Table {
    table.part(|key, _| [ISSUE, RTT].contains(&key.what()) && is_of(key, load))
}

fn is_of(key: &Key, load: Load) -> bool {
    key.text("load") == Some(load.name()) && key.number("bytes") == Some(load.bytes().into())
}
