//! Every kernel of the list with one message spoilt: checked batches find it, or end by the
//! deadline.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use crate::direct;
use crate::examples::examples;
use crate::harness::native::Native;
use crate::harness::spoilt::{Fault, Lying, Plan, What, hook};
use crate::harness::{Impatient, Outcomes, PATIENT, carry_out, executors, links};
use bandgap_comm::{Credited, Watch};
use bandgap_kernels::{Buffers, Fact, Failed, Order, Outcome, Over, Pair, PingPong, fact, facts};

const SIZE: usize = 4;
const SAMPLES: u32 = 3;

/// What the ranks found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    /// Some wait was in vain, or a peer sent what no peer may send.
    Error,
    /// Some rank says what was wrong.
    Wrong,
}

fn found(outcomes: &Outcomes) -> Found {
    let all = || outcomes.iter().flatten();
    let is_wrong = |outcome: &Result<Outcome, Failed>| match outcome {
        Ok(outcome) => outcome.wrong.is_some(),
        Err(failed) => matches!(failed, Failed::Wrong(_)),
    };
    if all().any(is_wrong) {
        Found::Wrong
    } else if all().any(Result::is_err) {
        Found::Error
    } else {
        Found::Nothing
    }
}

fn over_endpoints<W: Watch + Copy + Send>(
    order: &Order,
    liar: usize,
    what: What,
    plan: Option<Plan>,
    watch: W,
) -> Found {
    let endpoints = links(SIZE, 1 << 18).into_iter().enumerate().map(|(rank, link)| {
        Lying::new(Credited::new(link, 16), what, plan.clone().filter(|_| rank == liar))
    });
    found(&carry_out(executors(endpoints.collect(), watch), std::slice::from_ref(order)))
}

/// Runs an order with the messages of rank `liar` spoilt by `plan`, over endpoints or, without a `What`, over none. A bit
/// keeps nobody waiting; whoever waits for another fault waits in vain.
fn run(what: Option<What>, order: &Order, liar: usize, plan: Option<Plan>) -> Found {
    match (what, plan.as_ref().map(|plan| plan.fault)) {
        (None, _) => native(order, liar, plan),
        (Some(what), None | Some(Fault::Flip)) => over_endpoints(order, liar, what, plan, PATIENT),
        (Some(what), _) => over_endpoints(order, liar, what, plan, Impatient::NEW),
    }
}

fn native(order: &Order, liar: usize, plan: Option<Plan>) -> Found {
    let patience = match plan.as_ref().map(|plan| plan.fault) {
        None | Some(Fault::Flip) => Duration::from_secs(60),
        Some(_) => Duration::from_millis(20),
    };
    let ranks = direct::ranks(SIZE, 0).into_iter().enumerate().map(|(rank, mut direct)| {
        direct.patience = patience;
        let plan = plan.clone().filter(|_| rank == liar);
        direct.hook = plan.map(|plan| hook(plan, SIZE));
        Native::new(direct)
    });
    found(&carry_out(ranks.collect::<Vec<_>>(), std::slice::from_ref(order)))
}

fn runs(over: Over) -> &'static [Option<What>] {
    match over {
        Over::Am => &[Some(What::Words)],
        Over::Transfer => &[Some(What::Words), Some(What::Transfers)],
        Over::Comm => &[Some(What::Passing), None],
        Over::Bare => &[],
    }
}

/// Whether its messages have content that can be spoilt.
fn has_content(fact: &Fact, order: &Order) -> bool {
    let needs = (fact.needs)(order, SIZE).unwrap();
    needs.words > 0 || needs.bytes > 0
}

#[test]
fn every_fault_of_every_kernel_is_found_in_a_checked_batch() {
    // Most of the time ranks wait in vain.
    let next = Mutex::new(facts().into_iter());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(fact) = { next.lock().unwrap().next() } {
                    every_fault_is_found(&fact);
                }
            });
        }
    });
}

