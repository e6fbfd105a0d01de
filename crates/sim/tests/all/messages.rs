//! Messages of bytes: what LogGP says of a program, derived above the assertion.

use crate::programs::{self, COSTS, NS, byte_machine, marks, two};
use bandgap_comm::{Comm, CommError, Part, Processor, Rank};
use bandgap_sim::{Machine, Recorder, SimError, Wait, WaitFor, record, replay};

fn simple() -> Machine {
    byte_machine(COSTS)
}

fn part(len: usize) -> Part {
    Part::new(0, len)
}

fn ping_pong(comm: &mut impl Comm, rounds: u64, bytes: usize) -> Result<(), CommError> {
    for _ in 0..rounds {
        if comm.rank() == 0 {
            comm.mark();
            comm.send(1, 5, part(bytes))?;
            comm.recv(1, 5, part(bytes))?;
            comm.mark();
        } else {
            comm.recv(0, 5, part(bytes))?;
            comm.send(0, 5, part(bytes))?;
        }
    }
    Ok(())
}

/// Half of one round, in ps.
fn half_round(machine: &Machine, bytes: usize) -> u64 {
    let stamps = &marks(machine, 2, |comm| ping_pong(comm, 3, bytes))[0];
    let rounds: Vec<u64> = stamps.chunks_exact(2).map(|s| s[1] - s[0]).collect();
    assert!(rounds.iter().all(|round| *round == rounds[0]), "{rounds:?}");
    rounds[0] / 2
}

/// When the last rank ends.
fn end(
    machine: &Machine,
    size: usize,
    program: impl FnMut(&mut Recorder) -> Result<(), CommError>,
) -> u64 {
    let ends = replay(&record(size, program).unwrap(), machine).unwrap().ends;
    ends.into_iter().max().unwrap()
}

#[test]
fn half_a_round_trip_takes_both_overheads_the_latency_and_the_bytes() {
    // os + L + or + n·G = 150 + 3n ns.
    for bytes in [0, 1, 2, 100, 65_536] {
        assert_eq!(half_round(&simple(), bytes), (150 + 3 * bytes as u64) * NS);
    }
}

#[test]
fn the_ipsc860_has_the_two_lines_of_its_source() {
    let machine = Machine::load("ipsc860").unwrap();
    for bytes in (0..256).chain([1000, 4096, 1 << 20]) {
        // In µs: 79 + 0.63 n, and above 100 bytes 156 + 0.41 n.
        let ns = if bytes <= 100 { 79_000 + 630 * bytes } else { 156_000 + 410 * bytes };
        assert_eq!(half_round(&machine, bytes as usize), ns * NS, "{bytes} bytes");
    }
}

#[test]
fn a_rate_of_many_gigabytes_a_second_keeps_its_digits() {
    // 0.030303 ns a byte, counted in femtoseconds: 1 MiB takes 31 775 ns and 0.0003 · 2²⁰ ps more
    // than with whole picoseconds.
    let text = "name = 'm'\nsend_overhead_ns = 0\nrecv_overhead_ns = 0\ngap_ns = 1\n\
                latency_ns = 0\ngap_per_byte_ns = 0.030303";
    let machine = Machine::parse(text, "m").unwrap();
    // 1048576 · 30.303 ps = 31774998.528 ps.
    assert_eq!(half_round(&machine, 1 << 20), 31_774_999);
    assert_eq!(machine.protocols[0].gap_per_byte, 30_303);
}

#[test]
fn a_machine_without_a_time_for_bytes_passes_messages_of_none() {
    let machine = Machine::load("paragon").unwrap();
    // 1.4 + 6.35 + 2.2 µs.
    assert_eq!(half_round(&machine, 0), 9_950_000);
    let schedule = record(2, |comm| ping_pong(comm, 1, 1)).unwrap();
    let error = replay(&schedule, &machine).unwrap_err();
    assert!(matches!(&error, SimError::NoTimeForBytes { machine } if machine == "paragon"));
    let text = error.to_string();
    assert!(text.contains("gap_per_byte_ns") && text.contains("protocols"), "{text}");
}

