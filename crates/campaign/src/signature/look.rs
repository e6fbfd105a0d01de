//! The first look at a machine: round trip, send overhead and gap, precise enough to choose a grid.

use bandgap_comm::Delay;
use bandgap_kernels::{ISSUE, Order, WHOLE};

use super::plan::{SignaturePattern, SignaturePlan};
use crate::budget::Budget;
use crate::experiment::VIRTUAL_SAMPLES;
use crate::grid::{FirstLook, Limits};
use crate::judge::{batch_value, near};
use crate::load::Load;
use crate::runner::{Runner, Stop};

/// Largest number of samples in a batch of the first look.
const FEW: u32 = 20;
/// Batches of transfers at one M. The least counts: a batch of few samples may be disturbed
/// throughout, and the whole grid rests on it.
const LOOKS: u32 = 3;
/// Longest time of a sample, in nanoseconds. A batch has fifty.
const LONGEST: f64 = 2e6;
/// Longest time of a sample of transfers, whose bytes are also written before it and compared after
/// it.
const LONGEST_TRANSFERS: f64 = 5e5;
/// Approximate time for writing and comparing a byte, in nanoseconds.
const UNTIMED: f64 = 0.5;
/// Largest number of batches of round trips until two agree.
const WARM_UP: u32 = 20;
/// Round trips within this share of each other agree.
const WARM: f64 = 0.05;
/// Successive slopes of elapsed(M) within this share of each other are stable.
const STABLE: f64 = 0.1;
/// Range of the largest M, in multiples of the capacity. The full rate is reached only when as many
/// requests are outstanding as flow control allows, which takes several times as many messages.
const PAST_CAPACITY: std::ops::Range<u32> = 8..32;
/// Share of the launch's time after which M grows no further.
const LOOKING: f64 = 0.15;

/// A signature's batches on one runner.
pub(super) struct Batches<'a> {
    plan: &'a SignaturePlan,
    virtual_time: bool,
    capacity: usize,
    ranks: usize,
}

impl<'a> Batches<'a> {
    pub(super) fn new(plan: &'a SignaturePlan, runner: &dyn Runner) -> Self {
        let (virtual_time, ranks) = (runner.virtual_time(), runner.size());
        // Each peer has the same capacity.
        let peers = match plan.pattern {
            SignaturePattern::FanOut => ranks.saturating_sub(1).max(1),
            SignaturePattern::OneToOne | SignaturePattern::Pairs => 1,
        };
        let capacity = runner.capacity().saturating_mul(peers);
        Self { plan, virtual_time, capacity, ranks }
    }

    /// Samples per batch.
    pub(super) fn samples(&self, messages: u32) -> u32 {
        match self.virtual_time {
            true => VIRTUAL_SAMPLES,
            false => self.plan.load.samples(messages, self.plan.samples),
        }
    }

    /// The limits of the grid. Virtual time has none, since samples are short and bytes need no
    /// memory.
    pub(super) fn limits(&self, budget: &Budget) -> Limits {
        match self.virtual_time {
            true => Load::Words.limits(f64::INFINITY),
            false if self.plan.load.is_transfer() => self.plan.load.limits(budget.seconds()),
            false => {
                let period = self.capacity.clamp(8, 1 << 12) as u32;
                let least = PAST_CAPACITY.start * period;
                Limits { least, period, ..self.plan.load.limits(budget.seconds()) }
            }
        }
    }

    pub(super) fn order(&self, messages: u32, delay: Delay, samples: u32) -> Order {
        let asking = self.plan.pattern.asking();
        self.plan.load.order(asking, messages, delay, samples, self.ranks)
    }

