//! Machines off the textbook: processor-bound, overlapping, shared memory, another way of polling.

use super::machines::{EXACT, Layout, POWERS, USUAL};
use crate::machine::{Params, issue_time};
use bandgap_model::signature::Cause;
use bandgap_model::{
    Estimate, Finding, Options, Regime, Row, Signature, extract, observations_from_rows,
};

fn signature(rows: &[Row]) -> Signature {
    extract(&observations_from_rows(rows), &Options::default(), None).expect("a complete table")
}

#[track_caller]
fn assert_within(value: f64, truth: f64, share: f64) {
    assert!((value - truth).abs() <= share * truth.abs(), "{value} is not {truth}");
}

#[test]
fn processor_bound_machine() {
    // os + or = 3.6 µs against a network that takes a message every 1 µs.
    let params = Params { gap: 1000.0, ..Params::PARAGON };
    let layout = Layout { delays: &[0.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0], ..USUAL };
    for seed in 0..10 {
        let signature = signature(&layout.replayed(&params, seed));
        assert_eq!(signature.regime, Regime::ProcessorBound, "seed {seed}");
        assert_within(signature.gap.value, 3600.0, 0.02);
        let sum = signature.send_overhead.value + signature.recv_overhead.value;
        assert_within(signature.gap.value, sum, 1e-12);
        let none = 0.05 * signature.gap.value;
        assert!(-none <= signature.idle.low && signature.idle.high <= none);
        assert_eq!(signature.capacity, None);
        assert_eq!(signature.transition.unwrap().cause, Cause::RoundTrip);
    }
}

#[test]
fn what_no_parameter_rests_on_need_not_settle() {
    // With Δ = 6.2 µs a message takes os + or + Δ = 10.8 µs until the capacity is full, and g = 12.4 µs
    // only from then on: 96 and 128 messages are too few points to confirm that. Idle are 7.8 µs.
    let messages = [1, 2, 4, 16, 64, 96, 128];
    let exact = Layout { messages: &messages, rows: 2, ..EXACT };
    let with =
        |delays: &[f64]| signature(&Layout { delays, ..exact }.replayed(&Params::MYRINET, 1));
    let found = with(&[0.0, 6200.0, 9300.0, 12_400.0, 24_800.0]);
    assert!(!found.steady[1].settled);
    assert_eq!(found.findings, []);
}

#[test]
fn with_a_delay_the_steady_state_begins_at_fewer_messages() {
    // The first reply is back after RTT − or = 17.6 µs: of the powers of two up to M = 8 without a delay, and
    // with Δ = 2 µs up to M = 17.6/(1.4 + 2) = 5.2. Behind those there must be two.
    let too_short = |most: u64| {
        let layout = Layout { rows: 10, outliers: 0.0, ..USUAL };
        let mut rows = layout.replayed(&Params::PARAGON, 1);
        rows.retain(|row| row.delay_ns != 2000.0 || row.messages <= most);
        !signature(&rows).steady.iter().any(|steady| steady.delay == 2000.0)
    };
    assert_eq!([4, 8, 16].map(too_short), [true, true, false]);
}

#[test]
fn rounding_errors_are_no_idle_time() {
    let delays = [0.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0];
    let exact = Layout { delays: &delays, rows: 2, ..EXACT };
    for tenth in 0..20 {
        // os + or = 3.6 µs and some tenths of a nanosecond, which binary numbers cannot hold.
        let send_overhead = 1400.0 + f64::from(tenth) / 10.0;
        let params = Params { gap: 1000.0, send_overhead, ..Params::PARAGON };
        let idle = signature(&exact.replayed(&params, 1)).idle;
        assert_eq!([idle.value, idle.low, idle.high], [0.0; 3], "{send_overhead}");
    }
}

#[test]
fn transition_begins_at_what_comes_first() {
    // RTT/os = 19.8/1.4 = 14.14 messages against a capacity of 16, then of 6.
    let round_trip = signature(&USUAL.replayed(&Params::PARAGON, 1)).transition.unwrap();
    assert_eq!(round_trip.cause, Cause::RoundTrip);
    assert_within(round_trip.messages, 14.14, 0.03);
    let params = Params { capacity: 6, ..Params::PARAGON };
    let capacity = signature(&USUAL.replayed(&params, 1)).transition.unwrap();
    assert_eq!(capacity.cause, Cause::Capacity);
    assert_within(capacity.messages, 6.0, 0.1);
}

#[test]
fn negative_latency_stays_negative() {
    // RTT = 2·(1.4 + 2.2 − 1) = 5.2 µs.
    let params = Params { latency: -1000.0, ..Params::PARAGON };
    let layout = Layout { messages: &[1, 2, 3, 4, 8, 16, 32, 64, 128, 256], ..USUAL };
    let signature = signature(&layout.replayed(&params, 4));
    assert!((signature.latency.value + 1000.0).abs() < 60.0, "{:?}", signature.latency);
    assert!(signature.latency.high < 0.0);
}

