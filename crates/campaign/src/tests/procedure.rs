//! The whole procedure on machines whose parameters are known: the first look, the choice of the grid,
//! rounds until it is precise enough, states, the choice of regimes, and the intervals.
//!
//! Each machine drifts within rounds and between them, is placed anew now and then, has a neighbour that
//! slows it and a clock with coarse steps; each sample has noise of its own, and some batches are stalled.

use std::ops::RangeInclusive;

use crate::machine::{Params, issue_time};
use bandgap_kernels::{Checked, ISSUE, Order, TAKE, WHOLE};
use bandgap_model::{Regime, Signature};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::{Measurements, Probe};
use crate::load::Load;
use crate::plan::Asked;
use crate::planned::Planned;
use crate::runner::Executed;
use crate::signature::{self, SignaturePlan};
use crate::tests::scripted::Scripted;

/// Standard deviation of the drift, as a share; what of it stays from one batch to the next; the
/// same of a sample's own noise; and the share of batches that are stalled.
const DRIFT: f64 = 0.012;
const STAYS: f64 = 0.95;
const NOISE: f64 = 0.02;
const STALLED: f64 = 0.02;
/// The chance that the ranks are placed anew during a batch, and the times of a cache line there; the
/// second takes longer for everything, and is where they are for a third of the time.
const MOVES: [f64; 2] = [1.0 / 300.0, 1.0 / 150.0];
const CACHE_LINES: [f64; 2] = [55.0, 250.0];
const FARTHER: f64 = 1.8;
/// The chance that a neighbour comes, and that it goes, and what it slows.
const NEIGHBOUR: [f64; 2] = [1.0 / 200.0, 1.0 / 20.0];
const SLOWER: f64 = 1.4;
/// A step of the clock, in nanoseconds.
const TICK: f64 = 10.0;
/// Time around the samples of a batch, in seconds.
const AROUND: f64 = 1e-3;

/// A machine: the time to issue so many messages with a delay, in nanoseconds; os, or, g, L and the round trip;
/// what limits its rate; and the seconds that the procedure has.
struct Machine {
    issue: fn(u64, f64) -> f64,
    truths: [f64; 5],
    regime: Regime,
    budget: f64,
}

/// What changes on a machine from batch to batch.
struct Weather {
    generator: Xoshiro256PlusPlus,
    drift: f64,
    moved: bool,
    neighbour: bool,
    /// How many times longer everything takes in this launch.
    launch: f64,
}

impl Weather {
    fn of(seed: u64) -> Self {
        let generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { generator, drift: 0.0, moved: false, neighbour: false, launch: 1.0 }
    }

    fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.generator)
    }

    fn pass(&mut self) {
        self.drift = STAYS * self.drift + DRIFT * (1.0 - STAYS * STAYS).sqrt() * self.normal();
        self.moved ^= self.generator.random_bool(MOVES[usize::from(self.moved)]);
        self.neighbour ^= self.generator.random_bool(NEIGHBOUR[usize::from(self.neighbour)]);
    }

    /// How many times longer everything takes.
    fn times(&self) -> f64 {
        let farther = if self.moved { FARTHER } else { 1.0 };
        let slower = if self.neighbour { SLOWER } else { 1.0 };
        (1.0 + self.drift) * farther * slower * self.launch
    }

    fn probe(&mut self) -> Probe {
        let cache_line = CACHE_LINES[usize::from(self.moved)] * (1.0 + NOISE * self.normal());
        let pace = if self.neighbour { SLOWER * 400.0 } else { 400.0 };
        Probe { cache_line, pace: pace * (1.0 + 0.1 * NOISE * self.normal()) }
    }

    /// What the clock reads of a time: whole ticks, which begin at any moment.
    fn read(&mut self, time: f64) -> f64 {
        let phase: f64 = self.generator.random();
        (time / TICK + phase).floor() * TICK
    }
}

