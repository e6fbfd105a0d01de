//! Messages of bytes: what LogGP says of a program, derived above the assertion.

use crate::programs::{self, COSTS, NS, byte_machine, marks};
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
    assert!(matches!(&error, SimError::NoTimeForBytes(machine) if machine == "paragon"));
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
    let found = matches!(error, SimError::OtherLength { rank: 1, from: 0, tag: 9, bytes: 20, .. });
    assert!(found, "{error}");
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
    let message = |rank, from: Rank, tag| Wait { rank, what: WaitFor::Message(from, tag) };
    assert_eq!(
        waits[..],
        [
            message(0, 1, 7),
            message(1, 0, 7),
            message(2, 1, 2),
            Wait { rank: 3, what: WaitFor::Barrier(2) }
        ]
    );
}

#[test]
fn bytes_that_the_counter_cannot_time_are_an_error() {
    let machine = byte_machine([1, 1, 1, 1, 1_000_000_000]);
    let schedule = record(2, |comm| ping_pong(comm, 1, u32::MAX as usize)).unwrap();
    let outcome = replay(&schedule, &machine);
    assert!(matches!(outcome, Err(SimError::TooLong(_))), "{outcome:?}");
}
