//! The ring under the model checker: `RUSTFLAGS="--cfg loom" cargo test --test loom --release`.
//!
//! Each test runs the two sides in every order that the memory model allows, up to a number of
//! preemptions, and checks that requests arrive exactly once and in order with their words, that
//! each completes exactly once, in order, with its own reply or without, and that no slot is
//! written before it is free: an overwritten request would be missed, and its side wait for ever.
#![cfg(loom)]
#![allow(clippy::unwrap_used)]

use bandgap_comm::{HandlerId, Message};
use bandgap_shm::ring::{LocalCells, Receiver, Sender};

/// What one run does.
#[derive(Clone, Copy)]
struct Plan {
    slots: u64,
    /// Requests completed before the run begins.
    position: u64,
    /// For each request, whether its handler replies.
    replies: &'static [bool],
    /// Requests after which the receiver is dropped, so that it cannot poll again.
    leaves: bool,
}

fn check(plan: Plan) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || run(plan));
}

fn run(Plan { slots, position, replies, leaves }: Plan) {
    let cells = LocalCells::new(slots, position);
    let mut receiver = Receiver::new(cells.clone(), position);
    let mut sender = Sender::new(cells, position);
    let count = replies.len();
    let receiving = loom::thread::spawn(move || {
        let mut arrived = 0;
        while arrived < count {
            let handled = receiver
                .serve(|message| {
                    // In order, once, and the words that were sent.
                    let number = arrived as u64;
                    assert_eq!(message, Message::new(HandlerId(7), [number, !number]));
                    Ok(replies[arrived].then(|| Message::new(HandlerId(9), [number + 100])))
                })
                .unwrap();
            arrived += handled;
            if handled == 0 {
                loom::thread::yield_now();
            }
        }
        if !leaves {
            while receiver.unpublished() != 0 {
                let nothing = |_| -> Result<Option<Message>, _> { panic!("nothing was sent") };
                assert_eq!(receiver.serve(nothing).unwrap(), 0);
            }
        }
    });
    let mut sent = 0;
    let mut completed = 0;
    while completed < count {
        let number = sent as u64;
        if sent < count && sender.push(&Message::new(HandlerId(7), [number, !number])) {
            sent += 1;
        }
        assert!(sender.outstanding() <= slots);
        let mut replied = None;
        let more = sender
            .complete(|message| {
                replied = Some(message);
                Ok(())
            })
            .unwrap();
        match replied {
            Some(message) => {
                assert_eq!(more, 1);
                assert!(replies[completed], "request {completed} has no reply");
                assert_eq!(message, Message::new(HandlerId(9), [completed as u64 + 100]));
            }
            None => assert!(
                replies[completed..completed + more].iter().all(|reply| !reply),
                "a reply was lost"
            ),
        }
        completed += more;
        assert_eq!(sender.outstanding() as usize, sent - completed);
        if more == 0 {
            loom::thread::yield_now();
        }
    }
    receiving.join().unwrap();
}

#[test]
fn replies() {
    check(Plan { slots: 2, position: 0, replies: &[true; 3], leaves: false });
}

#[test]
fn no_replies() {
    check(Plan { slots: 2, position: 0, replies: &[false; 3], leaves: false });
}

/// With eight slots the counter is published each second time or when nothing arrives, so a reply
/// can overtake it.
#[test]
fn a_reply_after_requests_without() {
    check(Plan { slots: 8, position: 0, replies: &[false, true, false], leaves: false });
}

#[test]
fn a_request_without_reply_after_one_with() {
    check(Plan { slots: 8, position: 0, replies: &[true, false, true], leaves: false });
}

#[test]
fn the_smallest_ring_with_a_mixture() {
    check(Plan { slots: 2, position: 0, replies: &[false, true, false, true], leaves: false });
}

#[test]
fn a_receiver_that_leaves_says_what_it_handled() {
    check(Plan { slots: 8, position: 0, replies: &[true, false, false, false], leaves: true });
}

/// The sequence of request 2³¹ − 1 is 2³² = 0 modulo 2³², and that of the next is 2 again.
#[test]
fn sequences_wrap() {
    let position = (1 << 31) - 2;
    check(Plan { slots: 2, position, replies: &[true, false, true], leaves: false });
}
