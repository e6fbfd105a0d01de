//! Networks in which some ranks are further apart than others, and share channels.

use crate::programs::{self, COSTS, ECHO, NOTE, NS, marks};
use bandgap_comm::{Am, Comm, CommError, Part, Processor};
use bandgap_sim::{Machine, Recorder};

/// h of the machines here, in ns.
const HOP: u64 = 40;

const CUBE: &str = "topology = 'hypercube'\ndimensions = 3";
const MESH: &str = "topology = 'mesh'\nrows = 3\ncolumns = 4";
const TORUS: &str = "topology = 'torus'\nrows = 4\ncolumns = 5";
const TREE: &str = "topology = 'fat_tree'\narity = 2\nlevels = 3";
const HOSTS: &str = "topology = 'hosts'\nhosts = 3\nranks_per_host = 4";
const DRAGONFLY: &str =
    "topology = 'dragonfly'\nrouters_per_group = 2\nnodes_per_router = 2\nlinks_per_router = 1";
const CROSSBAR: &str = "topology = 'crossbar'";

const ALL: [&str; 7] = [CUBE, MESH, TORUS, TREE, HOSTS, DRAGONFLY, CROSSBAR];

/// [`COSTS`], os 20, or 30, g 25, L 100, G 3, in this network.
fn connected(network: &str) -> Machine {
    let hop = if network == CROSSBAR { String::new() } else { format!("hop_ns = {HOP}") };
    programs::byte_machine_with(COSTS, &format!("[network]\n{network}\n{hop}\n"))
}

fn part(len: usize) -> Part {
    Part::new(0, len)
}

/// os + L + (hops − 1)·h + or + n·G.
fn one_way(hops: u32, bytes: usize) -> u64 {
    (150 + u64::from(hops - 1) * HOP + 3 * bytes as u64) * NS
}

/// Each of these messages (from, to, bytes) is sent at time 0; when each receiver has it.
fn received(machine: &Machine, messages: &[(usize, usize, usize)]) -> Vec<u64> {
    let size = machine.network.size().min(64);
    let stamps = marks(machine, size, |comm| {
        let rank = comm.rank();
        for &(_, to, bytes) in messages.iter().filter(|(from, ..)| *from == rank) {
            comm.send(to, 0, part(bytes))?;
        }
        for &(from, _, bytes) in messages.iter().filter(|(_, to, _)| *to == rank) {
            comm.recv(from, 0, part(bytes))?;
            comm.mark();
        }
        Ok(())
    });
    let mut taken = vec![0; size];
    let mut stamp = |rank: usize| {
        taken[rank] += 1;
        stamps[rank][taken[rank] - 1]
    };
    messages.iter().map(|&(_, to, _)| stamp(to)).collect()
}

#[test]
fn a_message_takes_a_hop_time_more_for_each_further_hop() {
    for network in ALL {
        let machine = connected(network);
        let topology = machine.network;
        let pairs = topology.pairs_by_distance(topology.size().min(32));
        assert_eq!(pairs.last().unwrap().0, topology.diameter(), "{network}");
        for (hops, (a, b)) in pairs {
            for bytes in [0, 1, 1000] {
                let alone = |from, to| received(&machine, &[(from, to, bytes)]);
                assert_eq!(alone(a, b), [one_way(hops, bytes)], "{network}, {a} to {b}");
                assert_eq!(alone(b, a), [one_way(hops, bytes)], "{network}, {b} to {a}");
            }
            // Requests and replies go the same way; so does the completion of one without reply:
            // L and the further hops after it was handled.
            for (verb, back) in [(ECHO, one_way(hops, 0)), (NOTE, one_way(hops, 0) - 50 * NS)] {
                let stamps = marks(&machine, b + 1, |am: &mut Recorder| match am.rank() {
                    rank if rank == a => {
                        am.request(b, verb, 0)?;
                        am.await_replies()?;
                        am.mark();
                        Ok(())
                    }
                    rank if rank == b => am.serve(1),
                    _ => Ok(()),
                });
                assert_eq!(stamps[a], [one_way(hops, 0) + back], "{network}, {a} to {b}");
            }
        }
    }
}

