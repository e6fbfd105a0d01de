//! Known answers: what LogP says of a program, derived above the assertion.

use crate::programs::{self, flood, issue, machine, marks, one_way, slope};
use bandgap_sim::{Machine, SimError, Wait, WaitFor, record, replay};

const US: u64 = 1_000_000;

fn load(name: &str) -> Machine {
    Machine::load(name).unwrap()
}

#[test]
fn a_round_trip_takes_twice_both_overheads_and_the_latency() {
    // RTT = 2(os + L + or), gaps play no part: Paragon 2 · (1.4 + 6.35 + 2.2) = 19.9 µs, Meiko
    // 2 · (1.7 + 7.5 + 1.6) = 21.6 µs, Myrinet 2 · (2.0 + 11.15 + 2.6) = 31.5 µs.
    for (name, rtt) in [("paragon", 19_900_000), ("meiko-cs2", 21_600_000), ("myrinet", 31_500_000)]
    {
        let stamps = marks(&load(name), 2, |am| flood(am, 1, 1, 1, 0));
        assert_eq!(stamps[0][2] - stamps[0][0], rtt, "{name}");
    }
}

#[test]
fn the_send_only_regime_costs_os_per_message() {
    // The first reply is at the interface after os + L + or + os + L = 17.6 µs on Paragon. A
    // request that begins earlier finds nothing to handle, and the 13th begins at 12 · 1.4 = 16.8.
    for m in 1..=13 {
        assert_eq!(issue(&load("paragon"), m, 0), m * 1_400_000);
    }
    // The 14th would begin at 18.2 and handles that reply first: 14 · 1.4 + 2.2 = 21.8 µs.
    assert_eq!(issue(&load("paragon"), 14, 0), 21_800_000);
}

#[test]
fn requesters_of_one_replier_share_its_interface() {
    // The replier's interface accepts one request per g, so K requesters get one each per K·g.
    // Table 5 has K = 7, 15, 3.
    for (name, requesters) in [("paragon", 7), ("meiko-cs2", 15), ("myrinet", 3)] {
        let machine = load(name);
        let per_message = |m| {
            let stamps = marks(&machine, requesters + 1, |am| flood(am, m, requesters, 1, 0));
            stamps[..requesters].iter().map(|s| (s[1] - s[0]) as f64).collect::<Vec<_>>()
        };
        let (short, long) = (per_message(512), per_message(1024));
        let expected = requesters as f64 * machine.gap as f64;
        for (short, long) in short.iter().zip(&long) {
            let cost = (long - short) / 512.0;
            assert!((cost / expected - 1.0).abs() < 0.01, "{name}: {cost} of {expected}");
        }
    }
}

#[test]
fn a_full_capacity_stalls_the_request() {
    // One request may be outstanding, so each waits for the reply of the one before: after M
    // requests M − 1 round trips have passed and one os.
    let machine = machine(2, 3, 5, 100, Some(1));
    assert_eq!(issue(&machine, 10, 0), 9 * 2 * 105_000 + 2000);
    // Four may: the first four cost os each, and the fifth is sent when the first reply is
    // handled, RTT after the start, for os.
    let machine = programs::machine(2, 3, 5, 100, Some(4));
    assert_eq!(issue(&machine, 4, 0), 4 * 2000);
    assert_eq!(issue(&machine, 5, 0), 210_000 + 2000);
    // Four per round trip is less than one per g (4 · 5 < 210): each costs RTT / 4.
    let cost = slope(&machine, 400, 800, 0);
    assert!((cost - 210_000.0 / 4.0).abs() < 100.0, "{cost}");
}

#[test]
fn a_message_without_reply_arrives_after_both_overheads_and_the_latency() {
    // n in a row take os + (n − 1)g + L + or (the paper, section LogP model) where os ≤ g and
    // or ≤ g, and n · os of the sender's time.
    for n in [1, 2, 10] {
        let stamps = marks(&load("myrinet"), 2, |am| one_way(am, n));
        assert_eq!(stamps[1][0], 2 * US + (n - 1) * 12_400_000 + 11_150_000 + 2_600_000);
        assert_eq!(stamps[0][0], n * 2 * US);
        // The last one completes at its sender L after it was handled, at no further cost.
        assert_eq!(stamps[0][1], stamps[1][0] + 11_150_000);
    }
}

#[test]
fn ranks_that_wait_for_ever_are_named_with_what_they_wait_for() {
    let schedule = record(4, programs::stuck).unwrap();
    let error = replay(&schedule, &machine(1, 1, 1, 1, Some(2))).unwrap_err();
    let SimError::Deadlock(waits) = &error else { panic!("{error}") };
    // Rank 0 served one request of the three it expects; rank 1 waits for the reply of a rank
    // that has ended; rank 2 has sent the two requests that may be outstanding toward it.
    assert_eq!(
        waits[..],
        [
            Wait { rank: 0, what: WaitFor::Requests(2) },
            Wait { rank: 1, what: WaitFor::Completions(1) },
            Wait { rank: 2, what: WaitFor::Room(3) },
        ]
    );
}

#[test]
fn more_ranks_than_the_machine_has_are_refused() {
    let machine = Machine::parse(
        "name='m'\nsend_overhead_ns=1\nrecv_overhead_ns=1\ngap_ns=1\nlatency_ns=1\nranks=2",
        "m",
    )
    .unwrap();
    let schedule = record(3, |_| Ok(())).unwrap();
    let error = replay(&schedule, &machine).unwrap_err();
    assert!(matches!(error, SimError::Ranks(3, _, 2)), "{error}");
}

#[test]
fn time_that_the_counter_cannot_hold_is_an_error() {
    for ranks in [1, 2] {
        let schedule = record(ranks, |am| programs::late_replier(am, u64::MAX)).unwrap();
        let outcome = replay(&schedule, &load("paragon"));
        assert!(matches!(outcome, Err(SimError::TooLong(_))), "{outcome:?}");
    }
}
