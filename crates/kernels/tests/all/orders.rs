//! Orders as bytes, and those that are refused.

use crate::examples::examples;
use crate::harness::{carry_out, in_process};
use bandgap_comm::{CommError, Rank, Timer, Watch};
use bandgap_kernels::{
    AtSize, Buffers, Comms1, Comms2, Executor, Failed, Order, Outcome, Pair, PingPong, fact, facts,
    program,
};
use bandgap_sim::Recorder;
use serde_json::json;

fn ping_pong() -> Order {
    Order::of(&PingPong { pair: Pair::FIRST, messages: 3 }, 2, 2)
}

fn comms1(messages: u32, bytes: usize) -> Order {
    let (pair, buffers) = (Pair::FIRST, Buffers::default());
    Order::of(&Comms1 { pair, messages, bytes, buffers }, 1, 2)
}

fn encode(order: &Order) -> Vec<u8> {
    serde_json::to_vec(order).unwrap()
}

fn decode(letter: &[u8]) -> Order {
    serde_json::from_slice(letter).unwrap()
}

#[test]
fn every_order_survives_its_encoding() {
    for order in facts().iter().flat_map(|fact| examples(fact, 4, 7)) {
        for order in [order.clone(), order.clone().checked(), order.probed()] {
            assert_eq!(decode(&encode(&order)), order);
        }
    }
}

#[test]
fn a_kernel_that_messages_of_a_size_do_not_make_says_so() {
    let at = AtSize::of(8, 3, 4);
    for fact in facts() {
        match (fact.at)(at, 2, 4) {
            Ok(order) => (fact.check)(&order, 4).unwrap(),
            Err(refused) => {
                assert!(fact.series.is_empty(), "{}", fact.name);
                assert!(refused.to_string().contains(fact.name), "{refused}");
            }
        }
    }
}

/// What is wrong with an order of 4 ranks' run, as everybody says who is asked.
fn refusal(order: &Order) -> String {
    let asked = match fact(&order.kernel) {
        Ok(fact) => (fact.check)(order, 4).unwrap_err(),
        Err(unknown) => unknown,
    };
    let outcomes = carry_out(in_process(4), std::slice::from_ref(order));
    for outcome in outcomes {
        let Some(Err(Failed::Refused(refused))) = outcome.first() else { panic!("{outcome:?}") };
        assert_eq!(refused, &asked);
    }
    assert_eq!(asked.kernel, order.kernel);
    asked.to_string()
}

#[test]
fn one_array_cannot_travel_both_ways_at_once() {
    let (pair, messages, bytes) = (Pair::FIRST, 3, 100);
    let of = |buffers| Order::of(&Comms2 { pair, messages, bytes, buffers }, 2, 4);
    assert!(refusal(&of(Buffers::Same)).contains("separate"));
    let huge = Buffers::Fresh { ring: usize::MAX };
    assert!(refusal(&of(huge)).contains("18446744073709551615"));
    let huge = Comms1 { pair, messages, bytes, buffers: huge };
    assert!(refusal(&Order::of(&huge, 2, 4)).contains("18446744073709551615"));
    // An order that does not say has separate ones.
    let mut order = of(Buffers::Separate);
    order.parameters.as_object_mut().unwrap().remove("buffers");
    assert_eq!(order.kernel::<Comms2>(4).unwrap().buffers, Buffers::Separate);
}

#[test]
fn orders_that_cannot_be_carried_out_say_what_is_wrong() {
    let named = Order { kernel: "pingpong".into(), ..ping_pong() };
    let text = refusal(&named);
    assert!(
        text.contains("\"pingpong\"") && text.contains("ping_pong, request_stream, store"),
        "{text}"
    );
    let with = |parameters| Order { parameters, ..ping_pong() };
    for (order, what) in [
        (with(json!({"messages": 3})), "`pair`"),
        (with(json!(7)), "7"),
        (with(json!({"pair": {"requester": 0, "replier": 1}, "messages": -1})), "-1"),
        (with(json!({"pair": {"requester": 0, "replier": 9}, "messages": 1})), "9"),
        (with(json!({"pair": {"requester": 0, "replier": 1}, "messages": 0})), "0"),
        (Order { ranks: 5, ..ping_pong() }, "5"),
        (Order { ranks: 0, ..ping_pong() }, "0"),
        (Order { ranks: 1, ..ping_pong() }, "1"),
        (Order { samples: 0, ..ping_pong() }, "0"),
        (Order { samples: u32::MAX, ..ping_pong() }, "4294967295"),
    ] {
        let text = refusal(&order);
        assert!(text.contains("\"ping_pong\"") && text.contains(what), "{what}: {text}");
    }
    assert!(refusal(&comms1(1, usize::MAX)).contains("1073741824"));
}