/// Pairs of messages (from, to) whose routes have a channel in common, but not their ends.
const SHARED: [(&str, [(usize, usize); 2]); 7] = [
    // 0 → 1 → 3 → 7 has the channel 1 → 3.
    (CUBE, [(0, 7), (1, 3)]),
    // In a row of four, 0 → 1 → 2 and 1 → 2 → 3.
    (MESH, [(0, 2), (1, 3)]),
    // Along the row, then down: 0 → 1 → 5 → 9.
    (MESH, [(0, 9), (1, 5)]),
    // Round the end of a row of five: 3 → 4 → 0, and 4 → 0 → 1.
    (TORUS, [(3, 0), (4, 1)]),
    // Round the end of a column of four: 10 → 15 → 0, and 15 → 0 → 5.
    (TORUS, [(10, 0), (15, 5)]),
    // From one switch to destinations of one lowest digit.
    (TREE, [(0, 4), (1, 6)]),
    // The link from the first group to the second.
    (DRAGONFLY, [(0, 4), (1, 5)]),
];

/// Pairs whose routes have none in common.
const APART: [(&str, [(usize, usize); 2]); 8] = [
    // 3 → 1 is the other channel of the link.
    (CUBE, [(0, 7), (3, 1)]),
    // 0 → 1 → 3 → 7 and 7 → 6 → 4 → 0.
    (CUBE, [(0, 7), (7, 0)]),
    // 0 → 1 → 5 → 9, and 4 → 5 → 6 through a node of it.
    (MESH, [(0, 9), (4, 6)]),
    // The shorter ways round: 3 → 4 → 0, and 1 → 2 → 3.
    (TORUS, [(3, 0), (1, 3)]),
    // Destinations of different digits.
    (TREE, [(0, 4), (1, 5)]),
    // Neighbours at one switch.
    (TREE, [(0, 1), (2, 3)]),
    // The links from the first group to the second and to the third.
    (DRAGONFLY, [(0, 4), (1, 10)]),
    // Between two hosts there is room for all.
    (HOSTS, [(0, 4), (1, 5)]),
];

fn hops(machine: &Machine, (from, to): (usize, usize)) -> u32 {
    machine.network.distance(from, to)
}

#[test]
fn messages_that_share_a_channel_come_one_after_the_other() {
    // Both are at the network at os. The lower rank is first, and holds the channel for max(g, n·G):
    // the other begins that much later.
    for (network, [first, second]) in SHARED {
        let machine = connected(network);
        for (bytes, held) in [(1000, 3000), (9, 27), (8, 25), (0, 25)] {
            let times = received(&machine, &[first, second].map(|(from, to)| (from, to, bytes)));
            let alone = [first, second].map(|pair| one_way(hops(&machine, pair), bytes));
            assert_eq!(times, [alone[0], alone[1] + held * NS], "{network} {first:?} {bytes}");
        }
        let free = received(&connected(CROSSBAR), &[first, second].map(|(a, b)| (a, b, 1000)));
        assert_eq!(free, [one_way(1, 1000); 2]);
    }
}

#[test]
fn messages_on_different_channels_do_not_wait() {
    for (network, pairs) in APART {
        let machine = connected(network);
        let times = received(&machine, &pairs.map(|(from, to)| (from, to, 1000)));
        assert_eq!(times, pairs.map(|pair| one_way(hops(&machine, pair), 1000)), "{network}");
    }
}

#[test]
fn words_hold_no_channel() {
    // The requests of both ranks cross at once: each is handled after one way.
    let stamps = marks(&connected(CUBE), 8, |am: &mut Recorder| match am.rank() {
        0 => am.request(7, NOTE, 0),
        1 => am.request(3, NOTE, 0),
        3 | 7 => {
            am.serve(1)?;
            am.mark();
            Ok(())
        }
        _ => Ok(()),
    });
    assert_eq!((stamps[7][0], stamps[3][0]), (one_way(3, 0), one_way(1, 0)));
}

#[test]
fn circuits_begin_in_the_order_in_which_messages_are_at_the_network() {
    // Rank 0 has sent both its messages to rank 2 by 2·os = 40 ns, long before the first has left:
    // the second asks for the channel 1 → 2 at os + n·G = 3020 ns. Rank 1 asks at 500 + os, although
    // the simulation comes to it later: so it is between them.
    let stamps = marks(&connected(MESH), 12, |comm| {
        match comm.rank() {
            0 => (0..2).try_for_each(|_| comm.send(2, 0, part(1000)))?,
            1 => {
                comm.compute(programs::wait(500 * NS));
                comm.send(3, 0, part(1000))?;
            }
            2 => {
                for _ in 0..2 {
                    comm.recv(0, 0, part(1000))?;
                    comm.mark();
                }
            }
            3 => {
                comm.recv(1, 0, part(1000))?;
                comm.mark();
            }
            _ => {}
        }
        Ok(())
    });
    let after = |messages: u64| one_way(2, 1000) + messages * 3000 * NS;
    assert_eq!((&stamps[2][..], &stamps[3][..]), (&[after(0), after(2)][..], &[after(1)][..]));
}

