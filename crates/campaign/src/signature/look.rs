//! The first look at a machine: round trip, send overhead and gap, well enough to choose a grid.

use bandgap_comm::Delay;
use bandgap_kernels::{ISSUE, Order, WHOLE};

use super::plan::SignaturePlan;
use crate::experiment::VIRTUAL_SAMPLES;
use crate::grid::{FirstLook, Limits};
use crate::judge::batch_value;
use crate::load::Load;
use crate::runner::{Runner, Stop};

/// Samples of a batch of the first look at most.
const FEW: u32 = 20;
/// Batches of round trips at most until two agree.
const WARM_UP: usize = 20;
/// Round trips within this share of each other agree.
const WARM: f64 = 0.05;
/// Successive slopes of elapsed(M) within this share of each other are stable.
const STABLE: f64 = 0.1;
/// Multiples of the capacity between which the largest M lies: full rate is reached only when the
/// requests that flow control allows are outstanding, which takes several times as many messages.
const PAST_CAPACITY: std::ops::Range<u32> = 8..32;

/// A signature's batches on one runner.
pub(super) struct Batches<'a> {
    plan: &'a SignaturePlan,
    virtual_time: bool,
    capacity: usize,
    ranks: usize,
}

impl<'a> Batches<'a> {
    pub(super) fn new(plan: &'a SignaturePlan, runner: &dyn Runner) -> Self {
        let (virtual_time, capacity) = (runner.virtual_time(), runner.capacity());
        Self { plan, virtual_time, capacity, ranks: runner.size() }
    }

    /// Samples of a batch.
    pub(super) fn samples(&self, messages: u32) -> u32 {
        match self.virtual_time {
            true => VIRTUAL_SAMPLES,
            false => self.plan.load.samples(messages, self.plan.samples),
        }
    }

    /// What keeps a round short: in virtual time nothing, since no sample takes long and no bytes
    /// have a place.
    pub(super) fn limits(&self) -> Limits {
        match self.virtual_time {
            true => Load::Words.limits(f64::INFINITY),
            false => self.plan.load.limits(self.plan.asked.budget),
        }
    }

    /// Longest time that one sample may take, in nanoseconds.
    fn longest_sample(&self) -> f64 {
        if self.virtual_time { f64::INFINITY } else { self.plan.load.longest_sample() }
    }

    pub(super) fn order(&self, messages: u32, delay: Delay, samples: u32) -> Order {
        let asking = self.plan.pattern.asking();
        self.plan.load.order(asking, messages, delay, samples, self.ranks)
    }

    /// Looks at the machine; none of these batches is kept.
    ///
    /// # Errors
    /// Communication failed or the run was stopped.
    pub(super) fn look(&self, runner: &mut dyn Runner) -> Result<FirstLook, Stop> {
        let rtt = self.warm(runner)?.max(1.0);
        let one = self.elapsed(runner, 1)?;
        let eight = self.elapsed(runner, 8)?;
        let send_overhead = ((eight - one) / 7.0).max(0.0);
        let capacity = self.capacity.clamp(8, 1 << 12) as u32;
        let (most, longest) = (self.limits().most, self.longest_sample());
        let (mut previous, mut before) = (8_u32, eight);
        let mut messages = 16_u32;
        let mut slopes: Vec<f64> = Vec::new();
        loop {
            let now = self.elapsed(runner, messages)?;
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

    /// Time of the issue phase: the least of a few batches.
    fn elapsed(&self, runner: &mut dyn Runner, messages: u32) -> Result<f64, Stop> {
        let order = self.order(messages, Delay::NONE, self.samples(messages).min(FEW));
        let looks = if self.virtual_time { 1 } else { self.plan.load.looks() };
        let mut least = f64::INFINITY;
        for _ in 0..looks {
            least = least.min(batch_value(runner.run(&order)?.column(ISSUE)));
        }
        Ok(least)
    }

    /// Round trips until successive batches agree.
    fn warm(&self, runner: &mut dyn Runner) -> Result<f64, Stop> {
        let order = self.order(1, Delay::NONE, self.samples(1).min(FEW));
        let mut last = f64::INFINITY;
        for _ in 0..WARM_UP {
            let now = batch_value(runner.run(&order)?.column(WHOLE));
            if near(last, now, WARM) {
                return Ok(now);
            }
            last = now;
        }
        Ok(last)
    }
}

fn near(a: f64, b: f64, share: f64) -> bool {
    (a - b).abs() <= share * a.abs().max(b.abs())
}