#[test]
fn both_ways_of_an_exchange_are_under_way_at_once() {
    // As half a round trip, since nothing of one way waits for the other. Ranks that exchange
    // again are as late as each other, and their interfaces are free again: as much each time.
    for bytes in [0, 7, 4096] {
        let stamps = marks(&simple(), 2, |comm| {
            for _ in 0..4 {
                comm.exchange(1 - comm.rank(), 0, part(bytes), part(bytes))?;
                comm.mark();
            }
            Ok(())
        });
        let each = (150 + 3 * bytes as u64) * NS;
        assert_eq!(stamps, vec![vec![each, 2 * each, 3 * each, 4 * each]; 2]);
    }
}

/// What each further message of a stream adds, at the receiver's.
fn stream_step(machine: &Machine, bytes: usize) -> u64 {
    let stamps = marks(machine, 2, |comm| {
        for _ in 0..200 {
            if comm.rank() == 0 {
                comm.send(1, 0, part(bytes))?;
            } else {
                comm.recv(0, 0, part(bytes))?;
                comm.mark();
            }
        }
        Ok(())
    });
    let steps: Vec<u64> = stamps[1].windows(2).map(|w| w[1] - w[0]).collect();
    assert!(steps.iter().all(|step| *step == steps[0]), "{steps:?}");
    steps[0]
}

#[test]
fn a_stream_is_as_fast_as_its_slowest_stage() {
    // Interfaces let through one message per max(g, n·G): g = 25 ns up to 8 bytes, then 3n.
    let machine = byte_machine([20, 22, 25, 100, 3]);
    for (bytes, step) in [(0, 25), (8, 25), (9, 27), (1000, 3000)] {
        assert_eq!(stream_step(&machine, bytes), step * NS, "{bytes} bytes");
    }
    // With or = 30 ns the receiver is the slowest up to 10 bytes.
    for (bytes, step) in [(0, 30), (10, 30), (11, 33)] {
        assert_eq!(stream_step(&simple(), bytes), step * NS, "{bytes} bytes");
    }
}

#[test]
fn a_sender_is_free_while_its_bytes_are_under_way() {
    // Three messages take 3·os = 60 ns of it, though their 30 µs of bytes are still leaving.
    let stamps = marks(&simple(), 2, |comm| {
        for _ in 0..3 {
            if comm.rank() == 0 {
                comm.send(1, 0, part(10_000))?
            } else {
                comm.recv(0, 0, part(10_000))?
            }
        }
        comm.mark();
        Ok(())
    });
    // The last is whole at os + 2nG + L + nG, and received or later.
    assert_eq!(stamps, [[60 * NS], [(20 + 60_000 + 100 + 30_000 + 30) * NS]]);
}

#[test]
fn a_shift_around_a_ring_costs_one_message() {
    // All send at once, each to the next: os + L + n·G + or, whatever the number of ranks.
    for size in [2, 3, 16, 33] {
        let stamps = marks(&simple(), size, |comm| {
            let rank = comm.rank();
            comm.send((rank + 1) % size, 0, part(1000))?;
            comm.recv((rank + size - 1) % size, 0, part(1000))?;
            comm.mark();
            Ok(())
        });
        assert_eq!(stamps, vec![vec![3150 * NS]; size]);
    }
}

#[test]
fn all_to_all_fills_the_interfaces() {
    // Rank r sends to r + 1, r + 2, …: no two messages want the same receiver at once. P − 1
    // messages leave back to back, and the last is received as a single one is:
    // os + (P − 1)·nG + L + or, since n·G = 3000 ns is more than os and or.
    for size in 2..8 {
        let all_to_all = |comm: &mut Recorder| {
            let rank = comm.rank();
            (1..size).try_for_each(|k| comm.send((rank + k) % size, 0, part(1000)))?;
            (1..size).try_for_each(|k| comm.recv((rank + size - k) % size, 0, part(1000)))
        };
        let expected = 20 + (size as u64 - 1) * 3000 + 100 + 30;
        assert_eq!(end(&simple(), size, all_to_all), expected * NS, "{size} ranks");
    }
}

