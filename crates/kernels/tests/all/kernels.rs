//! Every kernel of the list, executed by threads: whole, verified, and on some of the ranks.

use crate::harness::native::Native;
use crate::harness::{Outcomes, PATIENT, TUNING, WallClock, carry_out, executors, in_process};
use bandgap_comm::passing::INLINE;
use bandgap_comm::{CommError, Credited, Waiting, direct, inproc};
use bandgap_kernels::{
    Comms1, Executor, Fact, Failed, ISSUE, Order, Outcome, Over, Pair, WHOLE, facts,
};
use bandgap_shm::{Exposed, Segment, ShmEndpoint};

const SAMPLES: u32 = 4;

/// Orders of every kernel for the first `ranks` ranks, timed and checked.
fn orders(ranks: usize) -> Vec<(Fact, Order)> {
    let examples = |fact: Fact| {
        let examples = (fact.examples)(ranks, SAMPLES).into_iter();
        examples.flat_map(move |order| [(fact, order.clone()), (fact, order.checked())])
    };
    facts().into_iter().flat_map(examples).collect()
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
    assert_eq!(issue.len(), SAMPLES as usize, "{order:?}");
    assert!(issue.iter().zip(samples.column(WHOLE)).all(|(i, w)| i <= w), "{order:?}");
    // Without the timed rank's stamps there are no samples.
    stamps[timed].clear();
    assert!((fact.samples)(order, size, &stamps).unwrap().column(ISSUE).is_empty());
}

#[test]
fn every_kernel_runs_and_verifies_its_messages_on_one_to_four_ranks() {
    for size in 1..=4 {
        let (facts, orders): (Vec<_>, Vec<_>) = orders(size).into_iter().unzip();
        let outcomes = carry_out(in_process(size), &orders);
        for (at, (fact, order)) in facts.iter().zip(&orders).enumerate() {
            verify(size, fact, order, &whole(&outcomes, at, order));
        }
        let run = facts.iter().map(|fact| fact.name).collect::<std::collections::BTreeSet<_>>();
        assert!(size < 2 || run.len() == bandgap_kernels::facts().len(), "{size}: {run:?}");
    }
}

#[test]
fn every_kernel_runs_over_shared_memory() {
    const SIZE: usize = 3;
    let segment = Segment::create(SIZE, 64).unwrap();
    let exposed = Exposed::create(SIZE, TUNING.memory(SIZE).max(1 << 19)).unwrap();
    let endpoints = (0..SIZE).map(|rank| {
        let endpoint = ShmEndpoint::attach(&segment, rank, SIZE).unwrap();
        endpoint.exposing(exposed.clone()).unwrap()
    });
    let (facts, orders): (Vec<_>, Vec<_>) = orders(SIZE).into_iter().unzip();
    let outcomes = carry_out(executors(endpoints.collect(), PATIENT), &orders);
    for (at, (fact, order)) in facts.iter().zip(&orders).enumerate() {
        verify(SIZE, fact, order, &whole(&outcomes, at, order));
    }
}

#[test]
fn ranks_without_exposed_memory_run_what_needs_none() {
    let links = inproc::links(3, 64).into_iter().map(|link| Credited::new(link, 8));
    let executor = |end| Executor::new(end, None, Waiting::Yield, PATIENT, WallClock::new());
    let ranks: Vec<_> = links.map(|end| executor(end).unwrap()).collect();
    let short = |fact: &Fact, order: &Order| {
        let needs = (fact.needs)(order, 3).unwrap();
        needs.exposed == 0 && needs.bytes <= INLINE
    };
    let all = orders(3).into_iter().filter(|(fact, order)| short(fact, order));
    let (facts, orders): (Vec<_>, Vec<_>) = all.unzip();
    let outcomes = carry_out(ranks, &orders);
    for (at, (fact, order)) in facts.iter().zip(&orders).enumerate() {
        verify(3, fact, order, &whole(&outcomes, at, order));
    }
    // A longer message has no way.
    let links = inproc::links(2, 64).into_iter().map(|link| Credited::new(link, 8));
    let ranks: Vec<_> = links.map(|end| executor(end).unwrap()).collect();
    let long = Comms1 { pair: Pair::FIRST, messages: 1, bytes: INLINE + 1 };
    let outcomes = carry_out(ranks, &[Order::of(&long, 1, 2)]);
    assert!(outcomes.iter().any(|rank| {
        matches!(rank[0], Err(Failed::Comm(CommError::NotExposed { exposed: 0, .. })))
    }));
}

#[test]
fn ranks_that_take_no_part_are_idle_and_the_others_do_not_need_them() {
    // Orders for 2 of 4 ranks, and between them orders for all.
    let mixed: Vec<(Fact, Order)> =
        orders(2).into_iter().zip(orders(4)).flat_map(|(two, four)| [two, four]).collect();
    let (facts, orders): (Vec<_>, Vec<_>) = mixed.into_iter().unzip();
    let outcomes = carry_out(in_process(4), &orders);
    for (at, (fact, order)) in facts.iter().zip(&orders).enumerate() {
        verify(4, fact, order, &whole(&outcomes, at, order));
    }
}

#[test]
fn a_message_passing_without_active_messages_is_verified_by_the_same_code() {
    for size in 1..=4 {
        let comm = orders(size).into_iter().filter(|(fact, _)| fact.over == Over::Comm);
        let (facts, orders): (Vec<_>, Vec<_>) = comm.unzip();
        let ranks = direct::ranks(size, 0).into_iter().map(Native::new).collect::<Vec<_>>();
        let outcomes = carry_out(ranks, &orders);
        for (at, (fact, order)) in facts.iter().zip(&orders).enumerate() {
            verify(size, fact, order, &whole(&outcomes, at, order));
        }
    }
}
