//! Known machines come back from their own noisy tables, and the intervals keep their promise.

use std::ops::{Range, RangeInclusive};

use super::machines::{EXACT, Layout, MACHINES, MEIKO, USUAL};
use crate::machine::Params;
use crate::more;
use bandgap_model::signature::Share;
use bandgap_model::{
    Estimate, Observation, Options, Phase, Regime, Signature, extract, observations_from_rows,
};
use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

const FINE: [u64; 17] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64, 80, 96, 128];

fn options(seed: u64) -> Options {
    Options { resamples: 400, seed, ..Options::default() }
}

fn signature(layout: &Layout, params: &Params, seed: u64) -> Signature {
    let observations = observations_from_rows(&layout.replayed(params, seed));
    extract(&observations, &options(seed), None).expect("a complete table")
}

/// The five parameters that have a truth, with it.
fn with_truth(signature: &Signature, truth: &Params) -> [(&'static str, Estimate, f64); 5] {
    [
        ("os", signature.send_overhead, truth.send_overhead),
        ("or", signature.recv_overhead, truth.recv_overhead),
        ("g", signature.gap, truth.gap),
        ("L", signature.latency, truth.latency),
        ("rtt", signature.rtt, truth.rtt()),
    ]
}

#[track_caller]
fn assert_within(name: &str, value: f64, truth: f64, share: f64) {
    assert!((value - truth).abs() <= share * truth.abs(), "{name}: {value} is not {truth}");
}

#[test]
fn what_each_point_adds_to_the_variances_is_told() {
    let (_, params) = MACHINES[0];
    let rows = Layout { drift: 0.0, outliers: 0.0, ..USUAL }.replayed(&params, 1);
    let found = extract(&observations_from_rows(&rows), &options(1), None).unwrap();
    let variances = |share: &Share| share.variances(found.regime);
    // The standard error is the half-width over 1.96, to some per cent.
    for (at, of) in
        [found.send_overhead, found.recv_overhead, found.gap, found.rtt].iter().enumerate()
    {
        let parts: f64 = found.shares.iter().map(|share| variances(share)[at]).sum();
        let half = (of.high - of.low) / 2.0;
        assert!((0.7..1.5).contains(&(half / (1.96 * parts.sqrt()))), "{at}: {half} {parts}");
    }
    let adds = |at: usize, is: &dyn Fn(&Share) -> bool| {
        found.shares.iter().filter(|share| is(share)).map(|share| variances(share)[at]).sum::<f64>()
    };
    let (round_trip, few) = (|of: &Share| of.kind == Phase::Rtt, |of: &Share| of.messages <= 16);
    assert!(adds(3, &round_trip) > 0.0 && adds(3, &|of| of.kind == Phase::Issue) == 0.0);
    assert!(adds(0, &|of| of.delay > 0.0) == 0.0 && adds(0, &few) > 0.0);
    assert!(
        adds(2, &|of| of.delay == 0.0 && of.messages > 16) > 0.0 && adds(2, &round_trip) == 0.0
    );
}

#[test]
fn reference_machines_within_three_per_cent() {
    let layouts = [
        USUAL,
        Layout { messages: &FINE, ..USUAL },
        Layout { rows: 100, delays: &[0.0, 8000.0, 16_000.0, 32_000.0], ..USUAL },
        Layout { rows: 30, delays: &[0.0, 5000.0, 10_000.0, 15_000.0, 20_000.0], ..USUAL },
    ];
    for layout in &layouts {
        for (machine, params) in MACHINES {
            for seed in 0..8 {
                let signature = signature(layout, &params, seed);
                for (name, estimate, truth) in with_truth(&signature, &params) {
                    let label = format!("{name} of {machine}, seed {seed}, {layout:?}");
                    assert_within(&label, estimate.value, truth, 0.03);
                }
                assert_eq!(signature.regime, Regime::NetworkBound);
                assert_eq!(signature.arm.holds, Some(true));
                let idle = params.gap - params.send_overhead - params.recv_overhead;
                assert_within("idle", signature.idle.value, idle, 0.05);
                let capacity = signature.capacity.unwrap().value;
                assert_within("capacity", capacity, params.capacity as f64, 0.1);
            }
        }
    }
}

/// Shares of tables, the three machines in turn, whose 95 % intervals hold the truth.
fn coverage(seeds: Range<u64>, of: impl Fn(&Params, u64) -> Signature) -> [(&'static str, f64); 5] {
    let tables = seeds.end - seeds.start;
    let mut held = [("", 0); 5];
    for seed in seeds {
        let (_, params) = MACHINES[(seed % 3) as usize];
        let truths = with_truth(&of(&params, seed), &params);
        for (slot, (name, estimate, truth)) in held.iter_mut().zip(truths) {
            slot.0 = name;
            slot.1 += u64::from(estimate.low <= truth && truth <= estimate.high);
        }
    }
    held.map(|(name, held)| (name, held as f64 / tables as f64))
}

#[track_caller]
fn assert_shares(shares: [(&'static str, f64); 5], nominal: RangeInclusive<f64>) {
    for (name, share) in shares {
        assert!(nominal.contains(&share), "{name} in {shares:?}");
    }
}

/// Of 250 tables, or as many times more as are asked for: three standard deviations of a share.
#[track_caller]
fn assert_nominal_coverage(layout: &Layout, first: u64) {
    let tables = 250 * more() as u64;
    let shares = coverage(first..first + tables, |params, seed| signature(layout, params, seed));
    let about = 3.0 * (0.95 * 0.05 / tables as f64).sqrt();
    assert_shares(shares, 0.95 - about..=0.95 + about);
}

/// Observations of a round for each row, in each of which all times are longer or shorter by a share of standard
/// deviation `drift`.
fn drifting(layout: &Layout, params: &Params, drift: f64, seed: u64) -> Vec<Observation> {
    let layout = Layout { outliers: 0.0, ..*layout };
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(!seed);
    let normal = Normal::new(1.0, drift).expect("a finite drift");
    let pace: Vec<f64> = (0..layout.rows).map(|_| normal.sample(&mut generator)).collect();
    let mut observations = observations_from_rows(&layout.replayed(params, seed));
    for observation in &mut observations {
        assert_eq!(observation.batches.len(), layout.rows);
        observation.batches.iter_mut().zip(&pace).for_each(|(batch, pace)| *batch *= pace);
        observation.rounds = (0..layout.rows as u64).collect();
    }
    observations
}

/// Coverage of 300 such tables of ten rounds, or as many times more as are asked for.
fn coverage_of_drifting(drift: f64) -> [(&'static str, f64); 5] {
    coverage(0..300 * more() as u64, |params, seed| {
        let observations = drifting(&Layout { rows: 10, ..USUAL }, params, drift, seed);
        extract(&observations, &options(seed), None).expect("a complete table")
    })
}

#[test]
fn rounds_that_drift_are_in_the_intervals() {
    for drift in [0.0, 0.012] {
        // The allowance for rounds that are alike makes them a little wide where they are not.
        assert_shares(coverage_of_drifting(drift), 0.92..=0.99);
    }
}

#[test]
fn rounds_that_drift_and_are_not_named_are_seen() {
    let tables = 100 * more() as u64;
    // Of 95 %, four standard deviations of the share less, and 90 % at most.
    let least = (0.95 - 4.0 * (0.95 * 0.05 / tables as f64).sqrt()).min(0.9);
    for layout in [
        Layout { rows: 5, ..USUAL },
        Layout { rows: 10, ..USUAL },
        Layout { rows: 20, noise: 0.02, delays: &[0.0, 8000.0, 16_000.0, 32_000.0], ..USUAL },
        Layout { rows: 40, messages: &FINE, ..USUAL },
    ] {
        let shares = coverage(0..tables, |params, seed| {
            let observations = drifting(&layout, params, 0.012, seed).into_iter();
            let unnamed = observations.map(|of| Observation { rounds: Vec::new(), ..of });
            extract(&unnamed.collect::<Vec<_>>(), &options(seed), None).expect("a complete table")
        });
        assert!(shares.iter().all(|(_, share)| *share >= least), "{shares:?}, {layout:?}");
    }
}

#[test]
fn intervals_hold_the_truth_at_their_rate() {
    assert_nominal_coverage(&USUAL, 10_000);
}

/// Ten batches of ten rows each, whose batches scatter as much as their rows.
const BATCHED: Layout<'static> = Layout { rows: 100, batch: 10, drift: 0.01, ..USUAL };

#[test]
fn intervals_of_batched_rows_hold_the_truth_at_their_rate() {
    assert_nominal_coverage(&BATCHED, 40_000);
}

#[test]
fn exact_tables_come_back_exactly() {
    for (_, params) in MACHINES {
        let signature = signature(&EXACT, &params, 1);
        for (name, estimate, truth) in with_truth(&signature, &params) {
            assert_within(name, estimate.value, truth, 1e-9);
            assert!(estimate.high - estimate.low < 1e-6 * truth, "{name}: {estimate:?}");
        }
        let capacity = signature.capacity.unwrap();
        for part in [capacity.value, capacity.low, capacity.high] {
            assert_within("capacity", part, 16.0, 1e-6);
        }
        assert_eq!(signature.findings, [], "nothing is to be said");
    }
}

#[test]
fn seed_decides_the_interval_only() {
    let observations = observations_from_rows(&USUAL.replayed(&MEIKO, 2));
    let run = |seed| extract(&observations, &options(seed), None).unwrap();
    assert_eq!(run(1), run(1));
    assert_eq!(run(1).gap.value, run(2).gap.value);
    assert_ne!(run(1).gap.low, run(2).gap.low);
}
