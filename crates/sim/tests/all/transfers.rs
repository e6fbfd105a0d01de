//! Stores and gets: what LogGP says of a program, derived above the assertion.

use crate::programs::{self, COSTS, ECHO, NOTE, NS, byte_machine, marks};
use bandgap_comm::{Am, CommError, Processor, Transfer};
use bandgap_sim::{Machine, SimError, record, replay};

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
fn a_machine_without_a_time_for_bytes_moves_none() {
    let paragon = Machine::load("paragon").unwrap();
    for way in BOTH {
        // 2 · (1.4 + 6.35 + 2.2) µs.
        assert_eq!(times(&paragon, way, 1, 0, 0)[1], 19_900 * NS, "{way:?}");
        let schedule = record(2, |am| burst(am, way, 1, 1, 0)).unwrap();
        let error = replay(&schedule, &paragon).unwrap_err();
        assert!(matches!(error, SimError::NoTimeForBytes(_)), "{error}");
    }
}
