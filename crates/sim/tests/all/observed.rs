//! What a replay tells of itself: derivatives against other replays, the critical path, spans, and GOAL.

use std::collections::{BTreeMap, BTreeSet};

use bandgap_comm::collectives::Broadcast;
use bandgap_comm::{Comm, Part};
use bandgap_sim::{
    Loggops, Machine, Schedule, Verb, Window, observe, read_goal, record, replay,
    replay_with_sensitivity, write_goal,
};
use proptest::prelude::*;

use crate::goal::replay_goal;
use crate::network_properties::network;
use crate::programs::{COSTS, NS, byte_machine};
use crate::properties::{Step, messages, recorded, small_connected, step_of_bytes};

/// How much slower everything is than in other tests, so that a picosecond more of a parameter changes no order.
const SLOWER: u64 = 100_000;

fn end(schedule: &Schedule, machine: &Machine) -> i64 {
    replay(schedule, machine).unwrap().ends.into_iter().max().unwrap() as i64
}

/// Every time that the machine has, from a function of which parameter it is: L, o, g, G, and none of them.
fn changed(machine: &Machine, change: impl Fn(usize, u64) -> u64) -> Machine {
    let mut other = machine.clone();
    other.latency = change(0, other.latency);
    other.send_overhead = change(1, other.send_overhead);
    other.recv_overhead = change(1, other.recv_overhead);
    other.gap = change(2, other.gap);
    other.hop = change(4, other.hop);
    for of in &mut other.protocols {
        of.latency = change(0, of.latency);
        of.send_overhead = change(1, of.send_overhead);
        of.recv_overhead = change(1, of.recv_overhead);
        of.gap = change(2, of.gap);
        of.gap_per_byte = change(3, of.gap_per_byte);
        of.hop = change(4, of.hop);
    }
    other
}

/// The end with a parameter that is greater by so many picoseconds, of a byte for G.
fn end_with(schedule: &Schedule, machine: &Machine, parameter: usize, more: i64) -> i64 {
    let more = if parameter == 3 { 1000 * more } else { more };
    let machine = changed(machine, |of, value| {
        if of == parameter { value.checked_add_signed(more).unwrap() } else { value }
    });
    end(schedule, &machine)
}

fn check(schedule: &Schedule, machine: &Machine) {
    let (outcome, found) = replay_with_sensitivity(schedule, machine).unwrap();
    assert_eq!(outcome, replay(schedule, machine).unwrap());
    let t = end(schedule, machine);
    for (parameter, of) in found.derivatives.into_iter().enumerate() {
        let mut jumps = false;
        for (sign, slope) in [(1, of.right), (-1, of.left)] {
            if sign < 0 && parameter == 3 && machine.protocols.iter().any(|of| of.gap_per_byte == 0)
            {
                continue;
            }
            let [once, twice] = [1, 2].map(|by| end_with(schedule, machine, parameter, sign * by));
            assert_eq!(slope, sign * (twice - once), "{parameter} {sign}");
            jumps |= once - t != sign * slope;
        }
        assert_eq!(of.jumps, jumps, "{parameter}");
    }
    let window = Window { ranks: (0..64).collect(), from: 0, until: u64::MAX };
    let seen = observe(schedule, machine, &window).unwrap();
    assert_eq!((seen.end as i64, seen.ranks), (t, schedule.size()));
    for path in [&seen.path, &found.path] {
        let begins = path.steps.iter().map(|step| step.begin).chain([t]);
        let ends = path.steps.iter().map(|step| step.end);
        assert!(begins.eq([0].into_iter().chain(ends)), "{path:?}");
        assert_eq!(path.shares.iter().sum::<i64>() + path.computation, t);
    }
    // Ranks do one thing at a time, and each message is received after it was sent.
    let mut free = BTreeMap::new();
    let mut sent = BTreeMap::new();
    for span in &seen.spans {
        let free = free.entry(span.rank).or_insert(0);
        assert!(span.begin >= *free && span.end >= span.begin, "{span:?}");
        *free = span.end;
        if span.part == "send" {
            assert_eq!(sent.insert(span.message, *span), None);
        }
    }
    assert_eq!(sent.len() as u64, outcome.messages);
    for span in seen.spans.iter().filter(|span| span.part == "receive") {
        let from = sent.remove(&span.message).unwrap();
        assert_eq!((from.peer, span.peer), (Some(span.rank), Some(from.rank)));
        assert!(from.end <= span.begin);
    }
    assert_eq!(sent.len() as u64, outcome.unhandled);
    let on_path = seen.spans.iter().filter(|span| span.is_critical);
    let time: u64 = on_path.map(|span| span.end - span.begin).sum();
    assert_eq!(time as i64, seen.path.shares[1] + seen.path.computation);
}

