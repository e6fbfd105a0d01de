//! Signatures of transfers: requests and replies that differ, and overheads as long as the transfer.

use super::machines::{EXACT, Layout};
use crate::machine::{Params, issue_time};
use bandgap_model::{Estimate, Options, Regime, extract, observations_from_rows};

/// A way without bytes of `value`, known within `half`.
fn way(value: f64, half: f64) -> Estimate {
    Estimate { value, low: value - half, high: value + half, samples: 5, estimator: "RTT(0)/2" }
}

#[track_caller]
fn assert_near(found: f64, truth: f64) {
    assert!((found - truth).abs() <= 1e-6 * truth.abs().max(1.0), "{found} is not {truth}");
}

#[test]
fn latency_is_that_of_the_way_with_the_bytes() {
    // The Myrinet with n·G = 40 µs: T(n) = 2 (os + or + L) + n·G, of which the reply's way is
    // os + or + L = 15.7 µs. The replayed machine knows one latency for both ways: L + n·G/2.
    let truth = Params::MYRINET;
    let bytes = 40_000.0;
    let long = Params { latency: truth.latency + bytes / 2.0, gap: bytes, ..truth };
    let observations = observations_from_rows(&EXACT.rows(
        long.rtt(),
        |messages, delay| issue_time(&long, messages, delay),
        1,
    ));
    // A delay above g = 40 µs is needed; the table has none, and says so.
    let reply = way(truth.rtt() / 2.0, 300.0);
    assert!(extract(&observations, &Options::default(), Some(&reply)).is_err());

    let delays = [0.0, 20_000.0, 60_000.0, 80_000.0, 120_000.0];
    let layout = Layout { delays: &delays, ..EXACT };
    let rows = layout.replayed(&long, 1);
    let observations = observations_from_rows(&rows);
    let found = extract(&observations, &Options::default(), Some(&reply)).unwrap();
    assert_near(found.send_overhead.value, truth.send_overhead);
    assert_near(found.recv_overhead.value, truth.recv_overhead);
    assert_near(found.gap.value, 40_000.0);
    // L + n·G, and all of its uncertainty is the reply's.
    assert_near(found.latency.value, truth.latency + bytes);
    assert_near(found.latency.high - found.latency.low, 600.0);
    // Half of the round trip would be wrong by n·G/2.
    let halved = extract(&observations, &Options::default(), None).unwrap();
    assert_near(halved.latency.value, truth.latency + bytes / 2.0);
}

#[test]
fn without_bytes_it_is_the_small_messages_latency() {
    let observations = observations_from_rows(&EXACT.replayed(&Params::PARAGON, 1));
    let reply = way(Params::PARAGON.rtt() / 2.0, 0.0);
    let found = extract(&observations, &Options::default(), Some(&reply)).unwrap();
    assert_near(found.latency.value, Params::PARAGON.latency);
}

#[test]
fn a_processor_that_copies_has_no_send_only_regime() {
    // A store into shared memory: the processor copies for 10 µs, and the reply, taken in 60 ns
    // before the next store, is back at once: T(n) = 10.12 µs. Of M stores M − 1 replies are taken.
    let (os, or, rtt) = (10_000.0, 60.0, 10_120.0);
    let elapsed = |messages: u64, delay: f64| {
        let messages = messages as f64;
        messages * (os + delay) + (messages - 1.0) * or
    };
    let observations = observations_from_rows(&EXACT.rows(rtt, elapsed, 1));
    let found = extract(&observations, &Options::default(), Some(&way(60.0, 0.0))).unwrap();
    assert_eq!(found.regime, Regime::ProcessorBound);
    assert_near(found.send_overhead.value, os);
    assert_near(found.recv_overhead.value, or);
    assert_near(found.gap.value, os + or);
    // 10.12 − 10 − 0.06 − 0.06: the transfer is the processor's work, and nothing is left.
    assert_near(found.latency.value, 0.0);
    assert!(found.capacity.is_none());
    assert!(found.findings.iter().any(|of| of.code == "send_only_unseen"), "{:?}", found.findings);
    // What is not there does not end after RTT/os = 1.01 messages either.
    assert_eq!(found.transition, None);
}