#[test]
fn a_batch_too_large_to_be_checked_is_refused_before_anything_is_allotted() {
    let large = comms1(1000, 1 << 20);
    let check = |order: &Order| (fact(&order.kernel).unwrap().check)(order, 4);
    assert!(check(&large).is_ok());
    let text = refusal(&large.checked());
    assert!(text.contains("2000") && text.contains("1048576"), "{text}");
    // A single message has a place of its own in any batch.
    assert!(check(&comms1(1, 1 << 30).checked()).is_ok());
    let words = Order::of(&PingPong { pair: Pair::FIRST, messages: 1 << 23 }, 1, 2);
    assert!(check(&words).is_ok());
    assert!(refusal(&words.checked()).contains("8388608"));
    assert!(program::<Recorder>(&Order { ranks: 1, ..ping_pong() }).is_err());
}

/// Rank 0 sends `orders` to the others as letters, and collects what they have.
fn lead<E: bandgap_comm::Bulk, T: Timer, W: Watch>(
    executor: &mut Executor<E, T, W>,
    followers: std::ops::Range<Rank>,
    orders: &[Order],
) -> Vec<Vec<Vec<u64>>> {
    let mut all = Vec::new();
    for order in orders {
        for follower in followers.clone() {
            executor.post(follower, &encode(order)).unwrap();
        }
        let own = executor.execute(order).unwrap();
        let mut stamps = vec![own.stamps];
        for follower in followers.clone() {
            let letter = executor.letter(follower).unwrap();
            let outcome: Outcome = serde_json::from_slice(&letter).unwrap();
            assert_eq!(outcome.wrong, None);
            stamps.push(outcome.stamps);
        }
        all.push(stamps);
    }
    followers.clone().for_each(|follower| executor.post(follower, b"").unwrap());
    executor.active().settle().unwrap();
    all
}

fn follow<E: bandgap_comm::Bulk, T: Timer, W: Watch>(
    executor: &mut Executor<E, T, W>,
) -> Result<(), CommError> {
    loop {
        let letter = executor.letter(0)?;
        if letter.is_empty() {
            return executor.active().settle();
        }
        let outcome = executor.execute(&decode(&letter)).unwrap();
        executor.post(0, &serde_json::to_vec(&outcome).unwrap())?;
    }
}

#[test]
fn a_leader_sends_orders_and_followers_their_outcomes() {
    let orders: Vec<Order> = facts().iter().flat_map(|fact| examples(fact, 3, 2)).collect();
    let mut ranks = in_process(3);
    let leader = ranks.remove(0);
    let all = &orders;
    let stamps = std::thread::scope(move |scope| {
        // Here, so that followers do not wait for a leader that failed.
        let mut leader = leader;
        let follower = |mut follower| {
            scope.spawn(move || {
                follow(&mut follower).unwrap();
                follower
            })
        };
        let followers: Vec<_> = ranks.into_iter().map(follower).collect();
        let stamps = lead(&mut leader, 1..3, all);
        // A rank that ends is gone: each is kept until all have ended.
        let _ended: Vec<_> = followers.into_iter().map(|rank| rank.join().unwrap()).collect();
        stamps
    });
    for (order, stamps) in orders.iter().zip(&stamps) {
        let samples = (fact(&order.kernel).unwrap().samples)(order, 3, stamps).unwrap();
        assert_eq!(samples.column(bandgap_kernels::ISSUE).len(), 2, "{order:?}");
    }
}
