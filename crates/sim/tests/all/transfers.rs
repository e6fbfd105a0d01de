//! Stores and gets: what LogGP says of a program, derived above the assertion.

use crate::programs::{self, COSTS, ECHO, NOTE, NS, byte_machine, marks, two};
use bandgap_comm::{Am, CommError, Processor, Transfer};
use bandgap_sim::{Machine, SimError, Wait, WaitFor, record, replay};

#[derive(Clone, Copy, Debug)]
enum Way {
    Store,
    Get,
}

const BOTH: [Way; 2] = [Way::Store, Way::Get];

/// Rank 0 moves `messages` times `bytes` bytes to or from rank 1, and computes after each; stamps
/// before, after the last was issued, and when all are done.
fn burst(
    am: &mut impl Transfer,
    way: Way,
    messages: u64,
    bytes: usize,
    delay: u64,
) -> Result<(), CommError> {
    if am.rank() == 1 {
        return am.serve(match way {
            Way::Store => messages + 1,
            Way::Get => 1,
        });
    }
    am.mark();
    for index in 0..messages {
        match way {
            Way::Store => am.store(1, ECHO, index, bytes)?,
            Way::Get => am.get(1, index, bytes)?,
        }
        am.compute(programs::wait(delay));
    }
    am.mark();
    am.await_replies()?;
    am.mark();
    // Rank 1 serves gets as long as it waits for this.
    am.request(1, NOTE, 0)
}

/// Time of the issue phase, and of the whole, in ps.
fn times(machine: &Machine, way: Way, messages: u64, bytes: usize, delay: u64) -> [u64; 2] {
    let stamps = &marks(machine, 2, |am| burst(am, way, messages, bytes, delay))[0];
    [stamps[1] - stamps[0], stamps[2] - stamps[0]]
}

/// What each further transfer adds to the issue phase, in ns.
fn step(machine: &Machine, way: Way, bytes: usize, delay: u64) -> f64 {
    let issue = |messages| times(machine, way, messages, bytes, delay)[0];
    (issue(2048) - issue(1024)) as f64 / (1024 * NS) as f64
}

#[test]
fn a_transfer_takes_a_round_trip_and_its_bytes() {
    // Store: os + L + n·G + or, then a short reply, os + L + or. Get: a short request, and the
    // reply brings the bytes. Both 2(os + L + or) + n·G = 300 + 3n ns, of which issuing takes os.
    let machine = byte_machine(COSTS);
    for way in BOTH {
        for bytes in [0, 1, 100, 65_536] {
            let expected = [20 * NS, (300 + 3 * bytes as u64) * NS];
            assert_eq!(times(&machine, way, 1, bytes, 0), expected, "{way:?} of {bytes} bytes");
        }
    }
}

#[test]
fn steady_transfers_cost_what_the_slowest_stage_takes() {
    // g(n) = max(g, n·G, os + or). With g the slower of the constant ones:
    let network = byte_machine([5, 6, 25, 100, 3]);
    for way in BOTH {
        for (bytes, gap) in [(0, 25.0), (8, 25.0), (9, 27.0), (1000, 3000.0)] {
            let found = step(&network, way, bytes, 0);
            assert!((found / gap - 1.0).abs() < 0.002, "{way:?} of {bytes} bytes: {found}");
        }
    }
    // And with os + or = 50 ns at both processors: 16 · 3 = 48 ns are hidden, 17 · 3 = 51 are not.
    let processor = byte_machine(COSTS);
    for way in BOTH {
        for (bytes, gap) in [(0, 50.0), (16, 50.0), (17, 51.0), (1000, 3000.0)] {
            let found = step(&processor, way, bytes, 0);
            assert!((found / gap - 1.0).abs() < 0.002, "{way:?} of {bytes} bytes: {found}");
        }
    }
}

#[test]
fn computation_fits_beside_bytes() {
    // Idle(n) = n·G − os − or = 3000 − 50 = 2950 ns: up to there Δ is hidden, beyond it a transfer
    // costs os + or + Δ.
    for way in BOTH {
        for (delay, cost) in [(1000, 3000.0), (2000, 3000.0), (3000, 3050.0), (6000, 6050.0)] {
            let found = step(&byte_machine(COSTS), way, 1000, delay * NS);
            assert!((found / cost - 1.0).abs() < 0.002, "{way:?}, Δ = {delay} ns: {found}");
        }
    }
}

#[test]
fn issuing_costs_os_until_the_first_reply_is_there() {
    // The first store's reply is there after 300 + 3000 − or = 3270 ns. A rank may have
    // max(2⌈300 / 25⌉, ⌈300 / 20⌉) = 24 outstanding: 24 take 480 ns, and the 25th waits for that
    // reply: 3270 + or + os.
    let machine = byte_machine(COSTS);
    assert_eq!(machine.capacity, 24);
    for way in BOTH {
        for messages in [1, 2, 24] {
            assert_eq!(times(&machine, way, messages, 1000, 0)[0], messages * 20 * NS, "{way:?}");
        }
        assert_eq!(times(&machine, way, 25, 1000, 0)[0], 3320 * NS, "{way:?}");
    }
}

#[test]
fn bytes_go_by_the_protocol_of_their_length_and_words_by_none() {
    // One way with bytes: 60 + 2n up to 64 bytes, 1260 + n above; the other 1 + 4 + 2. What issuing
    // costs the requester is the os of what it sends: a store's bytes, or a get's word.
    for (bytes, way, back, os) in [(0, 60, 7, 10), (64, 188, 7, 10), (65, 1325, 7, 500)] {
        let whole = way + back;
        assert_eq!(times(&two(), Way::Store, 1, bytes, 0), [os * NS, whole * NS], "{bytes}");
        assert_eq!(times(&two(), Way::Get, 1, bytes, 0), [NS, whole * NS], "{bytes}");
    }
}

