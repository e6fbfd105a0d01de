//! Kernels on a matrix: what they move and how long it takes in virtual time, on meshes of all
//! shapes, and that every element is looked at.

use std::collections::BTreeMap;

use crate::direct;
use crate::harness::native::Native;
use crate::harness::{carry_out, in_process};
use crate::recorded::recorded;
use bandgap_kernels::{
    AtSize, Fact, Failed, Matrix, Order, Outcome, Places, ShiftNorth, UpdateGuard, fact,
};
use bandgap_kernels::{MeshOrder, ProcessorMesh};
use bandgap_sim::{Context, Op, Schedule};

const KERNELS: [&str; 6] =
    ["update_guard", "shift_north", "shift_east", "transpose", "row_broadcast", "column_broadcast"];

fn point(dimension: usize, messages: u32, [rows, columns]: [usize; 2]) -> AtSize {
    AtSize { mesh: Some([rows, columns]), ..AtSize::of(dimension, messages, rows * columns) }
}

fn order(kernel: &str, point: AtSize) -> Order {
    (fact(kernel).unwrap().at)(point, 1, point.ranks).unwrap()
}

/// How many messages of each length all ranks send.
fn sent(schedule: &Schedule) -> BTreeMap<u32, u64> {
    let mut sent = BTreeMap::new();
    for op in (0..schedule.size()).flat_map(|rank| schedule.operations(rank)) {
        if let Op::Send { context: Context::Messages, bytes, .. } = op {
            *sent.entry(bytes).or_default() += 1;
        }
    }
    sent
}

#[test]
fn messages_and_bytes_on_sixteen_ranks_are_those_of_the_thesis() {
    // 4 × 4 ranks, N = 32: blocks of 8 × 8, sides of 64 bytes, arrays of 10 × 10.
    let sent = |kernel: &str| sent(&recorded(&order(kernel, point(32, 1, [4, 4]))));
    // Four sides of each rank.
    assert_eq!(sent("update_guard"), [(64, 16 * 4)].into());
    // The array with its ring, of each rank.
    assert_eq!(sent("shift_north"), [(800, 16)].into());
    assert_eq!(sent("shift_east"), [(800, 16)].into());
    // The block of each rank that is not on the diagonal.
    assert_eq!(sent("transpose"), [(512, 12)].into());
    // In each of four columns, or rows, from one rank to three, there and back.
    assert_eq!(sent("row_broadcast"), [(64, 24)].into());
    assert_eq!(sent("column_broadcast"), [(64, 24)].into());
}

#[test]
fn a_transpose_on_two_squares_exchanges_half_blocks() {
    // 4 × 2 ranks, N = 8: blocks of 2 × 4. Rank (x, y) needs rows 4y to 4y + 3 and columns 2x and
    // 2x + 1: half of each of the blocks of (2y, x/2) and (2y + 1, x/2), so 16 halves of 2 × 2 are
    // needed. One of them is its own where y = x/2: for (0, 0), (1, 0), (2, 1) and (3, 1).
    let sent = sent(&recorded(&order("transpose", point(8, 1, [4, 2]))));
    assert_eq!(sent, [(8 * 2 * 2, 16 - 4)].into());
}

/// Meshes of up to 16 ranks, of all shapes.
const MESHES: [[usize; 2]; 13] = [
    [1, 1],
    [2, 1],
    [1, 2],
    [1, 3],
    [4, 1],
    [2, 2],
    [3, 2],
    [2, 3],
    [4, 2],
    [3, 3],
    [2, 6],
    [15, 1],
    [4, 4],
];

#[test]
fn the_bandwidth_counts_the_bytes_that_move() {
    for (kernel, mesh) in KERNELS.into_iter().flat_map(|k| MESHES.map(|mesh| (k, mesh))) {
        let Fact { series, .. } = fact(kernel).unwrap();
        let dimension = 2 * ProcessorMesh::new(mesh[0], mesh[1]).least_dimension();
        let of = point(dimension, 1, mesh);
        let moved = (series[0].message)(&of) * (series[0].moves)(of.ranks);
        let all = sent(&recorded(&order(kernel, of))).into_iter();
        let all: u64 = all.map(|(bytes, messages)| u64::from(bytes) * messages).sum();
        let sent = all / u64::from(series[0].parts);
        // What a rank sends on average is a whole number of bytes.
        assert_eq!(moved, sent / of.ranks as u64 * of.ranks as u64, "{kernel} {mesh:?}");
    }
}

#[test]
fn the_probe_is_between_the_rank_that_times_and_one_that_it_exchanges_messages_with() {
    for (kernel, mesh) in KERNELS.into_iter().flat_map(|k| MESHES.map(|mesh| (k, mesh))) {
        let least = ProcessorMesh::new(mesh[0], mesh[1]).least_dimension();
        let order = order(kernel, point(2 * least, 1, mesh));
        let [timed, other] = (fact(kernel).unwrap().timed)(&order, order.ranks).unwrap();
        let schedule = recorded(&order);
        let sends = |from: usize, to: usize| {
            schedule.operations(from).any(|op| match op {
                Op::Send { context: Context::Messages, peer, .. } => peer as usize == to,
                _ => false,
            })
        };
        let exchange = |peer: usize| sends(timed, peer) || sends(peer, timed);
        let peers: Vec<usize> = (0..order.ranks).filter(|peer| exchange(*peer)).collect();
        let what = format!("{kernel} {mesh:?}: {timed} and {other}, {peers:?}");
        // Where it exchanges none, any other rank will do.
        assert!(peers.contains(&other) || peers.is_empty(), "{what}");
        assert_eq!(timed == other, order.ranks == 1, "{what}");
    }
}