impl Machine {
    /// A runner in this weather, where a launch is off the mean of all by this standard deviation.
    fn runner(&self, seed: u64, apart: f64) -> Scripted {
        let (issue, [.., rtt]) = (self.issue, self.truths);
        let mut weather = Weather::of(seed);
        if apart > 0.0 {
            weather.launch += apart * weather.normal();
        }
        let mut runner = Scripted::new(move |order: &Order| {
            let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
            let messages = number(&order.parameters["messages"]).max(1);
            let delay = number(&order.parameters["delay"]["picoseconds"]) as f64 / 1e3;
            let (before, begins) = (weather.probe(), weather.times());
            weather.pass();
            let (after, ends) = (weather.probe(), weather.times());
            let stall = if weather.generator.random_bool(STALLED) { 3.0 } else { 1.0 };
            let (mut issued, mut whole) = (Vec::new(), Vec::new());
            for at in 0..order.samples {
                let times = if 2 * at < order.samples { begins } else { ends };
                let times = times * stall * (1.0 + NOISE * weather.normal());
                // The delay lasts as long as ever.
                let time = times * issue(messages, delay / times);
                let until = if messages == 1 { times * rtt } else { time + times * rtt };
                issued.push(weather.read(time));
                whole.push(weather.read(until));
            }
            let samples = [(ISSUE, issued.clone()), (TAKE, issued), (WHOLE, whole)].into();
            let checked = Checked { received: 1, compared: 1, summed: 0 };
            let probe = order.probed.then_some([before, after]);
            Ok(Executed { samples, checked, probe, ..Executed::default() })
        });
        (runner.cost, runner.timed) = (AROUND, true);
        runner
    }

    /// The signature that the procedure finds, and how many times longer everything takes in the state that
    /// it is of.
    fn signature(&self, seed: u64) -> (Signature, f64) {
        self.over_launches(seed, 1, 0.0).0
    }

    /// The same over launches, and what they measured.
    fn over_launches(
        &self,
        seed: u64,
        launches: u32,
        apart: f64,
    ) -> ((Signature, f64), Measurements) {
        let asked = Asked { seed, ..Asked::usual(self.budget) };
        let plan = SignaturePlan::short_of(&asked, Load::Words);
        let mut table = Measurements::default();
        for launch in 0..launches {
            let mut runner = self.runner(seed + 1000 * u64::from(launch), apart);
            runner.launch = launch;
            plan.clone().after(&table).lead(&mut runner).unwrap();
            table.append(runner.kept);
        }
        let judged = asked.judge(&table);
        let state = &judged.states.states[judged.seen.unwrap()];
        let farther =
            if state.cache_line.centre > CACHE_LINES[0] * FARTHER { FARTHER } else { 1.0 };
        let whole = judged.signature(400, None).unwrap();
        let own = |launch| (judged.in_launch(&table.of_launch(launch)).observations(), None);
        let own: Vec<_> = (0..launches).map(own).collect();
        let each: Vec<_> = whole.each(&own, &judged.options(100)).into_iter().flatten().collect();
        ((whole.over_launches(&each, asked.confidence), farther), table)
    }
}

/// The shares of so many runs whose 95 % intervals may hold a parameter: three standard deviations about 0.95.
/// `BANDGAP_PROCEDURES=500` asks for more runs.
fn about(runs: u64) -> (u64, RangeInclusive<f64>) {
    let asked = std::env::var("BANDGAP_PROCEDURES").ok().and_then(|runs| runs.parse().ok());
    let runs = asked.unwrap_or(runs);
    let about = 3.0 * (0.95 * 0.05 / runs as f64).sqrt();
    (runs, 0.95 - about..=0.95 + about)
}

/// Compares the signatures of all runs with what is true of the machine.
#[track_caller]
fn assert_found(machine: &Machine, (runs, shares_of): (u64, RangeInclusive<f64>)) {
    let (mut held, mut right, mut wrong) = ([0; 5], 0, 0);
    for seed in 0..runs {
        let (signature, farther) = machine.signature(seed);
        let Signature { send_overhead, recv_overhead, gap, latency, rtt, .. } = signature;
        let found = [send_overhead, recv_overhead, gap, latency, rtt];
        for ((held, found), truth) in held.iter_mut().zip(found).zip(machine.truths) {
            *held += u64::from((found.low..=found.high).contains(&(farther * truth)));
        }
        let of = signature.regime;
        right += u64::from(of == machine.regime);
        wrong += u64::from(of != machine.regime && of != Regime::Undecided);
    }
    let shares = held.map(|held| held as f64 / runs as f64);
    println!("os, or, g, L, RTT held: {shares:?}; regime right {right}, wrong {wrong}");
    assert!(shares.iter().all(|share| shares_of.contains(share)), "os, or, g, L, RTT: {shares:?}");
    assert!(100 * wrong <= right + wrong, "{wrong} of {runs} have another regime");
    assert!(100 * right >= 95 * runs, "{right} of {runs} have this regime");
}

/// In little time there are few points and rounds, and intervals are a little narrow.
#[track_caller]
fn assert_found_soon(machine: Machine, budget: f64) {
    let (runs, about) = about(300);
    assert_found(&Machine { budget, ..machine }, (runs, 0.89..=*about.end()));
}