#[test]
fn what_follows_a_store_does_not_overtake_it() {
    let stamps = marks(&two(), 2, |am| {
        if am.rank() == 0 {
            am.store(1, NOTE, 0, 70)?;
            return am.request(1, NOTE, 0);
        }
        for _ in 0..2 {
            am.serve(1)?;
            am.mark();
        }
        Ok(())
    });
    // The store's first byte is there at 500 + 700, its last 70 ns later, and or = 60. The request
    // leaves at 570, and needs 4 ns; it comes behind the store's last byte and costs or = 2.
    assert_eq!(stamps[1], [1330 * NS, 1332 * NS]);
}

#[test]
fn stores_to_one_rank_come_one_after_the_other() {
    // Three ranks store at once; the receiver's interface takes in one byte per G: the k-th is
    // handled and replied to at os + L + k·nG + or + os.
    let stamps = marks(&byte_machine(COSTS), 4, |am| {
        if am.rank() > 0 {
            am.store(0, ECHO, 0, 1000)?;
            return am.await_replies();
        }
        for _ in 0..3 {
            am.serve(1)?;
            am.mark();
        }
        Ok(())
    });
    assert_eq!(stamps[0], [3170 * NS, 6170 * NS, 9170 * NS]);
}

#[test]
fn bytes_got_from_one_rank_leave_one_after_the_other() {
    // Three ranks get at once. Their requests are at the interface at os + L = 120, taken in one
    // per g. The first is handled by 120 + or + os = 170, when its bytes begin to leave; the k-th's
    // last byte is there at 170 + k·nG + L, and or later it is done.
    let stamps = marks(&byte_machine(COSTS), 4, |am| {
        if am.rank() > 0 {
            am.get(0, 0, 1000)?;
            am.await_replies()?;
            am.mark();
            return am.request(0, NOTE, 0);
        }
        am.serve(3)
    });
    assert_eq!(stamps[1..], [[3300 * NS], [6300 * NS], [9300 * NS]]);
}

#[test]
fn stores_both_ways_do_not_disturb_each_other() {
    // Each rank handles the other's store, 120 + nG until it is whole and then or + os, while its
    // own is under way; the reply finds its interface free, as nG have passed since 20 ns: a single
    // store's time.
    let stamps = marks(&byte_machine(COSTS), 2, |am| {
        let peer = 1 - am.rank();
        am.store(peer, ECHO, 0, 1000)?;
        am.await_replies()?;
        am.mark();
        Ok(())
    });
    assert_eq!(stamps, [[3300 * NS], [3300 * NS]]);
}

#[test]
fn a_store_without_reply_completes_a_latency_after_its_handler() {
    // os; L + nG, or; L: the last at no cost for the sender's processor.
    let stamps = marks(&byte_machine(COSTS), 2, |am| {
        if am.rank() == 0 {
            am.store(1, NOTE, 0, 1000)?;
            am.await_replies()?;
        } else {
            am.serve(1)?;
        }
        am.mark();
        Ok(())
    });
    assert_eq!(stamps, [[3250 * NS], [3150 * NS]]);
}

#[test]
fn no_serve_counts_a_get() {
    // Rank 1 serves one request: the get comes first, and is not it. The note is sent when the
    // bytes are there, at 300 ns, and handled os + L + or later.
    let stamps = marks(&byte_machine(COSTS), 2, |am| {
        if am.rank() == 0 {
            am.get(1, 0, 0)?;
            am.await_replies()?;
            return am.request(1, NOTE, 0);
        }
        am.serve(1)?;
        am.mark();
        Ok(())
    });
    assert_eq!(stamps[1], [450 * NS]);
}

#[test]
fn a_machine_without_a_time_for_bytes_moves_none() {
    let paragon = Machine::load("paragon").unwrap();
    for way in BOTH {
        // 2 · (1.4 + 6.35 + 2.2) µs.
        assert_eq!(times(&paragon, way, 1, 0, 0)[1], 19_900 * NS, "{way:?}");
        let schedule = record(2, |am| burst(am, way, 1, 1, 0)).unwrap();
        let error = replay(&schedule, &paragon).unwrap_err();
        assert!(matches!(error, SimError::NoTimeForBytes { .. }), "{error}");
    }
}

#[test]
fn a_get_that_nobody_serves_is_named() {
    let schedule = record(2, |am| match am.rank() {
        0 => am.get(1, 0, 8).and_then(|()| am.await_replies()),
        _ => Ok(()),
    });
    let error = replay(&schedule.unwrap(), &byte_machine(COSTS)).unwrap_err();
    let SimError::Deadlock(waits) = &error else { panic!("{error}") };
    assert_eq!(waits[..], [Wait { rank: 0, what: WaitFor::Completions(1) }]);
}

#[test]
fn bytes_that_the_counter_cannot_time_are_an_error() {
    let machine = byte_machine([1, 1, 1, 1, 1_000_000_000]);
    for way in BOTH {
        let schedule = record(2, |am| burst(am, way, 1, u32::MAX as usize, 0)).unwrap();
        let outcome = replay(&schedule, &machine);
        assert!(matches!(outcome, Err(SimError::TooLong { .. })), "{way:?}: {outcome:?}");
    }
}