#[test]
fn messages_for_one_rank_come_one_after_the_other() {
    // Three ranks send to rank 0 at once; its interface takes in one byte per G: as a stream from
    // one sender, os + L + 3·nG + or.
    let gather = |comm: &mut Recorder| match comm.rank() {
        0 => (1..4).try_for_each(|peer| comm.recv(peer, 0, part(1000))),
        _ => comm.send(0, 0, part(1000)),
    };
    assert_eq!(end(&simple(), 4, gather), (20 + 100 + 9000 + 30) * NS);
}

#[test]
fn messages_of_one_rank_leave_one_after_the_other() {
    // Rank 0 sends to three others; message k has k − 1 before it in the interface: received at
    // os + k·nG + L + or. Of no bytes they leave one per g: os + (k − 1)·g + L + or.
    let scatter = |comm: &mut Recorder, bytes| match comm.rank() {
        0 => (1..4).try_for_each(|peer| comm.send(peer, 0, part(bytes))),
        _ => comm.recv(0, 0, part(bytes)).map(|()| comm.mark()),
    };
    let long = marks(&simple(), 4, |comm| scatter(comm, 1000));
    assert_eq!(long[1..], [[3150 * NS], [6150 * NS], [9150 * NS]]);
    let empty = marks(&simple(), 4, |comm| scatter(comm, 0));
    assert_eq!(empty[1..], [[150 * NS], [175 * NS], [200 * NS]]);
}

#[test]
fn a_barrier_costs_a_message_for_each_doubling() {
    // ⌈log₂ P⌉·(os + L + or), as ranks that come together stay together.
    for (size, rounds) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (1000, 10)] {
        assert_eq!(end(&simple(), size, Comm::barrier), rounds * 150 * NS, "{size} ranks");
    }
}

#[test]
fn nobody_leaves_a_barrier_before_the_last_comes() {
    let ends = marks(&simple(), 4, |comm| {
        if comm.rank() == 2 {
            comm.compute(programs::wait(10_000 * NS));
        }
        comm.barrier()?;
        comm.mark();
        Ok(())
    });
    // Rank 2 comes at 10 000 ns. Both messages for it are there: 2(os + or). Its first reaches rank
    // 3 after 150 ns, which finds the one of rank 1 and needs os + or more. Its second, sent os + or
    // later, is the last for rank 0; and that of rank 3 is the last for rank 1, 2 · 150 ns after.
    assert_eq!(ends, [[10_200 * NS], [10_300 * NS], [10_100 * NS], [10_200 * NS]]);
}

#[test]
fn the_protocol_changes_after_its_longest_message() {
    let machine = two();
    // Up to 64 bytes 60 + 2n ns, above 1260 + n.
    for (bytes, ns) in [(0, 60), (63, 186), (64, 188), (65, 1325), (1000, 2260)] {
        assert_eq!(half_round(&machine, bytes), ns * NS, "{bytes} bytes");
    }
    // Requests keep to the machine's own: 2(1 + 4 + 2).
    let stamps = marks(&machine, 2, |am| programs::flood(am, 1, 1, 1, 0));
    assert_eq!(stamps[0][2], 14 * NS);
}

/// Rank 0 sends 1, 2, 3, … times 10 bytes under `tags`; rank 1 takes what `wanted` says.
fn taken(machine: &Machine, tags: &[u32], wanted: &[(u32, usize)]) -> Result<Vec<u64>, SimError> {
    let schedule = record(2, |comm| {
        if comm.rank() == 0 {
            return tags.iter().zip(1..).try_for_each(|(tag, n)| comm.send(1, *tag, part(10 * n)));
        }
        wanted.iter().try_for_each(|&(tag, bytes)| {
            comm.recv(0, tag, part(bytes))?;
            comm.mark();
            Ok(())
        })
    })?;
    replay(&schedule, machine).map(|replay| replay.marks[1].clone())
}

