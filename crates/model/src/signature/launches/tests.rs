use super::super::{ArmFit, Cause, IssueLine, Steady, Transition};
use super::*;
use crate::finding::Finding;

fn known(value: f64) -> Estimate {
    Estimate { value, low: value - 0.1, high: value + 0.1, samples: 9, estimator: "one launch" }
}

/// An arm over these delays.
fn arm([from_delay, to_delay]: [f64; 2], [os, or]: [f64; 2]) -> ArmFit {
    ArmFit {
        from_delay,
        to_delay,
        delays: 3,
        overheads: known(os + or),
        recv_overhead: known(or),
        slope: Some(known(1.0)),
        holds: Some(true),
    }
}

/// A network-bound launch: os, or, the slope at Δ = 0, RTT, and the capacity where it shows.
fn launch([os, or, slope, rtt]: [f64; 4], capacity: Option<f64>) -> Signature {
    let line = IssueLine { slope, intercept: 1.0, from_messages: 64, to_messages: 256 };
    Signature {
        send_overhead: known(os),
        recv_overhead: known(or),
        gap: known(slope),
        latency: known(rtt / 2.0 - os - or),
        sent_latency: known(rtt / 2.0 - or),
        rtt: known(rtt),
        idle: known(slope - os - or),
        capacity: capacity.map(known),
        regime: Regime::NetworkBound,
        transition: Some(Transition { messages: rtt / os, cause: Cause::RoundTrip }),
        arm: arm([9.0, 30.0], [os, or]),
        near_arms: Vec::new(),
        send_only: line,
        steady: vec![Steady { delay: 0.0, cost: known(slope), line, settled: true }],
        findings: Vec::new(),
        shares: Vec::new(),
    }
}

/// The same processor-bound, which makes its gap os + or.
fn processor_bound(times: [f64; 4]) -> Signature {
    let launch = launch(times, None);
    let (gap, idle) = (known(times[0] + times[1]), known(0.0));
    Signature { gap, idle, regime: Regime::ProcessorBound, ..launch }
}

fn near(found: Estimate, [value, low, high]: [f64; 3]) {
    for (found, expected) in [(found.value, value), (found.low, low), (found.high, high)] {
        assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
    }
}

#[test]
fn parameters_are_means_over_launches() {
    let launches = [
        launch([1.0, 3.0, 7.0, 20.0], Some(8.0)),
        launch([2.0, 3.0, 8.0, 22.0], Some(9.0)),
        launch([3.0, 3.0, 9.0, 24.0], Some(10.0)),
    ];
    let found = launches[0].clone().over_launches(&launches, 0.95);
    // s = 1, t(2, 95 %) = 4.302653, so half = 4.302653/√3 = 2.484138; RTT's s is 2.
    near(found.send_overhead, [2.0, 2.0 - 2.484_138, 2.0 + 2.484_138]);
    // What does not differ between launches is no narrower than within them.
    near(found.recv_overhead, [3.0, 2.9, 3.1]);
    near(found.gap, [8.0, 8.0 - 2.484_138, 8.0 + 2.484_138]);
    near(found.rtt, [22.0, 22.0 - 4.968_275, 22.0 + 4.968_275]);
    // L: 10 − 4, 11 − 5, 12 − 6; idle: 7 − 4, 8 − 5, 9 − 6.
    near(found.latency, [6.0, 5.9, 6.1]);
    near(found.idle, [3.0, 2.9, 3.1]);
    near(found.capacity.unwrap(), [9.0, 9.0 - 2.484_138, 9.0 + 2.484_138]);
    assert_eq!((found.rtt.samples, found.rtt.estimator), (3, ESTIMATOR));
    // Capacity 9 is below RTT/os = 22/2.
    assert_eq!(found.transition, Some(Transition { messages: 9.0, cause: Cause::Capacity }));
}

#[test]
fn the_intervals_of_arms_hold_what_launches_differ_in() {
    // A near arm at 2, 3 and 4 ns, where a launch costs its own level + Δ.
    let of = |level: f64| {
        let mut launch = launch([1.0, 3.0, 7.0, 20.0], None);
        let line = launch.send_only;
        launch.steady.extend([2.0, 3.0, 4.0].map(|delay| Steady {
            delay,
            cost: known(level + delay),
            line,
            settled: true,
        }));
        launch.near_arms = vec![arm([2.0, 4.0], [1.0, level - 1.0])];
        launch
    };
    let launches = [5.0, 6.0, 7.0].map(of);
    let found = of(6.0).over_launches(&launches, 0.95);
    let half = 2.484_138;
    near(found.near_arms[0].overheads, [6.0, 6.0 - half, 6.0 + half]);
    near(found.near_arms[0].recv_overhead, [5.0, 5.0 - half, 5.0 + half]);
    // The far arm's are those of the parameters: all launches have the same.
    near(found.arm.overheads, [4.0, 3.9, 4.1]);
    assert_eq!(found.arm.recv_overhead, found.recv_overhead);
    // Launches that are alike widen nothing.
    let found = of(6.0).over_launches(&[of(6.0), of(6.0)], 0.95);
    near(found.near_arms[0].overheads, [6.0, 5.9, 6.1]);
}

