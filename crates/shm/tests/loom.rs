//! The ring under the model checker: `RUSTFLAGS="--cfg loom" cargo test --profile loom --test loom`.
//!
//! Each test runs the two sides in every order that the memory model allows, up to a number of
//! preemptions, and checks that requests arrive exactly once and in order with their words, that
//! each completes exactly once, in order, with its own reply or without, and that no slot is
//! written before it is free: an overwritten request would be missed, and its side wait for ever.
#![cfg(loom)]
#![allow(clippy::unwrap_used)]

use bandgap_comm::{Deliver, HandlerId, Message, NoHandler};
use bandgap_shm::ring::{Lane, LocalCells, Receiver, Sender};

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

/// The sequence of request 2³⁰ ends in zeros, as that of request 0 does.
#[test]
fn sequences_grow_beyond_a_word() {
    let position = (1 << 30) - 2;
    check(Plan { slots: 2, position, replies: &[true, false, true], leaves: false });
}

/// What the two sides of a lane do: for each of their requests, whether it is replied to, and after
/// how many requests of the other side it is sent.
type Script = &'static [(bool, usize)];

/// One side: its script, the other's, and how far both are.
struct Side {
    own: Script,
    other: Script,
    sent: usize,
    served: usize,
    replied: usize,
    reply: Message,
}

impl Side {
    fn new(own: Script, other: Script) -> Self {
        let reply = Message::new(HandlerId(9), []);
        Self { own, other, sent: 0, served: 0, replied: 0, reply }
    }

    /// Sends what is due, then handles what has come, until all is done.
    fn play(mut self, mut lane: Lane<std::sync::Arc<LocalCells>>) {
        let replies = self.own.iter().filter(|(replies, _)| *replies).count();
        while self.sent < self.own.len()
            || self.served < self.other.len()
            || lane.outstanding() > 0
            || lane.unpublished() > 0
        {
            let mut moved = false;
            if self.own.get(self.sent).is_some_and(|(_, after)| *after <= self.served) {
                let request = Message::new(HandlerId(7), [self.sent as u64]);
                if lane.send(&request) {
                    self.sent += 1;
                    moved = true;
                }
            }
            let delivered = lane.progress(&mut self).unwrap();
            moved |= delivered.completed + delivered.served > 0;
            if !moved {
                loom::thread::yield_now();
            }
        }
        assert_eq!((self.served, self.replied), (self.other.len(), replies));
    }
}

impl Deliver for Side {
    fn request(&mut self, _: usize, message: Message) -> Result<Option<&Message>, NoHandler> {
        // In order and once, whichever way it came.
        assert_eq!(message, Message::new(HandlerId(7), [self.served as u64]));
        let (replies, _) = self.other[self.served];
        self.reply = Message::new(HandlerId(9), [self.served as u64]);
        self.served += 1;
        Ok(replies.then_some(&self.reply))
    }

    fn reply(&mut self, _: usize, message: Message) -> Result<(), NoHandler> {
        let due = self.own.iter().enumerate().filter(|(_, (replies, _))| *replies);
        let number = due.map(|(number, _)| number).nth(self.replied).unwrap();
        assert_eq!(message, Message::new(HandlerId(9), [number as u64]));
        self.replied += 1;
        Ok(())
    }
}

fn both_ways(slots: u64, here: Script, there: Script) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let (out, back) = (LocalCells::new(slots, 0), LocalCells::new(slots, 0));
        let lane = Lane::new(0, Sender::new(back.clone(), 0), Receiver::new(out.clone(), 0));
        let peer = loom::thread::spawn(move || Side::new(there, here).play(lane));
        let lane = Lane::new(1, Sender::new(out, 0), Receiver::new(back, 0));
        Side::new(here, there).play(lane);
        peer.join().unwrap();
    });
}

/// A request of the peer comes back in the slot of one without reply.
#[test]
fn a_request_goes_back_in_the_slot_of_another() {
    both_ways(16, &[(false, 0), (false, 1)], &[(false, 1)]);
}

#[test]
fn a_request_that_was_carried_gets_a_reply() {
    both_ways(16, &[(false, 0)], &[(true, 1), (false, 1)]);
}

/// Those in the ring were sent before, or after; the slot says nothing of that.
#[test]
fn a_request_that_was_carried_keeps_its_place() {
    both_ways(16, &[(false, 0)], &[(false, 0), (false, 1), (false, 1)]);
}

/// Requests that completed without anything coming back, before one that carries.
#[test]
fn a_carrier_is_not_taken_for_a_request_without_reply() {
    both_ways(16, &[(false, 0), (false, 0)], &[(false, 2)]);
}

#[test]
fn both_sides_carry_at_once() {
    both_ways(16, &[(false, 0), (false, 1)], &[(false, 0), (false, 1)]);
}
