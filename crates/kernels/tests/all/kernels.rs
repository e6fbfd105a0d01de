//! Every kernel of the list, executed by threads: whole, verified, and on some of the ranks.

use std::collections::BTreeSet;

use crate::direct;
use crate::examples::examples;
use crate::harness::native::Native;
use crate::harness::{
    Obeys, Outcomes, PATIENT, WallClock, carry_out, executors, in_process, over_shared_memory,
};
use crate::inproc;
use bandgap_comm::passing::{INLINE, Way};
use bandgap_comm::{CommError, Credited, Waiting};
use bandgap_kernels::{
    Buffers, Comms1, Executor, Fact, Failed, ISSUE, Order, Outcome, Over, Pair, WHOLE, facts,
};

const SAMPLES: u32 = 4;

/// Orders of every kernel for the first `ranks` ranks, timed and checked.
fn orders(ranks: usize) -> Vec<(Fact, Order)> {
    let of = |fact: Fact| {
        let examples = examples(&fact, ranks, SAMPLES).into_iter();
        examples.flat_map(move |order| [(fact, order.clone()), (fact, order.checked())])
    };
    facts().into_iter().flat_map(of).collect()
}

fn whole(outcomes: &Outcomes, at: usize, what: &Order) -> Vec<Outcome> {
    let of = |rank: &Vec<Result<Outcome, _>>| match rank.get(at) {
        Some(Ok(outcome)) => outcome.clone(),
        other => panic!("{what:?}: {other:?}"),
    };
    outcomes.iter().map(of).collect()
}

fn verify(size: usize, fact: &Fact, order: &Order, ranks: &[Outcome]) {
    let [timed, _] = (fact.timed)(order, size).unwrap();
    let mut stamps: Vec<_> = ranks.iter().map(|outcome| outcome.stamps.clone()).collect();
    let samples = (fact.samples)(order, size, &stamps).unwrap();
    for outcome in ranks {
        assert_eq!(outcome.wrong, None, "{order:?}");
        let checked = outcome.checked;
        assert!(checked.compared + checked.summed <= checked.received, "{order:?} {checked:?}");
        if order.checked {
            assert_eq!(checked.compared, checked.received, "{order:?}");
        }
    }
    assert!(ranks[order.ranks..].iter().all(|idle| *idle == Outcome::default()), "{order:?}");
    if order.checked {
        return;
    }
    let issue = samples.column(ISSUE);
    // Of each pair of a round, where several pairs work at once.
    let each = SAMPLES as usize;
    assert!(!issue.is_empty() && issue.len().is_multiple_of(each), "{order:?}");
    assert!(issue.iter().zip(samples.column(WHOLE)).all(|(i, w)| i <= w), "{order:?}");
    // Without the timed rank's stamps there are no samples.
    stamps[timed].clear();
    let others = (fact.samples)(order, size, &stamps).unwrap();
    assert_eq!(others.column(ISSUE).len(), issue.len() - each, "{order:?}");
}

/// Carries the orders out and verifies all outcomes.
fn verify_all(
    size: usize,
    ranks: Vec<impl Obeys>,
    orders: impl IntoIterator<Item = (Fact, Order)>,
) {
    let (facts, orders): (Vec<_>, Vec<_>) = orders.into_iter().unzip();
    let outcomes = carry_out(ranks, &orders);
    for (at, (fact, order)) in facts.iter().zip(&orders).enumerate() {
        verify(size, fact, order, &whole(&outcomes, at, order));
    }
}

#[test]
fn every_kernel_runs_and_verifies_its_messages_on_one_to_four_ranks() {
    for size in 1..=4 {
        verify_all(size, in_process(size), orders(size));
        let run: BTreeSet<&str> = orders(size).iter().map(|(fact, _)| fact.name).collect();
        // Contention takes four ranks.
        let all = bandgap_kernels::facts().len() - usize::from(size < 4);
        assert!(size < 2 || run.len() == all, "{size}: {run:?}");
    }
}

#[test]
fn every_kernel_runs_over_shared_memory() {
    const SIZE: usize = 3;
    verify_all(SIZE, executors(over_shared_memory(SIZE), PATIENT), orders(SIZE));
}

#[test]
fn an_order_names_the_way_of_its_messages_and_each_rank_says_which_it_took() {
    const SIZE: usize = 2;
    let single = Way::Single { least: INLINE + 1 };
    let comm = || orders(SIZE).into_iter().filter(|(fact, _)| fact.over == Over::Comm);
    // One after the other, so that a way that stays where it should not is seen.
    let each = |(fact, order): (Fact, Order)| {
        let ways = [Some(single), None, Some(Way::Pieces)];
        ways.map(|way| (fact, Order { way, ..order.clone() }))
    };
    let (facts, orders): (Vec<_>, Vec<_>) = comm().flat_map(each).unzip();
    let took = |outcomes: &Outcomes, can: bool| {
        for (at, (fact, order)) in facts.iter().zip(&orders).enumerate() {
            let outcomes = whole(outcomes, at, order);
            verify(SIZE, fact, order, &outcomes);
            let way = order.way.filter(|_| can).unwrap_or_default();
            assert!(outcomes.iter().all(|outcome| outcome.way == way), "{order:?}");
        }
    };
    took(&carry_out(executors(over_shared_memory(SIZE), PATIENT), &orders), true);
    took(&carry_out(in_process(SIZE), &orders), false);
    let native = direct::ranks(SIZE, 0).into_iter().map(Native::new).collect::<Vec<_>>();
    took(&carry_out(native, &orders), false);
}

#[test]
fn ranks_without_exposed_memory_run_what_needs_none() {
    let executor = |link| {
        let end = Credited::new(link, 8);
        Executor::new(end, None, Waiting::Yield, PATIENT, WallClock::new()).unwrap()
    };
    let ranks = |size| inproc::links(size, 64).into_iter().map(executor).collect::<Vec<_>>();
    let short = |fact: &Fact, order: &Order| {
        let needs = (fact.needs)(order, 3).unwrap();
        needs.exposed == 0 && needs.bytes <= INLINE
    };
    verify_all(3, ranks(3), orders(3).into_iter().filter(|(fact, order)| short(fact, order)));
    // A longer message has no way.
    let long =
        Comms1 { pair: Pair::FIRST, messages: 1, bytes: INLINE + 1, buffers: Buffers::default() };
    let outcomes = carry_out(ranks(2), &[Order::of(&long, 1, 2)]);
    assert!(outcomes.iter().any(|rank| {
        matches!(rank[0], Err(Failed::Comm(CommError::NotExposed { exposed: 0, .. })))
    }));
}

#[test]
fn ranks_that_take_no_part_are_idle_and_the_others_do_not_need_them() {
    // Orders for 2 of 4 ranks, and between them orders for all.
    let mixed = orders(2).into_iter().zip(orders(4)).flat_map(|(two, four)| [two, four]);
    verify_all(4, in_process(4), mixed);
}

#[test]
fn a_message_passing_without_active_messages_is_verified_by_the_same_code() {
    for size in 1..=4 {
        let comm = orders(size).into_iter().filter(|(fact, _)| fact.over == Over::Comm);
        verify_all(size, direct::ranks(size, 0).into_iter().map(Native::new).collect(), comm);
    }
}