#[test]
fn a_capacity_is_not_below_zero() {
    let of = |capacities: [f64; 3]| {
        let launches = capacities.map(|c| launch([1.0, 3.0, 7.0, 40.0], Some(c)));
        let found = launches[0].clone().over_launches(&launches, 0.95);
        found.capacity.unwrap()
    };
    // s = 1, then 4: 9 ± 2.484, and 5 ± 9.937.
    near(of([8.0, 9.0, 10.0]), [9.0, 9.0 - 2.484_138, 9.0 + 2.484_138]);
    near(of([1.0, 5.0, 9.0]), [5.0, 0.0, 5.0 + 9.936_551]);
}

#[test]
fn a_single_launch_changes_nothing() {
    let whole = launch([1.0, 3.0, 7.0, 20.0], Some(8.0));
    let other = launch([2.0, 3.0, 8.0, 22.0], None);
    assert_eq!(whole.clone().over_launches(&[other], 0.95), whole);
    assert_eq!(whole.clone().over_launches(&[], 0.95), whole);
}

#[test]
fn what_is_of_arm_and_lines_is_that_of_all_observations() {
    let mut whole = launch([1.0, 3.0, 7.0, 7.0], Some(8.0));
    whole.findings = vec![Finding::new("arm_slope", "recv_overhead", &[])];
    let launches = [launch([1.0, 3.0, 7.0, 12.0], None), launch([1.0, 3.0, 5.0, 10.0], Some(8.0))];
    let found = whole.clone().over_launches(&launches, 0.95);
    // Idle times of 3 and 1: s = √2, half = 12.7. One of two launches shows a capacity, which is not most.
    assert_eq!((found.regime, found.capacity), (Regime::Undecided, None));
    assert_eq!(found.findings, whole.findings);
    // RTT/os = 11/1.
    assert_eq!(found.transition, Some(Transition { messages: 11.0, cause: Cause::RoundTrip }));
    let fitted = |of: &Signature| (of.arm.slope, of.arm.from_delay, of.arm.to_delay, of.arm.holds);
    assert_eq!((fitted(&found), &found.steady), (fitted(&whole), &whole.steady));
    assert_eq!(found.send_only, whole.send_only);

    // L = 6/2 − 4 in both launches; the slopes lie 1 below os + or.
    let launches =
        [launch([1.0, 3.0, 3.0, 6.0], Some(8.0)), launch([1.0, 3.0, 3.0, 6.0], Some(8.0))];
    let found = whole.over_launches(&launches, 0.95);
    assert_eq!(found.regime, Regime::Overlapped);
    near(found.latency, [-1.0, -1.1, -0.9]);
}

#[test]
fn the_regime_is_what_the_launches_say_of_the_idle_time() {
    // Each launch is processor-bound: idle times of 0 and 0.01 with a slope of 4.
    let launches =
        [processor_bound([1.0, 3.0, 4.0, 20.0]), processor_bound([1.0, 3.0, 4.01, 20.0])];
    let found = launches[0].clone().over_launches(&launches, 0.95);
    // Idle: s = 0.01/√2, half = 12.706205·0.005 = 0.064, and 0.1 within a launch.
    near(found.idle, [0.005, -0.095, 0.105]);
    near(found.gap, [4.0, 3.9, 4.1]);
    assert_eq!((found.regime, found.capacity), (Regime::ProcessorBound, None));

    // Together processor-bound, but one launch took itself for network-bound, at an idle time of 1: that
    // is undecided, and g is the slope.
    let launches =
        [processor_bound([1.0, 3.0, 4.0, 20.0]), launch([1.0, 5.0, 7.0, 20.0], Some(8.0))];
    let found = launches[0].clone().over_launches(&launches, 0.95);
    near(found.gap, [5.5, 5.5 - 19.059_307, 5.5 + 19.059_307]);
    near(found.idle, [0.5, 0.5 - 6.353_102, 0.5 + 6.353_102]);
    assert_eq!(found.regime, Regime::Undecided);
}
