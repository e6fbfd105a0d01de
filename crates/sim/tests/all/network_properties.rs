//! What holds in any network.

use crate::properties::{messages, mixed, recorded, ring, rounds, small_connected, step_of_bytes};
use crate::reference;
use bandgap_sim::{Machine, record, replay};
use proptest::prelude::*;

/// A network of at least eight nodes.
pub fn network() -> impl Strategy<Value = String> {
    let size = prop_oneof![
        (3_u32..5).prop_map(|d| format!("topology = 'hypercube'\ndimensions = {d}")),
        (2_u32..4, 4_u32..6)
            .prop_map(|(r, c)| format!("topology = 'mesh'\nrows = {r}\ncolumns = {c}")),
        (2_u32..5, 4_u32..6)
            .prop_map(|(r, c)| format!("topology = 'torus'\nrows = {r}\ncolumns = {c}")),
        (2_u32..4, 3_u32..4)
            .prop_map(|(a, l)| format!("topology = 'fat_tree'\narity = {a}\nlevels = {l}")),
        (2_u32..4, 4_u32..6)
            .prop_map(|(h, r)| format!("topology = 'hosts'\nhosts = {h}\nranks_per_host = {r}")),
        (2_u32..4, 2_u32..4, 1_u32..3).prop_map(|(a, p, h)| format!(
            "topology = 'dragonfly'\nrouters_per_group = {a}\nnodes_per_router = {p}\n\
             links_per_router = {h}"
        )),
    ];
    (size, 0_u32..20)
        .prop_map(|(size, hop)| format!("[network]\n{size}\nhop_ns = {}\n", f64::from(hop) / 1e3))
}

/// Two ranks that are neighbours, and share channels with nobody.
fn pair() -> impl Strategy<Value = String> {
    Just("[network]\ntopology = 'hypercube'\ndimensions = 1\nhop_ns = 9\n".to_owned())
}

/// Sixteen ranks at one switch.
fn switch() -> impl Strategy<Value = String> {
    Just("[network]\ntopology = 'fat_tree'\narity = 16\nlevels = 1\nhop_ns = 9\n".to_owned())
}

/// The same machine, in which nobody shares channels and all ranks are one hop apart.
fn in_a_crossbar(machine: &Machine) -> Machine {
    let text = |ps: u64| ps as f64 / 1e3;
    let costs = |os, or, latency, rest: String| {
        format!(
            "send_overhead_ns = {}\nrecv_overhead_ns = {}\nlatency_ns = {}\n{rest}\n",
            text(os),
            text(or),
            text(latency)
        )
    };
    let last = machine.protocols.len() - 1;
    let protocols = machine.protocols.iter().enumerate().map(|(index, p)| {
        let up_to =
            if index < last { format!("up_to_bytes = {}\n", p.up_to) } else { String::new() };
        let byte = format!("gap_per_byte_ns = {}", p.gap_per_byte as f64 / 1e6);
        format!("[[protocol]]\n{up_to}{}", costs(p.send_overhead, p.recv_overhead, p.latency, byte))
    });
    let rest = format!("gap_ns = {}\ncapacity = {}", text(machine.gap), machine.capacity);
    let words = costs(machine.send_overhead, machine.recv_overhead, machine.latency, rest);
    let text = format!("name = 'free'\n{words}{}", protocols.collect::<String>());
    Machine::parse(&text, "free").unwrap()
}

proptest! {
    #[test]
    fn two_neighbours_agree_with_a_count_of_every_picosecond(
        schedule in mixed(), machine in small_connected(1, pair())
    ) {
        let outcome = replay(&schedule, &machine).unwrap();
        prop_assert_eq!(&outcome.marks, &reference::marks(&schedule, &machine));
        prop_assert_eq!(outcome, replay(&schedule, &in_a_crossbar(&machine)).unwrap());
    }

    /// A switch has no channels that are shared. So what is looked at bucket by bucket is the same as
    /// what happens in one order of time.
    #[test]
    fn buckets_and_one_order_of_time_are_the_same(
        requests in recorded(2..9, step_of_bytes()), messages in messages(2..9),
        machine in small_connected(1, switch())
    ) {
        for schedule in [requests, messages.recorded()] {
            let in_order = replay(&schedule, &machine).unwrap();
            prop_assert_eq!(in_order, replay(&schedule, &in_a_crossbar(&machine)).unwrap());
        }
    }

    /// Ring, all-to-all or whatever: sharing costs time, and hops do, so nothing ends earlier than
    /// where ranks are alone. Each rank hears from one other only: where two senders share an
    /// interface, a later message of one may let the other's go first.
    #[test]
    fn no_network_is_faster_than_a_crossbar(
        rounds in rounds(8), machine in small_connected(0, network())
    ) {
        let schedule = record(8, |am| ring(am, &rounds)).unwrap();
        let shared = replay(&schedule, &machine).unwrap();
        let free = replay(&schedule, &in_a_crossbar(&machine)).unwrap();
        for (free, shared) in free.marks.iter().flatten().zip(shared.marks.iter().flatten()) {
            prop_assert!(free <= shared, "{} {}", free, shared);
        }
    }
}