/// A shared-memory interface: os = 2 ns, g = 27 ns, RTT = 120 ns, or = 60 ns in the far arm only. At
/// full rate replies' cache misses overlap, and 35 ns of the overheads are hidden; they come to
/// light in proportion until Δ = 60 ns, so the slope is 1 + 35/60 below and 1 above.
fn shared_memory(messages: u64, delay: f64) -> f64 {
    let issue = 2.0 + delay;
    let cost = 62.0 + delay - 35.0 * (1.0 - delay / 60.0).max(0.0);
    let alone = f64::min(messages as f64, (120.0 / issue).max(1.0));
    20.0 + issue * alone + cost * (messages as f64 - alone)
}

const ROUNDED: Layout = Layout {
    messages: &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048],
    delays: &[0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 70.0, 100.0, 150.0, 200.0],
    rows: 20,
    batch: 1,
    noise: 0.02,
    drift: 0.0,
    outliers: 0.01,
};

#[test]
fn rounded_arm_of_shared_memory() {
    for seed in 0..10 {
        let signature = signature(&ROUNDED.rows(120.0, shared_memory, seed));
        assert_within(signature.send_overhead.value, 2.0, 0.2);
        assert_within(signature.gap.value, 27.0, 0.02);
        assert_within(signature.recv_overhead.value, 60.0, 0.05);
        assert!((signature.latency.value + 2.0).abs() < 3.0, "{:?}", signature.latency);
        assert_within(signature.send_only.intercept, 20.0, 0.1);
        // The first reply arrives at RTT − or = 60 ns, before the 32nd request.
        assert_eq!(signature.send_only.to_messages, 16);
        // No processor-bound gap of 62 is made up: 27 was measured.
        assert_eq!(signature.regime, Regime::Overlapped);
        assert_eq!(signature.arm.holds, Some(true));
        assert_eq!(signature.arm.from_delay, 70.0, "seed {seed}");
        // Below 60 ns the slope is 1.58, and nothing is level.
        assert_eq!(signature.near_arms, []);
    }
}

#[test]
fn what_is_undecided_of_a_rounded_arm_is_not_claimed() {
    let mut said = [0, 0];
    for (seed, noise) in (0..3).flat_map(|seed| [0.02, 0.15].map(|noise| (seed, noise))) {
        let rows = Layout { noise, outliers: 0.0, ..ROUNDED }.rows(120.0, shared_memory, seed);
        let found = signature(&rows);
        let undecided = |f: &Finding| f.code == "arm_undecided";
        if found.arm.holds != Some(false) {
            let holds = found.arm.holds == Some(true);
            assert_eq!(found.findings.iter().any(undecided), !holds, "{:?}", found.findings);
            said[usize::from(holds)] += 1;
        }
    }
    assert!(said.iter().all(|count| *count > 0), "{said:?}");
}

#[test]
fn arm_of_another_slope_is_told() {
    // Each message waits for twice its delay, or for half of it.
    for times in [2.0, 0.5] {
        let elapsed = |messages, delay| issue_time(&Params::PARAGON, messages, times * delay);
        let signature = signature(&USUAL.rows(Params::PARAGON.rtt(), elapsed, 1));
        assert_eq!(signature.arm.holds, Some(false));
        assert_within(signature.arm.slope.unwrap().value, times, 0.02);
        let slope = |f: &Finding| f.code == "arm_slope" && f.values[0].0 == "slope";
        assert!(signature.findings.iter().any(slope));
    }
}

#[test]
fn too_short_a_table_is_told() {
    // With a capacity of 200 the network is never full by M = 64: the slope there is the sender's.
    let params = Params { capacity: 200, ..Params::MYRINET };
    let layout = Layout { messages: &POWERS[..7], ..USUAL };
    let signature = signature(&layout.replayed(&params, 1));
    assert_eq!(signature.regime, Regime::Overlapped);
}

#[test]
fn scatter_between_points_widens_the_interval() {
    // The machine is up to 3 % faster or slower at each M, which no batch of that M tells.
    let quiet = |messages, delay| issue_time(&Params::PARAGON, messages, delay);
    let restless = |messages: u64, delay| {
        let share = [0.03, -0.03, 0.01, -0.02, 0.02][messages.ilog2() as usize % 5];
        quiet(messages, delay) * (1.0 + share)
    };
    let rtt = Params::PARAGON.rtt();
    let of_quiet = signature(&USUAL.rows(rtt, quiet, 1));
    let of_restless = signature(&USUAL.rows(rtt, restless, 1));
    let width = |signature: &Signature| signature.gap.high - signature.gap.low;
    assert!(width(&of_restless) > 3.0 * width(&of_quiet));
    let (low, high) = (of_restless.gap.low, of_restless.gap.high);
    assert!(low < 7600.0 && 7600.0 < high, "{low} to {high}");
    let unsettled = |f: &Finding| f.code == "gap_unsettled";
    assert!(of_restless.findings.iter().any(unsettled));
    assert!(!of_quiet.findings.iter().any(unsettled));
}