#[test]
fn a_message_that_waits_for_a_channel_holds_up_those_behind_it() {
    // Rank 0 holds 1 → 3 for 3000 ns. The first message of rank 1 waits for it, and the second, on
    // a way of its own (1 → 0), begins when the first has left: at os + 6000 ns.
    let messages = [(0, 7, 1000), (1, 3, 1000), (1, 0, 0)];
    let times = received(&connected(CUBE), &messages);
    assert_eq!(times, [one_way(3, 1000), one_way(1, 1000) + 3000 * NS, one_way(1, 0) + 6000 * NS]);
}

#[test]
fn a_stream_over_any_route_is_as_fast_as_its_interface() {
    for network in ALL {
        let machine = connected(network);
        let topology = machine.network;
        let farthest = |to: &usize| topology.distance(0, *to) == topology.diameter();
        let last = (0..topology.size()).find(farthest).unwrap();
        // Five messages, one n·G after the other.
        let times = received(&machine, &[(0, last, 100); 5]);
        let first = one_way(topology.diameter(), 100);
        assert_eq!(times, [0, 1, 2, 3, 4].map(|before| first + before * 300 * NS), "{network}");
    }
}

#[test]
fn a_protocol_may_have_a_hop_time_of_its_own() {
    let text = "name = 'm'\nsend_overhead_ns = 1\nrecv_overhead_ns = 2\ngap_ns = 1\nlatency_ns = 4\n\
                [network]\ntopology = 'hypercube'\ndimensions = 3\nhop_ns = 10\n\
                [[protocol]]\nup_to_bytes = 100\nsend_overhead_ns = 1\nrecv_overhead_ns = 2\n\
                latency_ns = 4\ngap_per_byte_ns = 1\n\
                [[protocol]]\nsend_overhead_ns = 1\nrecv_overhead_ns = 2\nlatency_ns = 4\n\
                gap_per_byte_ns = 1\nhop_ns = 700\n";
    let machine = Machine::parse(text, "m").unwrap();
    // 7 ns, the bytes, and two further hops.
    assert_eq!(received(&machine, &[(0, 7, 100)]), [(7 + 100 + 20) * NS]);
    assert_eq!(received(&machine, &[(0, 7, 101)]), [(7 + 101 + 1400) * NS]);
}

/// Half a round trip between two ranks of the iPSC/860, the mean of `rounds`, while others may send.
fn echo(
    comm: &mut Recorder,
    [a, b]: [usize; 2],
    rounds: u64,
    bytes: usize,
) -> Result<(), CommError> {
    for _ in 0..rounds {
        if comm.rank() == a {
            comm.mark();
            comm.send(b, 0, part(bytes))?;
            comm.recv(b, 0, part(bytes))?;
            comm.mark();
        } else if comm.rank() == b {
            comm.recv(a, 0, part(bytes))?;
            comm.send(a, 0, part(bytes))?;
        }
    }
    Ok(())
}

#[test]
fn the_ipsc860_adds_its_hop_time_at_each_distance() {
    let machine = Machine::load("ipsc860").unwrap();
    let topology = machine.network;
    assert_eq!((topology.size(), topology.diameter(), machine.ranks), (128, 7, 128));
    for hops in 1..=7_u32 {
        let peer = (1 << hops) - 1;
        for bytes in [0, 100, 101, 4096] {
            let stamps = &marks(&machine, 128, |comm| echo(comm, [0, peer], 1, bytes))[0];
            // In µs: 79 + 0.63 n, and above 100 bytes 156 + 0.41 n; 25 for each further hop.
            let n = bytes as u64;
            let near = if n <= 100 { 79_000 + 630 * n } else { 156_000 + 410 * n };
            let expected = near + 25_000 * u64::from(hops - 1);
            assert_eq!(stamps[1] - stamps[0], 2 * expected * NS, "{hops} hops, {bytes} bytes");
        }
    }
}