fn network_bound() -> Machine {
    let Params { send_overhead, recv_overhead, gap, latency, .. } = Params::MYRINET;
    Machine {
        issue: |messages, delay| issue_time(&Params::MYRINET, messages, delay),
        truths: [send_overhead, recv_overhead, gap, latency, Params::MYRINET.rtt()],
        regime: Regime::NetworkBound,
        budget: 60.0,
    }
}

fn processor_bound() -> Machine {
    const BOUND: Params = Params { gap: 1000.0, ..Params::PARAGON };
    let Params { send_overhead, recv_overhead, latency, .. } = BOUND;
    Machine {
        issue: |messages, delay| issue_time(&BOUND, messages, delay),
        truths: [send_overhead, recv_overhead, send_overhead + recv_overhead, latency, BOUND.rtt()],
        regime: Regime::ProcessorBound,
        budget: 60.0,
    }
}

/// Of so many messages, each of which takes `cost` at full rate, and before the first reply `sent` with
/// the delay, and `first` once.
fn bursts(messages: u64, [first, sent, delay]: [f64; 3], cost: f64) -> f64 {
    let quiet = first + (messages as f64 - 1.0) * (sent + delay);
    quiet.max(messages as f64 * cost - 300.0)
}

/// Overheads that are shorter where neighbouring messages overlap: 36 ns beside a delay of up to 60 ns, 82
/// ns from 95 ns on, and 27 ns at full rate.
fn two_arms() -> Machine {
    let issue = |messages, delay: f64| {
        let overheads = (36.0 + 46.0 * (delay - 60.0) / 35.0).clamp(36.0, 82.0);
        let cost = if delay > 0.0 { overheads + delay } else { 27.0 };
        bursts(messages, [5.0 + delay, 5.0, delay], cost)
    };
    let truths = [5.0, 77.0, 27.0, 18.0, 200.0];
    Machine { issue, truths, regime: Regime::Overlapped, budget: 8.0 }
}

/// As over shared memory: a step of 52 ns after the first message, and an arm that bends.
fn step_after_the_first() -> Machine {
    let issue = |messages: u64, delay: f64| {
        let overheads = f64::min(65.0, 20.0 + 0.75 * delay);
        let first = if messages > 1 { 58.0 } else { 6.0 };
        bursts(messages, [first, 5.0, delay], f64::max(27.0, overheads + delay))
    };
    let truths = [5.0, 60.0, 27.0, 35.0, 200.0];
    Machine { issue, truths, regime: Regime::Overlapped, budget: 8.0 }
}

#[test]
fn a_network_bound_machine() {
    assert_found(&network_bound(), about(200));
}

#[test]
fn a_processor_bound_machine() {
    assert_found(&processor_bound(), about(200));
}

#[test]
fn a_machine_with_two_arms() {
    assert_found(&two_arms(), about(200));
}

#[test]
fn a_machine_with_a_step_after_the_first_message() {
    assert_found(&step_after_the_first(), about(200));
}

#[test]
fn a_network_bound_machine_in_little_time() {
    assert_found_soon(network_bound(), 3.0);
}

#[test]
fn a_processor_bound_machine_in_little_time() {
    assert_found_soon(processor_bound(), 3.0);
}

#[test]
fn a_machine_with_two_arms_in_little_time() {
    assert_found_soon(two_arms(), 1.0);
}

#[test]
fn a_machine_with_a_step_after_the_first_message_in_little_time() {
    assert_found_soon(step_after_the_first(), 1.0);
}

/// Launches that are 3 % apart measure the same points, and no launch reads them by lines of its own.
#[test]
fn launches_in_little_time_are_read_alike() {
    let (mut held, mut widths) = ([0; 5], [0.0; 5]);
    let runs = 100;
    for seed in 0..runs {
        let machine = Machine { budget: 0.6, ..two_arms() };
        let ((signature, farther), table) = machine.over_launches(seed, 6, 0.03);
        for (key, batches) in table.of(signature::ISSUE) {
            let mut launches: Vec<u32> = batches.iter().map(|batch| batch.launch).collect();
            launches.dedup();
            assert_eq!(launches, [0, 1, 2, 3, 4, 5], "{key:?}");
        }
        let Signature { send_overhead, recv_overhead, gap, latency, rtt, .. } = signature;
        let found = [send_overhead, recv_overhead, gap, latency, rtt];
        for (at, (found, truth)) in found.into_iter().zip(machine.truths).enumerate() {
            held[at] += u64::from((found.low..=found.high).contains(&(farther * truth)));
            widths[at] += (found.high - found.low) / 2.0 / (farther * truth) / runs as f64;
        }
    }
    println!("os, or, g, L, RTT held: {held:?}, half-widths {widths:?}");
    assert!(held.iter().all(|held| (89..=99).contains(held)), "{held:?}");
}
