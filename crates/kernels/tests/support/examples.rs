//! A few orders of each kernel of the list. They move little, and differ in what changes a program's course: no bytes, a
//! few, more than a slot holds.

use bandgap_comm::Delay;
use bandgap_kernels::{
    Asking, AtSize, Buffers, Burst, Fact, FanIn, Kernel, Order, Overlap, OverlapMode, Pair,
    ProcessorMesh, RoundRobin,
};

/// Numbers of messages and their sizes, of kernels that these make.
const POINTS: [(&str, &[(u32, usize)]); 21] = [
    ("ping_pong", &[(1, 8), (5, 8)]),
    ("request_stream", &[(1, 8), (100, 8)]),
    ("store", &[(1, 0), (5, 7), (3, 4096), (2, 70_001)]),
    ("get", &[(1, 0), (5, 7), (3, 4096), (2, 70_001)]),
    ("comms1", &[(1, 0), (5, 1), (4, 100), (3, 20_000), (2, 70_001)]),
    ("comms2", &[(1, 0), (5, 1), (4, 100), (3, 20_000), (2, 70_001)]),
    ("stream", &[(1, 0), (3, 100), (1, 20_000), (1, 70_001)]),
    ("bidirectional", &[(1, 0), (3, 100), (1, 20_000), (1, 70_001)]),
    ("comms3", &[(1, 0), (3, 1), (2, 100), (2, 20_000)]),
    ("synch1", &[(1, 0), (9, 0)]),
    ("broadcast", &[(1, 8), (20, 100), (3, 20_000)]),
    ("global_sum", &[(1, 8), (3, 128), (2, 20_000)]),
    ("all_reduce", &[(1, 8), (3, 128), (2, 20_000)]),
    ("reduce_scatter", &[(1, 8), (3, 128), (2, 20_000)]),
    ("all_gather", &[(1, 8), (3, 128), (2, 20_000)]),
    ("all_to_all", &[(1, 8), (3, 128), (2, 20_000)]),
    ("reduce", &[(1, 8), (3, 128), (2, 20_000)]),
    ("gather", &[(1, 8), (3, 128), (2, 20_000)]),
    ("scatter", &[(1, 8), (3, 128), (2, 20_000)]),
    ("contention", &[(1, 0), (3, 100), (2, 20_000)]),
    ("message_costs", &[(1, 0), (5, 1), (4, 100), (3, 20_000), (2, 70_001)]),
];

/// Orders of so many samples, on so many ranks, of those that these can carry out.
pub fn examples(fact: &Fact, size: usize, samples: u32) -> Vec<Order> {
    let pairs = [Pair::FIRST, Pair { requester: size.saturating_sub(1), replier: 0 }];
    let delay = Delay { iterations: 3, picoseconds: 3_000 };
    let mut orders: Vec<Order> = match fact.name {
        "burst" => {
            let asking = pairs.map(Asking::OneToOne).into_iter();
            let asking = asking.chain([Asking::Pairs, Asking::FanOut]);
            let of = |asking| [1, 37].map(|messages| Burst { asking, messages, delay });
            all(asking.flat_map(of), size, samples)
        }
        "fan_in" => {
            let others = size.saturating_sub(1);
            let counts = [(1, 37), (others, 1), (others, 20)].into_iter();
            let of = |(requesters, messages)| FanIn { requesters, messages, delay };
            all(counts.map(of), size, samples)
        }
        "round_robin" => {
            let rounds = [0, RoundRobin::rounds(size).saturating_sub(1)].into_iter();
            let of = |round| {
                [(1, 0), (3, 20_000)].map(|(messages, bytes)| RoundRobin {
                    round,
                    messages,
                    bytes,
                    part: RoundRobin::ALL,
                })
            };
            all(rounds.flat_map(of), size, samples)
        }
        "overlap" => {
            let work = |iterations| Delay { iterations, picoseconds: 1000 * u64::from(iterations) };
            let lengths = [(1, 0, 5), (3, 100, 0), (2, 20_000, 1000), (1, 70_001, 3)];
            let of = |(pair, mode)| {
                lengths.map(|(messages, bytes, elements)| {
                    let messages = if mode == OverlapMode::Overheads { 1 } else { messages };
                    Overlap { pair, messages, bytes, work: work(elements), mode }
                })
            };
            let modes =
                pairs.into_iter().flat_map(|pair| OverlapMode::ALL.map(|mode| (pair, mode)));
            all(modes.flat_map(of), size, samples)
        }
        "update_guard" | "shift_north" | "shift_east" | "transpose" | "row_broadcast"
        | "column_broadcast" => at(fact, matrices(size), samples, size),
        name => {
            let points = POINTS.into_iter().find(|(of, _)| *of == name);
            let (_, points) = points.unwrap_or_else(|| panic!("{name} has no examples"));
            // Pairs need an even number of ranks; the last may be idle.
            let pairs_only = ["stream", "bidirectional"].contains(&name);
            let size = if pairs_only { size - size % 2 } else { size };
            let window = pairs_only.then_some(3);
            let variants = fact.series.iter().flat_map(|series| series.variants);
            let variants: Vec<_> =
                std::iter::once(None).chain(variants.map(|name| Some(*name))).collect();
            let all_buffers = [Buffers::Separate, Buffers::Same, Buffers::Fresh { ring: 40_000 }];
            let mut all = Vec::new();
            for &(messages, bytes) in points {
                for pair in pairs {
                    for &variant in &variants {
                        for buffers in all_buffers {
                            let of = AtSize { window, ..AtSize::of(bytes, messages, size) };
                            all.push(AtSize { pair, variant, buffers, ..of });
                        }
                    }
                }
            }
            at(fact, all, samples, size)
        }
    };
    orders.retain(|order| (fact.check)(order, size).is_ok());
    orders
}

fn all<K: Kernel>(kernels: impl Iterator<Item = K>, size: usize, samples: u32) -> Vec<Order> {
    kernels.map(|kernel| Order::of(&kernel, samples, size)).collect()
}

/// Where all ranks take part, the pair says nothing; one of the variants is the usual one; and many leave no choice of
/// buffers. Each order comes once.
fn at(fact: &Fact, points: Vec<AtSize>, samples: u32, size: usize) -> Vec<Order> {
    let mut orders = Vec::new();
    for order in points.into_iter().filter_map(|point| (fact.at)(point, samples, size).ok()) {
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    orders
}

/// On a mesh that is nearly square, and on one that is a row. With blocks of 34 × 34 a message does not fit in a slot.
fn matrices(size: usize) -> Vec<AtSize> {
    let side = (1..=size).filter(|side| size.is_multiple_of(*side) && side * side <= size);
    let narrow = side.max().unwrap_or(1);
    let mut meshes = vec![[size / narrow, narrow], [1, size]];
    meshes.dedup();
    let of = |mesh: [usize; 2]| {
        // Operations of a sample and elements along the shorter side of a block.
        [(1, 2), (5, 3), (2, 34)].map(|(messages, side)| {
            let least = ProcessorMesh::new(mesh[0], mesh[1]).least_dimension();
            let dimension = (least * side).min(128).next_multiple_of(least);
            AtSize { mesh: Some(mesh), ..AtSize::of(dimension, messages, size) }
        })
    };
    meshes.into_iter().flat_map(of).collect()
}
