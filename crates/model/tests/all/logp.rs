//! The machine of the tests does as the LogP paper says.

use proptest::prelude::*;

use crate::machine::{Params, issue_time};

fn slope(params: &Params, from: u64, to: u64, delay: f64) -> f64 {
    (issue_time(params, to, delay) - issue_time(params, from, delay)) / (to - from) as f64
}

#[test]
fn three_requests_fit_into_the_round_trip() {
    assert_eq!(issue_time(&Params::PARAGON, 3, 0.0), 3.0 * 1400.0);
}

#[test]
fn paragon_with_delay_16() {
    // The paper's text: g' = os + or + 16 = 19.6 µs.
    assert!((slope(&Params::PARAGON, 100, 200, 16_000.0) - 19_600.0).abs() < 1e-6);
}

#[test]
fn steady_state_is_the_gap() {
    for params in [Params::PARAGON, Params::MYRINET] {
        assert!((slope(&params, 200, 400, 0.0) - params.gap).abs() < 1e-6);
    }
}

#[test]
fn asymptote_tells_the_capacity() {
    // Reply k is taken at RTT + (k − 1)g, and request M waits for reply M − C, so
    // elapsed(M) = RTT + (M − C − 1)g + os.
    let params = Params::MYRINET;
    let expected = params.rtt() + (300.0 - 16.0 - 1.0) * params.gap + params.send_overhead;
    assert!((issue_time(&params, 300, 0.0) - expected).abs() < 1e-6);
}

#[test]
fn processor_bound_costs_both_overheads() {
    let params = Params { gap: 1000.0, ..Params::PARAGON };
    assert!((slope(&params, 200, 400, 0.0) - 3600.0).abs() < 1e-6);
}

proptest! {
    #[test]
    fn cost_lies_between_send_overhead_and_the_slowest_stage(
        messages in 1u64..400, delay in 0.0..30_000.0f64, capacity in 1u64..64,
    ) {
        let params = Params { capacity, ..Params::PARAGON };
        let elapsed = issue_time(&params, messages, delay);
        let least = messages as f64 * (params.send_overhead + delay);
        prop_assert!(elapsed >= least * (1.0 - 1e-12));
        // With room for a whole round trip at full rate nothing is slower than the bottleneck.
        let busy = params.send_overhead + params.recv_overhead + delay;
        let stalled = params.rtt() / capacity as f64 + params.recv_overhead;
        let bottleneck = params.gap.max(busy).max(stalled + busy);
        prop_assert!(elapsed <= messages as f64 * bottleneck);
    }
}