#[test]
fn messages_are_taken_by_tag_and_of_one_tag_in_order() {
    let tags = [4, 9, 4, 9];
    // Were the order another, a length would not be the expected one. The third is whole at
    // os + L + (10 + 20 + 30)·G = 300 ns, and received at 330; the others wait for it, the last
    // until 20 + 100 + 300 = 420.
    let stamps = taken(&simple(), &tags, &[(4, 10), (4, 30), (9, 20), (9, 40)]).unwrap();
    assert_eq!(stamps, [180, 330, 360, 450].map(|ns| ns * NS));
    let error = taken(&simple(), &tags, &[(9, 40)]).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("receive 40 bytes at rank 1") && text.contains("has 20"), "{text}");
    assert!(text.contains("tag 9 from rank 0"), "{text}");
}

#[test]
fn a_short_message_does_not_overtake_a_long_one() {
    // Of 70 and 10 bytes, the first needs 700 ns and the second 30. First: 500 + 700 + 70 = 1270
    // whole, 1330 received. Second: its first byte comes with the first one's, is taken in when
    // the first is, and whole 20 ns later, before the receiver is free: received at 1350.
    let machine = two();
    let stamps = marks(&machine, 2, |comm| {
        if comm.rank() == 0 {
            comm.send(1, 0, part(70))?;
            return comm.send(1, 0, part(10));
        }
        comm.recv(0, 0, part(70))?;
        comm.mark();
        comm.recv(0, 0, part(10))?;
        comm.mark();
        Ok(())
    });
    assert_eq!(stamps[1], [1330 * NS, 1350 * NS]);
}

#[test]
fn messages_that_no_receive_takes_are_counted() {
    let schedule = record(2, |comm| match comm.rank() {
        0 => comm.send(1, 0, part(1)).and_then(|()| comm.send(1, 1, part(1))),
        _ => comm.recv(0, 1, part(1)),
    });
    let outcome = replay(&schedule.unwrap(), &simple()).unwrap();
    assert_eq!((outcome.messages, outcome.unhandled), (2, 1));
}

#[test]
fn ranks_that_wait_for_messages_for_ever_are_named_with_sender_and_tag() {
    let schedule = record(4, |comm| match comm.rank() {
        // Each wants to hear first; rank 2 has another tag in its interface; rank 3 is alone.
        0 => comm.recv(1, 7, part(8)).and_then(|()| comm.send(1, 7, part(8))),
        1 => comm.send(2, 1, part(8)).and_then(|()| comm.recv(0, 7, part(8))),
        2 => comm.recv(1, 2, part(8)),
        _ => comm.barrier(),
    });
    let error = replay(&schedule.unwrap(), &simple()).unwrap_err();
    let SimError::Deadlock(waits) = &error else { panic!("{error}") };
    let message = |rank, from: Rank, tag| Wait { rank, what: WaitFor::Message { from, tag } };
    assert_eq!(
        waits[..],
        [
            message(0, 1, 7),
            message(1, 0, 7),
            message(2, 1, 2),
            Wait { rank: 3, what: WaitFor::Barrier(2) }
        ]
    );
    let text = error.to_string();
    assert!(text.contains("rank 0 waits for a message of tag 7 from rank 1"), "{text}");
    assert!(text.contains("rank 3 waits in a barrier for rank 2"), "{text}");
}

#[test]
fn bytes_that_the_counter_cannot_time_are_an_error() {
    let machine = byte_machine([1, 1, 1, 1, 1_000_000_000]);
    let schedule = record(2, |comm| ping_pong(comm, 1, u32::MAX as usize)).unwrap();
    let outcome = replay(&schedule, &machine);
    assert!(matches!(outcome, Err(SimError::TooLong { .. })), "{outcome:?}");
}