    /// Looks at the machine; none of these batches is kept.
    ///
    /// # Errors
    /// Communication failed or the run was stopped.
    pub(super) fn look(&self, budget: &Budget, runner: &mut dyn Runner) -> Result<FirstLook, Stop> {
        let (rtt, around) = self.warm(budget, runner)?;
        let rtt = rtt.max(1.0);
        let one = self.elapsed(runner, 1)?;
        let eight = self.elapsed(runner, 8)?;
        let send_overhead = ((eight - one) / 7.0).max(0.0);
        let capacity = self.capacity.clamp(8, 1 << 12) as u32;
        let most = self.limits(budget).most;
        let longest = match (self.virtual_time, self.plan.load.is_transfer()) {
            (true, _) => f64::INFINITY,
            (false, true) => LONGEST_TRANSFERS,
            (false, false) => LONGEST,
        };
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
            if past && stable || far || budget.spent_of_all(runner) > LOOKING {
                break;
            }
            (previous, before) = (messages, now);
            messages *= 2;
        }
        let gap = slopes.last().copied().unwrap_or(rtt).max(0.1);
        let untimed = UNTIMED * f64::from(self.plan.load.bytes());
        Ok(FirstLook { rtt, send_overhead, gap, messages, untimed, around })
    }

    /// Time of the issue phase: the least of a few batches, in nanoseconds.
    fn elapsed(&self, runner: &mut dyn Runner, messages: u32) -> Result<f64, Stop> {
        let order = self.order(messages, Delay::NONE, self.samples(messages).min(FEW));
        let looks = if self.plan.load.is_transfer() && !self.virtual_time { LOOKS } else { 1 };
        let mut least = f64::INFINITY;
        for _ in 0..looks {
            least = least.min(batch_value(runner.run(&order)?.column(ISSUE)));
        }
        Ok(least)
    }

    /// Repeats round trips until successive batches agree. Returns the round trip and the time
    /// around a batch, in nanoseconds.
    pub(super) fn warm(
        &self,
        budget: &Budget,
        runner: &mut dyn Runner,
    ) -> Result<(f64, f64), Stop> {
        let order = self.order(1, Delay::NONE, self.samples(1).min(FEW));
        let begun = runner.elapsed();
        let (mut timed, mut last, mut batches) = (0.0, 0.0, 0);
        loop {
            let done = runner.run(&order)?;
            timed += done.column(WHOLE).iter().sum::<f64>();
            let now = batch_value(done.column(WHOLE));
            batches += 1;
            let is_over = batches == WARM_UP || budget.spent_of_all(runner) > LOOKING;
            if near(last, now, WARM) || is_over {
                let taken = runner.elapsed().saturating_sub(begun).as_secs_f64() * 1e9;
                return Ok((now, (taken - timed).max(0.0) / f64::from(batches)));
            }
            last = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::Params;

    use super::*;
    use crate::plan::Asked;
    use crate::tests::scripted::{Scripted, modelled, taking};

    fn look(load: Load, runner: &mut Scripted) -> FirstLook {
        let plan = SignaturePlan::short_of(&Asked::usual(1e6), load);
        let budget = Budget::from_now(runner, 1e6);
        Batches::new(&plan, runner).look(&budget, runner).unwrap()
    }

    #[test]
    fn a_machine_is_known_well_enough_once_full_rate_is_reached() {
        let params = Params::MYRINET;
        let mut runner = Scripted::new(move |order| Ok(modelled(order, &params)));
        let found = look(Load::Words, &mut runner);
        assert_eq!((found.rtt, found.send_overhead), (params.rtt(), params.send_overhead));
        assert!((found.gap / params.gap - 1.0).abs() < 0.02, "{found:?}");
        // Eight times the 16 requests that may be under way: before, both slopes may be os.
        assert_eq!((found.messages, found.untimed), (128, 0.0));
        // Transfers have 8 MiB of places: of 64 KiB 128, up to which M goes, on a machine that is fast.
        let bytes = 64 << 10;
        let params = Params { send_overhead: 2.0, recv_overhead: 2.6, gap: 12.4, ..params };
        let params = Params { capacity: 64, latency: 11.1, ..params };
        let mut runner = Scripted::new(move |order| Ok(modelled(order, &params)));
        let found = look(Load::Store { bytes }, &mut runner);
        assert_eq!((found.messages, found.untimed), (128, 0.5 * f64::from(bytes)));
        // Each of their batches is looked at three times: after the round trips M = 1, 8, 16 … 128.
        let bursts = |order: &&Order| order.parameters["messages"] == 128;
        assert_eq!(runner.ran().filter(bursts).count(), 3);
    }

    #[test]
    fn round_trips_are_repeated_until_two_batches_agree() {
        let mut times = [900.0, 500.0, 300.0, 208.0, 200.0, 100.0].into_iter();
        let mut runner =
            Scripted::new(move |order| Ok(taking(order, times.next().unwrap_or(100.0))));
        // 200 is within 5 % of 208.
        assert_eq!(look(Load::Words, &mut runner).rtt, 200.0);
    }
}
