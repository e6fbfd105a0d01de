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
    // 2 · (1.7 + 7.5 + 1.6) = 21.6 µs, Myrinet 2 · (2.0 + 11.1 + 2.6) = 31.4 µs.
    for (name, rtt) in [("paragon", 19_900_000), ("meiko-cs2", 21_600_000), ("myrinet", 31_400_000)]
    {
        let stamps = marks(&load(name), 2, |am| flood(am, 1, 1, 1, 0));
        assert_eq!(stamps[0][2] - stamps[0][0], rtt, "{name}");
    }
}

#[test]
fn a_sample_repeated_is_the_same_sample_again() {
    // Nothing is under way when a sample ends, and its first messages reach each interface more
    // than g after the last ones of the sample before, as a whole round trip lies between.
    let stamps = marks(&load("paragon"), 2, |am| flood(am, 3, 1, 50, 0));
    let samples: Vec<[u64; 2]> =
        stamps[0].chunks_exact(3).map(|m| [m[1] - m[0], m[2] - m[0]]).collect();
    assert_eq!(samples.len(), 50);
    assert!(samples.iter().all(|s| *s == samples[0]));
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
fn the_steady_state_costs_g_per_message() {
    // The slowest stage is an interface: os + or < g on all three, so each further message costs g.
    for (name, gap) in [("paragon", 7.6), ("meiko-cs2", 13.6), ("myrinet", 12.4)] {
        let cost = slope(&load(name), 2048, 4096, 0);
        assert!((cost / 1e6 - gap).abs() < 1e-3 * gap, "{name}: {cost}");
    }
}

#[test]
fn computing_beyond_idle_costs_both_overheads_and_the_computation() {
    // Idle = g − os − or = 7.6 − 1.4 − 2.2 = 4 µs on Paragon. Below it a message costs g; above it
    // g' = os + or + Δ, and for the paper's Δ = 16 µs g' = 19.6 µs.
    for (delay, cost) in [(2.0, 7.6), (3.9, 7.6), (4.1, 7.7), (8.0, 11.6), (16.0, 19.6)] {
        let measured = slope(&load("paragon"), 1024, 2048, (delay * 1e6) as u64) / 1e6;
        assert!((measured - cost).abs() < 1e-3 * cost, "Δ = {delay}: {measured}");
    }
}

#[test]
fn a_processor_bound_machine_has_no_idle_time() {
    // os + or = 50 ns > g = 7 ns: a message costs os + or, and the first Δ raises that.
    let machine = machine(20, 30, 7, 100, None);
    for (delay, cost) in [(0, 50_000.0), (1000, 51_000.0), (40_000, 90_000.0)] {
        let measured = slope(&machine, 1024, 2048, delay);
        assert!((measured - cost).abs() < 1e-3 * cost, "Δ = {delay}: {measured}");
    }
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
fn pairs_do_not_disturb_each_other() {
    // Requester i of four has replier 4 + i to itself: each is a single pair.
    let machine = load("myrinet");
    let alone = marks(&machine, 2, |am| flood(am, 300, 1, 3, 5000));
    let pairs = marks(&machine, 8, |am| flood(am, 300, 4, 3, 5000));
    for requester in &pairs[..4] {
        assert_eq!(requester, &alone[0]);
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
        assert_eq!(stamps[1][0], 2 * US + (n - 1) * 12_400_000 + 11_100_000 + 2_600_000);
        assert_eq!(stamps[0][0], n * 2 * US);
        // The last one completes at its sender L after it was handled, at no further cost.
        assert_eq!(stamps[0][1], stamps[1][0] + 11_100_000);
    }
}

#[test]
fn an_interface_sends_one_message_per_gap_to_whomever() {
    // Rank 0 tells ranks 1, 2, 3 something. Their interfaces have nothing else to accept, so only
    // the sender's gap keeps them apart: os + (i − 1)g + L + or.
    let stamps = marks(&machine(2, 3, 50, 100, None), 4, programs::tell_all);
    for (i, rank) in stamps[1..].iter().enumerate() {
        assert_eq!(rank[..], [105_000 + i as u64 * 50_000]);
    }
}

#[test]
fn an_interface_accepts_one_message_per_gap_from_whomever() {
    // Ranks 1, 2, 3 each tell rank 0 something at once. The three reach its interface together, at
    // os + L, and are handled from then on at intervals of g: or after each.
    let stamps = marks(&machine(2, 3, 50, 100, None), 4, programs::tell_one);
    assert_eq!(stamps[0][..], [105_000, 155_000, 205_000]);
}

#[test]
fn a_completion_ends_the_wait_before_a_message_still_in_the_interface() {
    // Rank 0 tells rank 3 something: os + L + or + L = 1 + 10 + 1 + 10 = 22 ns until it completes.
    // Ranks 1 and 2 tell rank 0 something, both at its interface at 11 ns: one is accepted and
    // handled then, the other g later, at 111 ns, when rank 0 awaits nothing any more. It serves
    // both by 112 ns.
    let stamps = marks(&machine(1, 1, 100, 10, None), 4, programs::crossed);
    assert_eq!(stamps[0][..], [22_000, 112_000]);
}

#[test]
fn requests_handled_while_awaiting_count_for_the_next_serve() {
    // Both ask, await, then serve one: each handles the other's request while it awaits, so
    // serving takes no time. Both are symmetric: os; L; or + os to reply; L; or. Requests and
    // replies share an interface: the reply leaves g after the request if it is ready earlier,
    // and is not, for os + L + or > g on Paragon.
    let stamps = marks(&load("paragon"), 2, programs::mutual);
    for rank in &stamps {
        assert_eq!(rank[..], [19_900_000, 19_900_000]);
    }
}

#[test]
fn requests_beyond_what_is_served_count_for_the_serve_after_that() {
    // Rank 0 awaits a reply of rank 1, which computes for 1 µs from 2 ns on: 1002 + or + os + L +
    // or = 1110 ns. It handles a request of rank 1 and one of rank 2 meanwhile, so that serving
    // one, and then one more, takes no time.
    let stamps = marks(&machine(2, 3, 50, 100, None), 3, programs::twice_served);
    assert_eq!(stamps[0][..], [1_110_000; 3]);
}

#[test]
fn a_computing_replier_lets_requests_wait() {
    // The replier computes for 1 ms, far beyond the request's arrival, and only then handles it.
    let schedule = record(2, |am| programs::late_replier(am, 1000 * US)).unwrap();
    let stamps = replay(&schedule, &load("paragon")).unwrap().marks;
    // From 1000 µs on: or + os + L + or = 2.2 + 1.4 + 6.35 + 2.2 = 12.15 µs.
    assert_eq!(stamps[0][0], 1000 * US + 12_150_000);
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
    let text = error.to_string();
    assert!(text.contains("rank 0 waits for 2 more requests"), "{text}");
    assert!(text.contains("rank 2 waits for room toward rank 3"), "{text}");
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
    assert!(matches!(error, SimError::Ranks { ranks: 3, most: 2, .. }), "{error}");
}

#[test]
fn time_that_the_counter_cannot_hold_is_an_error() {
    for ranks in [1, 2] {
        let schedule = record(ranks, |am| programs::late_replier(am, u64::MAX)).unwrap();
        let outcome = replay(&schedule, &load("paragon"));
        assert!(matches!(outcome, Err(SimError::TooLong { .. })), "{outcome:?}");
    }
}