fn every_fault_is_found(fact: &Fact) {
    // By fault: how often it happened, and how often somebody said what was wrong.
    let mut seen: BTreeMap<Fault, [u32; 2]> = BTreeMap::new();
    let examples: Vec<Order> = examples(fact, SIZE, SAMPLES);
    for order in examples.iter().map(|order| order.clone().checked()) {
        let [timed, other] = (fact.timed)(&order, SIZE).unwrap();
        for &over in runs(fact.over) {
            for fault in Fault::ALL {
                for liar in [timed, other] {
                    let plan = Plan::new(fault, 1);
                    let found = run(over, &order, liar, Some(plan.clone()));
                    let what = format!("{fault:?} at rank {liar}: {order:?}");
                    if !plan.has_happened() {
                        // Under load an impatient rank may give up before.
                        assert_ne!(found, Found::Wrong, "{what}");
                        continue;
                    }
                    assert_ne!(found, Found::Nothing, "{what}");
                    assert!(fault != Fault::Flip || found == Found::Wrong, "{what}");
                    let [happened, said] = seen.entry(fault).or_default();
                    *happened += 1;
                    *said += u32::from(found == Found::Wrong);
                }
            }
        }
    }
    let content = examples.iter().any(|order| has_content(fact, order));
    for fault in Fault::ALL.into_iter().filter(|f| content || f.without_content()) {
        let [happened, said] = seen.get(&fault).copied().unwrap_or_default();
        assert!(happened > 0, "{} {fault:?}", fact.name);
        // Not by the deadline only.
        let told = matches!(fault, Fault::Repeat | Fault::Flip);
        assert!(!told || said > 0, "{} {fault:?}", fact.name);
    }
}

#[test]
fn every_spoilt_reply_is_found_in_a_checked_batch() {
    let mut spoilt: BTreeMap<&str, BTreeSet<Fault>> = BTreeMap::new();
    for fact in facts().into_iter().filter(|fact| fact.over != Over::Comm) {
        for order in examples(&fact, SIZE, SAMPLES).into_iter().map(Order::checked) {
            for (fault, liar) in Fault::ALL.into_iter().flat_map(|f| (0..SIZE).map(move |l| (f, l)))
            {
                let plan = Plan::new(fault, 1);
                let found = run(Some(What::Replies), &order, liar, Some(plan.clone()));
                if plan.has_happened() {
                    assert_eq!(found, Found::Wrong, "{fault:?} at rank {liar}: {order:?}");
                    spoilt.entry(fact.name).or_default().insert(fault);
                }
            }
        }
    }
    // A stream has no replies.
    let kernels: Vec<&str> = spoilt.keys().copied().collect();
    assert_eq!(kernels, ["burst", "fan_in", "get", "ping_pong", "store"]);
    assert!(spoilt.values().all(|faults| faults.len() == Fault::ALL.len()), "{spoilt:?}");
}

#[test]
fn without_a_fault_nothing_is_found() {
    for fact in facts() {
        for order in examples(&fact, SIZE, SAMPLES) {
            for &over in runs(fact.over) {
                for order in [order.clone(), order.clone().checked()] {
                    assert_eq!(run(over, &order, 0, None), Found::Nothing, "{order:?}");
                }
            }
        }
    }
}

#[test]
fn a_timed_batch_finds_a_changed_word_anywhere_and_changed_bytes_of_its_last_message() {
    let pair = Pair::FIRST;
    let order = Order::of(&PingPong { pair, messages: 10 }, SAMPLES, SIZE);
    for nth in [0, 13, 29] {
        let plan = Plan::new(Fault::Flip, nth);
        assert_eq!(run(Some(What::Words), &order, 0, Some(plan.clone())), Found::Wrong);
        assert!(plan.has_happened());
    }
    let messages =
        bandgap_kernels::Comms1 { pair, messages: 10, bytes: 20, buffers: Buffers::default() };
    let order = Order::of(&messages, SAMPLES, SIZE);
    assert!((fact(&order.kernel).unwrap().check)(&order, SIZE).is_ok());
    for &over in runs(Over::Comm) {
        let flip = |order: &Order, nth| run(over, order, 0, Some(Plan::new(Fault::Flip, nth)));
        assert_eq!(flip(&order, 29), Found::Wrong);
        // A timed batch only counts earlier messages; checked batches compare them.
        assert_eq!(flip(&order, 13), Found::Nothing);
        assert_eq!(flip(&order.clone().checked(), 13), Found::Wrong);
    }
}