fn all_right(outcomes: &[Vec<Result<Outcome, Failed>>], orders: &[Order]) {
    for (rank, outcomes) in outcomes.iter().enumerate() {
        assert_eq!(outcomes.len(), orders.len());
        for (order, outcome) in orders.iter().zip(outcomes) {
            let outcome = outcome.as_ref().unwrap();
            assert_eq!(outcome.wrong, None, "rank {rank}: {order:?}");
            if order.checked {
                assert_eq!(outcome.checked.compared, outcome.checked.received, "{order:?}");
            }
        }
    }
}

/// Every kernel with blocks of one, two or five elements along the shorter side; more operations
/// than a block has lines.
fn orders(mesh: [usize; 2]) -> Vec<Order> {
    let step = ProcessorMesh::new(mesh[0], mesh[1]).least_dimension();
    let points = [(1, 1), (7, 1), (3, 2), (2, 5)];
    let timed = KERNELS.into_iter().flat_map(|kernel| {
        points.map(|(messages, side)| order(kernel, point(side * step, messages, mesh)))
    });
    timed.flat_map(|order| [order.clone(), order.checked()]).collect()
}

#[test]
fn every_element_arrives_on_meshes_of_all_shapes() {
    for mesh in MESHES {
        let (orders, size) = (orders(mesh), mesh[0] * mesh[1]);
        let native = direct::ranks(size, 0).into_iter().map(Native::new).collect::<Vec<_>>();
        all_right(&carry_out(native, &orders), &orders);
        // As many threads as ranks: over a transport those of the matrices that are divided most.
        if [6, 8, 9, 16].contains(&size) {
            all_right(&carry_out(in_process(size), &orders), &orders);
        }
    }
}

#[test]
fn row_major_and_gray_order_give_the_same_matrix() {
    for order in [MeshOrder::RowMajor, MeshOrder::Gray] {
        let mesh = ProcessorMesh { order, ..ProcessorMesh::new(4, 2) };
        let matrix = Matrix { mesh, dimension: 8 };
        let orders = [
            Order::of(&UpdateGuard::new(matrix, 2), 2, 8).checked(),
            Order::of(&ShiftNorth::new(matrix, 2), 2, 8).checked(),
        ];
        let native = direct::ranks(8, 0).into_iter().map(Native::new).collect::<Vec<_>>();
        all_right(&carry_out(native, &orders), &orders);
    }
}

/// The elements of the array that rank 0 receives the last message into which may not change unnoticed
/// after one operation of each part on 2 × 2 ranks with blocks of 2 × 2, as rows of the 4 × 4 array.
fn watched(kernel: &str) -> [[bool; 4]; 4] {
    let order = order(kernel, point(4, 1, [2, 2])).checked();
    let needs = (fact(kernel).unwrap().needs)(&order, 4).unwrap();
    let parts = fact(kernel).unwrap().series[0].parts;
    let array = Places::own(&needs).unwrap().incoming(u64::from(parts) - 1);
    assert_eq!(array.len, 8 * 16);
    let found = |element: usize| {
        let ranks = direct::ranks(4, 0).into_iter().enumerate().map(|(rank, direct)| {
            let mut native = Native::new(direct);
            // The last byte of it.
            native.spoilt = (rank == 0).then_some(array.at + 8 * element + 7);
            native
        });
        let outcomes = carry_out(ranks.collect(), std::slice::from_ref(&order));
        assert!(outcomes[1..].iter().all(|rank| rank[0].as_ref().unwrap().wrong.is_none()));
        outcomes[0][0].as_ref().unwrap().wrong.is_some()
    };
    [0, 1, 2, 3].map(|row| [0, 1, 2, 3].map(|column| found(4 * row + column)))
}

#[test]
fn an_element_that_is_wrong_is_found_wherever_it_is() {
    // The block, the ring and the corners, which nothing may change.
    assert_eq!(watched("update_guard"), [[true; 4]; 4]);
    // What was sent has a ring.
    assert_eq!(watched("shift_north"), [[true; 4]; 4]);
    let (no, inner) = ([false; 4], [false, true, true, false]);
    assert_eq!(watched("transpose"), [no, inner, inner, no]);
    // The first line of the last block.
    assert_eq!(watched("row_broadcast"), [no, inner, no, no]);
}

#[test]
fn matrices_and_meshes_that_do_not_fit_are_refused_with_what_does() {
    let refused = |point: AtSize| {
        let order = order("transpose", point);
        (fact("transpose").unwrap().check)(&order, 16).unwrap_err().to_string()
    };
    let text = refused(point(100, 1, [3, 3]));
    assert!(text.contains("\"transpose\"") && text.contains("99 or 102"), "{text}");
    let text = refused(AtSize::of(12, 1, 12));
    assert!(text.contains("12 ranks") && text.contains("9 or 16"), "{text}");
    let text = refused(AtSize { mesh: Some([3, 2]), ..AtSize::of(12, 1, 8) });
    assert!(text.contains("8 ranks") && text.contains("3x2"), "{text}");
    let text = refused(point(1 << 20, 1, [2, 2]));
    assert!(text.contains("dimension 1048576") && text.contains("23166"), "{text}");
}
