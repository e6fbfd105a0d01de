//! The whole procedure on machines whose parameters are known: the first look, the choice of the grid,
//! rounds until it is precise enough, states, the choice of regimes, and the intervals.
//!
//! Each machine drifts from batch to batch, each sample has noise of its own, and some batches are
//! stalled.

use bandgap_kernels::{Checked, ISSUE, Order, TAKE, WHOLE};
use bandgap_model::logp::{Params, issue_time};
use bandgap_model::{Regime, Signature};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::load::Load;
use crate::logp::LogpPlan;
use crate::plan::Asked;
use crate::planned::Planned;
use crate::runner::Executed;
use crate::scripted::Scripted;
use crate::signature::SignaturePlan;

/// Standard deviation of the drift, as a share; what of it stays from one batch to the next; the
/// same of a sample's own noise; and the share of batches that are stalled.
const DRIFT: f64 = 0.012;
const STAYS: f64 = 0.95;
const NOISE: f64 = 0.02;
const STALLED: f64 = 0.02;

/// A machine: the time to issue so many messages with a delay, in nanoseconds, and its round trip.
struct Machine {
    issue: fn(u64, f64) -> f64,
    rtt: f64,
}

impl Machine {
    fn runner(&self, seed: u64) -> Scripted {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (issue, rtt) = (self.issue, self.rtt);
        let mut drift = 0.0;
        let mut runner = Scripted::new(move |order: &Order| {
            let mut normal = || -> f64 { StandardNormal.sample(&mut generator) };
            drift = STAYS * drift + DRIFT * (1.0 - STAYS * STAYS).sqrt() * normal();
            let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
            let messages = number(&order.parameters["messages"]).max(1);
            let delay = number(&order.parameters["delay"]["picoseconds"]) as f64 / 1e3;
            let issued = issue(messages, delay);
            let whole = if messages == 1 { rtt } else { issued + rtt };
            let paces: Vec<f64> =
                (0..order.samples).map(|_| 1.0 + drift + NOISE * normal()).collect();
            let stall = if generator.random_bool(STALLED) { 3.0 } else { 1.0 };
            let column = |time: f64| paces.iter().map(|pace| time * pace * stall).collect();
            let of = [(ISSUE, issued), (TAKE, issued), (WHOLE, whole)];
            let samples = of.map(|(name, ns)| (name, column(ns))).into();
            let checked = Checked { received: 1, compared: 1, summed: 0 };
            Ok(Executed { samples, checked, ..Executed::default() })
        });
        // Eight seconds are 800 batches.
        runner.cost = 0.01;
        runner
    }

    /// The signature that the procedure finds.
    fn signature(&self, seed: u64) -> Signature {
        let mut runner = self.runner(seed);
        let asked = Asked { seed, ..Asked::usual(8.0) };
        let signature = SignaturePlan::short(&asked, Load::Words);
        let plan = LogpPlan { signature, pairs: false };
        plan.lead(&mut runner).unwrap();
        plan.signature.asked.judge(&runner.kept).signature(400, None).unwrap()
    }
}

/// Runs of the procedure; a share of 0.9 of them has a standard deviation of 2 %.
const RUNS: u64 = 200;
/// The least shares of the runs whose 95 % intervals hold os, or, g, L and RTT. The procedure stops when
/// its intervals are narrow, and so more often where they are too narrow: it does not reach 0.95.
const LEAST: [f64; 5] = [0.85, 0.78, 0.84, 0.9, 0.85];

/// Compares the signatures of all runs with what is true of the machine.
#[track_caller]
fn assert_found(machine: &Machine, truths: [f64; 5], regime: Regime) {
    let (mut held, mut right, mut wrong) = ([0; 5], 0, 0);
    for seed in 0..RUNS {
        let signature = machine.signature(seed);
        let Signature { send_overhead, recv_overhead, gap, latency, rtt, .. } = signature;
        let found = [send_overhead, recv_overhead, gap, latency, rtt];
        for ((held, found), truth) in held.iter_mut().zip(found).zip(truths) {
            *held += u64::from(found.low <= truth && truth <= found.high);
            assert!((found.value / truth - 1.0).abs() < 0.2, "{found:?}, not {truth}, {seed}");
        }
        right += u64::from(signature.regime == regime);
        wrong += u64::from(signature.regime != regime && signature.regime != Regime::Undecided);
    }
    let shares = held.map(|held| held as f64 / RUNS as f64);
    let enough = shares.iter().zip(LEAST).all(|(share, least)| *share >= least);
    assert!(enough, "held os, or, g, L, RTT: {shares:?}");
    assert!(100 * wrong <= RUNS, "{wrong} of {RUNS} have another regime");
    assert!(100 * right >= 95 * RUNS, "{right} of {RUNS} have this regime");
}

#[test]
fn a_network_bound_machine() {
    let Params { send_overhead, recv_overhead, gap, latency, .. } = Params::MYRINET;
    let machine = Machine {
        issue: |messages, delay| issue_time(&Params::MYRINET, messages, delay),
        rtt: Params::MYRINET.rtt(),
    };
    let truths = [send_overhead, recv_overhead, gap, latency, Params::MYRINET.rtt()];
    assert_found(&machine, truths, Regime::NetworkBound);
}

#[test]
fn a_processor_bound_machine() {
    const BOUND: Params = Params { gap: 1000.0, ..Params::PARAGON };
    let machine =
        Machine { issue: |messages, delay| issue_time(&BOUND, messages, delay), rtt: BOUND.rtt() };
    let both = BOUND.send_overhead + BOUND.recv_overhead;
    let truths = [BOUND.send_overhead, BOUND.recv_overhead, both, BOUND.latency, BOUND.rtt()];
    assert_found(&machine, truths, Regime::ProcessorBound);
}

/// Over shared memory: a step of 52 ns after the first message, 5 ns each, 27 ns at full rate, and
/// 65 ns beside a delay of 60 ns or more.
fn shared_memory(messages: u64, delay: f64) -> f64 {
    let behind = messages as f64 - 1.0;
    let quiet = 6.0 + behind * (5.0 + delay) + if messages > 1 { 52.0 } else { 0.0 };
    let cost = f64::max(27.0, f64::min(65.0, 20.0 + 0.75 * delay) + delay);
    quiet.max(messages as f64 * cost - 300.0)
}

#[test]
fn a_machine_with_a_step_and_overlap() {
    let machine = Machine { issue: shared_memory, rtt: 200.0 };
    let truths = [5.0, 60.0, 27.0, 35.0, 200.0];
    assert_found(&machine, truths, Regime::Overlapped);
}
