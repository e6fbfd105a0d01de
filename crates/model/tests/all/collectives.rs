//! Costs of operations of all ranks against closed forms, worked out by hand.

use bandgap_comm::collectives::{Algorithm, Barrier, Broadcast, Sum};
use bandgap_model::collectives::{ByLength, Hockney, PointToPoint, barrier, broadcast, sum};
use bandgap_units::{Bytes, Ns};

/// α = 1000 ns and β = 2 ns a byte.
const HOCKNEY: Hockney = Hockney { startup: Ns(1000.0), rate: 0.5e9 };

fn broadcasts(on: &impl PointToPoint, ranks: usize, bytes: u64) -> [f64; 4] {
    [Broadcast::Linear, Broadcast::Binomial, Broadcast::ScatterAllgather, Broadcast::Chain]
        .map(|by| broadcast(by, on, ranks, Bytes(bytes)).0)
}

fn sums(on: &impl PointToPoint, ranks: usize, bytes: u64) -> [f64; 4] {
    [Sum::Tree, Sum::RecursiveDoubling, Sum::Rabenseifner, Sum::Ring]
        .map(|by| sum(by, on, ranks, Bytes(bytes)).0)
}

#[test]
fn broadcasts_cost_what_thakur_and_others_give() {
    // (P − 1)(α + nβ); ⌈log₂ P⌉(α + nβ); 2·log₂ P·α + 2(1 − 1/P)·nβ. 8192 bytes on eight ranks are
    // four segments: (P − 1 + 4 − 1)(α + 2048β).
    let expected = [7.0 * 17_384.0, 3.0 * 17_384.0, 6000.0 + 1.75 * 16_384.0, 10.0 * 5096.0];
    assert_eq!(broadcasts(&HOCKNEY, 8, 8192), expected);
    // P = 6, blocks of 1000 bytes: (⌈log₂ P⌉ + P − 1)·α + 2(1 − 1/P)·nβ.
    let [linear, binomial, scatter, _] = broadcasts(&HOCKNEY, 6, 6000);
    assert_eq!([linear, binomial], [5.0 * 13_000.0, 3.0 * 13_000.0]);
    assert_eq!(scatter, 8.0 * 1000.0 + 10.0 / 6.0 * 12_000.0);
}

#[test]
fn sums_cost_what_thakur_and_others_give() {
    // log₂ P·2(α + nβ); log₂ P·(α + nβ); 2·log₂ P·α + 2(1 − 1/P)·nβ; the same with 2(P − 1)·α.
    let bytes = 1.75 * 16_000.0;
    let expected = [3.0 * 34_000.0, 3.0 * 17_000.0, 6000.0 + bytes, 14_000.0 + bytes];
    assert_eq!(sums(&HOCKNEY, 8, 8000), expected);
    // P = 6: four ranks, and two messages for the fold. n = 9600.
    let message = 1000.0 + 19_200.0;
    let fold = 2.0 * message;
    let expected = [
        3.0 * fold,
        2.0 * message + fold,
        4000.0 + 1.5 * 19_200.0 + fold,
        10.0 * (1000.0 + 3200.0),
    ];
    assert_eq!(sums(&HOCKNEY, 6, 9600), expected);
}

#[test]
fn rings_and_trees_of_halves_cost_what_their_messages_do() {
    // P = 5, n = 8000: half blocks of 800 bytes. r = m in these terms.
    let step = 2.0 * (1000.0 + 1600.0);
    assert_eq!(sum(Sum::TwoRings, &HOCKNEY, 5, Bytes(8000)).0, 4.0 * 2.0 * step);
    // Three levels: √(4000·4096/2) = 2862 bytes are a chunk, so there are two of 2000.
    let message = 1000.0 + 4000.0;
    let expected = 2.0 * (5.0 * message + 2.0 * message);
    assert_eq!(sum(Sum::DoubleTree, &HOCKNEY, 5, Bytes(8000)).0, expected);
    assert!(Sum::ALL.iter().all(|&by| sum(by, &HOCKNEY, 1, Bytes(8)) == Ns::ZERO));
}

#[test]
fn one_rank_costs_nothing() {
    assert_eq!(broadcasts(&HOCKNEY, 1, 1000), [0.0; 4]);
    assert_eq!(sums(&HOCKNEY, 1, 1000), [0.0; 4]);
    assert!(Barrier::ALL.iter().all(|&by| barrier(by, &HOCKNEY, 1) == Ns::ZERO));
}

#[test]
fn costs_by_length_are_those_of_each_message() {
    let long = Hockney { startup: Ns(5000.0), ..HOCKNEY };
    let both = ByLength { up_to: vec![(Bytes(2000), HOCKNEY)], longer: long };
    // Rabenseifner on four ranks: halves of 4000 bytes, quarters of 2000, there and back.
    let expected = 2.0 * (5000.0 + 8000.0) + 2.0 * (1000.0 + 4000.0);
    assert_eq!(sum(Sum::Rabenseifner, &both, 4, Bytes(8000)).0, expected);
    // One after the other to three ranks.
    assert_eq!(broadcast(Broadcast::Linear, &both, 4, Bytes(8000)).0, 3.0 * 21_000.0);
    assert_eq!(broadcast(Broadcast::Linear, &both, 4, Bytes(2000)).0, 3.0 * 5000.0);
}