fn slower() -> impl Strategy<Value = Step> {
    step_of_bytes().prop_map(|step| match step {
        Step::Compute(time) => Step::Compute(time * SLOWER),
        step => step,
    })
}

proptest! {
    #[test]
    fn derivatives_are_differences_of_other_replays_and_paths_are_whole(
        requests in recorded(2..9, slower()), messages in messages(2..9),
        machine in small_connected(1, prop_oneof![Just(String::new()), network()])
    ) {
        let machine = changed(&machine, |_, value| value * SLOWER);
        check(&messages.slower(SLOWER).recorded(), &machine);
        check(&requests, &machine);
    }

    #[test]
    fn what_is_written_in_goal_has_the_same_messages(messages in messages(2..9)) {
        let schedule = messages.recorded();
        let mut text = Vec::new();
        write_goal(&schedule, &mut text).unwrap();
        let goal = read_goal(&text[..]).unwrap();
        // Indented lines, and labels that are not counted, are read in another way.
        let plain = String::from_utf8(text).unwrap();
        for other in [plain.replace('\n', "\n "), plain.replace("l1", "l01")] {
            prop_assert_eq!(&read_goal(other.as_bytes()).unwrap(), &goal);
        }
        prop_assert_eq!(goal.size(), schedule.size());
        let (mut tags, mut sent) = (BTreeSet::new(), BTreeMap::<_, Vec<u64>>::new());
        for rank in 0..goal.size() as u32 {
            for of in goal.of_rank(rank as usize).iter().filter(|of| of.verb == Verb::Send) {
                prop_assert!(tags.insert((rank, of.peer, of.tag)));
                sent.entry((rank, of.peer)).or_default().push(of.size);
            }
        }
        for ((from, to), sizes) in sent {
            let all = messages.all.iter().filter(|of| (of.from, of.to) == (from as usize, to as usize));
            prop_assert!(all.map(|of| of.bytes.max(1) as u64).eq(sizes));
        }
        // All find their receives, also where sends wait for these.
        for eager in [0, 65_535] {
            let replayed = replay_goal(&goal, &Loggops { eager, ..Loggops::default() }).unwrap();
            prop_assert_eq!(replayed.messages, messages.all.len() as u64);
        }
    }
}

#[test]
fn collectives_have_the_derivatives_of_their_closed_forms() {
    let [os, or, _, latency, byte] = COSTS.map(|cost| (cost * NS) as i64);
    let machine = byte_machine(COSTS);
    for bits in [1, 4, 10] {
        let ranks = 1 << bits;
        let barrier = record(ranks, |comm| comm.barrier()).unwrap();
        let of = replay_with_sensitivity(&barrier, &machine).unwrap().1;
        let sides = of.derivatives.map(|of| (of.left, of.right, of.jumps));
        let zero = (0, 0, false);
        assert_eq!(sides, [(bits, bits, false), (2 * bits, 2 * bits, false), zero, zero]);
        // T is linear: a hundredth of it over the number of latencies.
        let t = bits * (os + latency + or);
        assert_eq!((of.critical_latency, of.tolerance), (None, Some(t / 100 / bits)));
        assert_eq!(of.path.shares, [bits * latency, bits * (os + or), 0, 0, 0]);
        assert_eq!(of.path.steps.len() as i64, 3 * bits);

        // A byte; os is above g, so that no message waits for the one before.
        let broadcast = record(ranks, |comm| Broadcast::Binomial.run(comm, 0, Part::new(0, 1)));
        let slow = byte_machine([100, 30, 25, 100, 3]);
        let of = replay_with_sensitivity(&broadcast.unwrap(), &slow).unwrap().1;
        let sides = of.derivatives.map(|of| (of.left, of.right));
        assert_eq!(sides, [bits, 2 * bits, 0, bits].map(|of| (of, of)));
        assert_eq!(of.path.shares[3], bits * byte);
    }
}

#[test]
fn a_barrier_in_goal_takes_its_closed_form() {
    for bits in [1, 5, 10] {
        let mut text = Vec::new();
        write_goal(&record(1 << bits, |comm| comm.barrier()).unwrap(), &mut text).unwrap();
        let replayed = replay_goal(&read_goal(&text[..]).unwrap(), &Loggops::default()).unwrap();
        assert_eq!(replayed.messages, bits << bits);
        // LogGOPSim's own L is 2.5 µs, its o 1.5 µs.
        let t = bits as i64 * (2 * 1_500_000 + 2_500_000);
        assert!(replayed.finish().eq(vec![t; 1 << bits]));
    }
}
