//! Stores and gets: bursts that go round the exposed memory, and bytes that get lost.

use crate::harness::spoilt::{Fault, Lying, Plan, What};
use crate::harness::{Impatient, Outcomes, PATIENT, carry_out, executors};
use crate::inproc;
use bandgap_comm::{Bulk, CommError, Credited, Delay, Watch};
use bandgap_kernels::{Failed, Flaw, Get, Order, Outcome, Pair, Store, Wrong};
use bandgap_shm::{Exposed, Segment, ShmEndpoint};

/// Bytes that each rank exposes: half for what is sent, half for what arrives.
const EXPOSED: usize = 1 << 20;

fn store(messages: u32, bytes: usize) -> Order {
    Order::of(&Store { pair: Pair::FIRST, messages, bytes, delay: Delay::NONE }, 3, 2)
}

fn get(messages: u32, bytes: usize) -> Order {
    Order::of(&Get { pair: Pair::FIRST, messages, bytes, delay: Delay::NONE }, 3, 2)
}

fn both(messages: u32, bytes: usize) -> [Order; 4] {
    let [store, get] = [store(messages, bytes), get(messages, bytes)];
    [store.clone(), get.clone(), store.checked(), get.checked()]
}

fn run<E: Bulk + Send, W: Watch + Copy + Send>(
    ends: impl Iterator<Item = E>,
    orders: &[Order],
    plan: Option<&Plan>,
    watch: W,
) -> Outcomes {
    let lying = ends
        .zip(0..)
        .map(|(end, rank)| Lying::new(end, What::Transfers, plan.filter(|_| rank == 0).cloned()));
    carry_out(executors(lying.collect(), watch), orders)
}

/// Through shared memory, and in pieces through a channel.
fn over_both<W: Watch + Copy + Send>(
    orders: &[Order],
    plan: Option<&Plan>,
    watch: W,
) -> [Outcomes; 2] {
    let segment = Segment::create(2, 64).unwrap();
    let exposed = Exposed::create(2, EXPOSED).unwrap();
    let mapped = (0..2).map(|rank| {
        ShmEndpoint::attach(&segment, rank, 2).and_then(|e| e.exposing(exposed.clone())).unwrap()
    });
    let links = inproc::links(2, 64).into_iter();
    let linked = links.map(|link| Credited::new(link.exposing(EXPOSED), 16));
    [run(mapped, orders, plan, watch), run(linked, orders, plan, watch)]
}

fn assert_right(orders: &[Order]) {
    for outcomes in over_both(orders, None, PATIENT) {
        for (rank, outcomes) in outcomes.iter().enumerate() {
            for (order, outcome) in orders.iter().zip(outcomes) {
                let right = |outcome: &Outcome| outcome.wrong.is_none();
                assert!(outcome.as_ref().is_ok_and(right), "rank {rank}: {order:?}: {outcome:?}");
            }
            assert_eq!(outcomes.len(), orders.len());
        }
    }
}

#[test]
fn transfers_of_all_lengths_arrive() {
    let orders = [0, 1, 7, 8, 63, 64, 65, 4095, 4096, 4097, 70_001, 500_000].map(|bytes| {
        let most = if bytes > 100_000 { 1 } else { 5 };
        [both(1, bytes), both(most, bytes)].concat()
    });
    assert_right(&orders.concat());
}

/// Blocks of 64 KiB that fit: half of 1 MiB is sent from.
const PLACES: u32 = 8;

#[test]
fn a_burst_longer_than_the_region_goes_round_it() {
    // Less than a round, a round, a block more, several rounds; of blocks with room for one; of
    // none.
    let mut orders: Vec<Order> = [PLACES - 1, PLACES, PLACES + 1, 5 * PLACES + 3]
        .into_iter()
        .flat_map(|blocks| both(blocks, 1 << 16))
        .collect();
    orders.extend([both(3, 1 << 19), both(100, 0)].concat());
    assert_right(&orders);
    // Of 43 blocks the last 8 are still there to be compared; each has a word as well.
    let outcomes = over_both(&[get(5 * PLACES + 3, 1 << 16)], None, PATIENT);
    let checked = outcomes[0][0][0].as_ref().unwrap().checked;
    // Three samples of 43 blocks, of 43 words that say that they are there, and of a turn.
    assert_eq!((checked.received, checked.compared), (3 * (43 + 43 + 1), 3 * 8));
    assert_eq!(checked.summed, 3 * (43 + 1));
}

#[test]
fn a_byte_that_did_not_arrive_is_named_also_in_a_later_round() {
    // Blocks 0 to 18 arrive, of block 19 the last byte does not: in its place, 19 mod 8 = 3, it is
    // the one that block 11 left there. The batch goes on: the two samples after it are right.
    let order = get(20, 1 << 16);
    let plan = Plan::new(Fault::Flip, 19);
    for outcomes in over_both(std::slice::from_ref(&order), Some(&plan), PATIENT) {
        let outcome = outcomes[0][0].as_ref().unwrap();
        assert_eq!(outcome.stamps.len(), 9);
        let Some(Wrong { rank: 0, flaw: Flaw::Byte { from, message, bytes, first, .. } }) =
            outcome.wrong
        else {
            panic!("{outcome:?}");
        };
        assert_eq!((from, message, bytes, first), (Some(1), 19, 1 << 16, (1 << 16) - 1));
        assert!(outcomes[1][0].as_ref().unwrap().wrong.is_none());
    }
}

#[test]
fn a_block_longer_than_the_region_is_refused() {
    let len = EXPOSED / 2;
    assert_right(&[get(1, len)]);
    // The replier waits in vain.
    for outcomes in over_both(&[store(1, len + 1)], None, Impatient::NEW) {
        let Some(Err(Failed::Comm(refused))) = outcomes[0].first() else { panic!("{outcomes:?}") };
        assert!(
            matches!(refused, CommError::NotExposed { at: 0, len: found, .. } if *found == len + 1)
        );
    }
}