/// A machine whose first message costs `first` more than those behind it, 5 ns each: over shared
/// memory the second request takes a line back.
fn with_a_step(first: f64) -> impl Fn(u64, f64) -> f64 {
    move |messages, delay| {
        let behind = (messages - 1) as f64;
        // Its points lie up to 2 ns off the line, one above and the next below.
        let crooked = if messages.is_multiple_of(2) { -2.0 } else { 2.0 };
        let quiet = 6.0 + behind * (5.0 + delay) + if messages > 1 { first + crooked } else { 0.0 };
        // From 200 ns on replies are taken: 40 ns a message.
        quiet.max(messages as f64 * (40.0 + delay) - 300.0)
    }
}

#[test]
fn a_step_after_the_first_message_is_no_send_overhead() {
    let layout = Layout {
        messages: &[1, 2, 3, 4, 5, 6, 7, 8, 12, 18, 64, 128, 256, 512],
        delays: &[0.0, 50.0, 100.0, 200.0],
        rows: 20,
        batch: 1,
        noise: 0.01,
        drift: 0.0,
        outliers: 0.01,
    };
    for first in [20.0, 52.0] {
        for seed in 0..30 {
            let signature = signature(&layout.rows(120.0, with_a_step(first), seed));
            let found = signature.send_overhead;
            assert_within(found.value, 5.0, 0.25);
            // Those behind the first.
            assert_eq!(signature.send_only.from_messages, 2, "{:?}", signature.send_only);
            assert!(signature.send_only.to_messages >= 6, "{:?}", signature.send_only);
        }
    }
}

#[test]
fn two_points_do_not_choose_among_lines() {
    // Within the round trip of 60 ns there are three messages, of 10, 30 and 36 ns.
    let elapsed = |messages: u64, delay: f64| match messages {
        0 | 1 => 10.0 + delay,
        2 => 30.0 + 2.0 * delay,
        3 => 36.0 + 3.0 * delay,
        more => 30.0 * more as f64 + (delay - 5.0).max(0.0) * more as f64,
    };
    let layout = Layout {
        messages: &[1, 2, 3, 16, 64, 128, 256],
        delays: &[0.0, 40.0, 80.0],
        rows: 20,
        batch: 1,
        noise: 0.01,
        drift: 0.0,
        outliers: 0.0,
    };
    let signature = signature(&layout.rows(90.0, elapsed, 1));
    let Estimate { low, high, .. } = signature.send_overhead;
    // 20 ns from the first to the second, 6 ns from there on.
    assert!(low < 7.0 && high > 19.0, "{low} to {high}");
    let or = signature.recv_overhead;
    assert!(or.high - or.low > 12.0, "{or:?}");
}

#[test]
fn messages_that_cost_more_before_a_reply_is_back_are_told() {
    let layout = Layout {
        messages: &[1, 2, 3, 4, 5, 6, 8, 12, 18, 32, 64, 128, 256, 512, 1024],
        delays: &[0.0, 50.0, 100.0, 150.0, 200.0],
        rows: 20,
        batch: 1,
        noise: 0.005,
        drift: 0.0,
        outliers: 0.0,
    };
    // RTT 300, os 3.4 for `cheap` messages and 9 beyond, or 20, g 40: all up to 18 are issued in 134 ns.
    let found = |cheap: f64, seed: u64| {
        let most = if cheap > 100.0 { 76.0 } else { 30.0 };
        let elapsed = |messages: u64, delay: f64| {
            let messages = messages as f64;
            let issue = |m: f64| 20.0 + (3.4 + delay) * m + 5.6 * (m - cheap).max(0.0);
            let alone = messages.min((260.0 / (3.4 + delay)).clamp(1.0, most));
            issue(alone) + f64::max(40.0, 23.4 + delay) * (messages - alone)
        };
        let signature = signature(&layout.rows(300.0, elapsed, seed));
        let bend = |f: &Finding| match f.values[..] {
            [("to", to), ("next", next), ("last", last), ("cost", cost)] => {
                Some((to as u64, next as u64, last as u64, 1e9 * cost))
            }
            _ => None,
        };
        (signature.findings.iter().find_map(bend), signature)
    };
    for seed in 0..5 {
        let (bend, signature) = found(5.0, seed);
        let (to, next, last, cost) = bend.unwrap_or_else(|| panic!("{:?}", signature.findings));
        assert_eq!(to, signature.send_only.to_messages);
        assert!(
            (5..=6).contains(&to) && next > to && next <= 8 && last == 18,
            "{to} {next} {last}"
        );
        assert_within(cost, 9.0, 0.1);
        // Where all cost the same there is nothing to tell.
        assert_eq!(found(1e9, seed).0, None);
    }
}
