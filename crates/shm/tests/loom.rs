//! The ring under the model checker: `RUSTFLAGS="--cfg loom" cargo test --profile loom --test loom`.
//!
//! Each test runs the two sides in every order that the memory model allows, up to a number of
//! preemptions, and checks that requests arrive exactly once and in order with their words, that
//! each completes exactly once, in order, with its own reply or without, and that no slot is
//! written before it is free: an overwritten request would be missed, and its side wait for ever.
#![cfg(loom)]
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::sync::Arc;

use bandgap_comm::{Deliver, HandlerId, Message, NoHandler, Posted};
use bandgap_shm::ring::{Delivered, Lane, Lanes, LocalCells, Receiver, Sender};

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

type Ring = Arc<LocalCells>;

/// The rings of a rank to one peer, or to several.
trait Rings {
    fn send(&mut self, message: Message) -> bool;
    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> usize;
    fn outstanding(&self) -> usize;
    fn unpublished(&self) -> usize;
}

impl Rings for Lane<Ring> {
    fn send(&mut self, message: Message) -> bool {
        Lane::send(self, &message)
    }

    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        let Delivered { completed, served } = Lane::progress(self, deliver).unwrap();
        completed + served
    }

    fn outstanding(&self) -> usize {
        Lane::outstanding(self)
    }

    fn unpublished(&self) -> usize {
        Lane::unpublished(self)
    }
}

/// As an endpoint between two ranks has them, with its fast path.
impl Rings for Lanes<Ring> {
    fn send(&mut self, message: Message) -> bool {
        self.try_request(1 - self.rank(), message).unwrap() == Posted::Yes
    }

    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        Lanes::progress(self, deliver).unwrap()
    }

    fn outstanding(&self) -> usize {
        Lanes::outstanding(self)
    }

    fn unpublished(&self) -> usize {
        Lanes::unpublished(self)
    }
}

/// One side: its script, the other's, and how far both are.
struct Side {
    own: Script,
    other: Script,
    sent: usize,
    served: usize,
    replied: usize,
    reply: Message,
    /// Whether it leaves without looking whether the other knows of everything.
    leaves: bool,
}

impl Side {
    fn new(own: Script, other: Script, leaves: bool) -> Self {
        let reply = Message::new(HandlerId(9), []);
        Self { own, other, sent: 0, served: 0, replied: 0, reply, leaves }
    }

    /// Sends what is due, then handles what has come. Returns whether there was anything.
    fn step(&mut self, rings: &mut impl Rings) -> bool {
        let mut moved = false;
        if self.own.get(self.sent).is_some_and(|(_, after)| *after <= self.served) {
            let sent = rings.send(Message::new(HandlerId(7), [self.sent as u64]));
            self.sent += usize::from(sent);
            moved = sent;
        }
        rings.progress(self) > 0 || moved
    }

    /// Whether all is sent, handled, and complete; on the other side too, unless this one leaves.
    fn is_done(&self, rings: &impl Rings) -> bool {
        self.sent == self.own.len()
            && self.served == self.other.len()
            && rings.outstanding() == 0
            && (self.leaves || rings.unpublished() == 0)
    }

    fn play(mut self, mut rings: impl Rings) {
        while !self.is_done(&rings) {
            if !self.step(&mut rings) {
                loom::thread::yield_now();
            }
        }
        let replies = self.own.iter().filter(|(replies, _)| *replies).count();
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

/// Two ranks that play.
#[derive(Clone, Copy)]
struct Both {
    slots: u64,
    /// Requests completed in each direction before the run begins. Those of rank 1 were all carried:
    /// its ring was never written to.
    position: u64,
    /// Requests that go there and come back before both sides move at once.
    exchanged: u64,
    /// Whether rank 1 leaves when it has done its part.
    leaves: bool,
    here: Script,
    there: Script,
}

impl Both {
    const fn new(slots: u64, here: Script, there: Script) -> Self {
        Self { slots, position: 0, exchanged: 0, leaves: false, here, there }
    }

    fn at(self, position: u64) -> Self {
        Self { position, ..self }
    }

    fn after(self, exchanged: u64) -> Self {
        Self { exchanged, ..self }
    }

    fn leaving(self) -> Self {
        Self { leaves: true, ..self }
    }

    /// Plays over a lane, and over what an endpoint has.
    fn play(self) {
        self.over(|peer, sender, receiver| Lane::new(peer, sender, receiver));
        self.over(|peer, sender, receiver| {
            let lane = Cell::new(Some(Lane::new(peer, sender, receiver)));
            Lanes::new(1 - peer, 2, |_| lane.take().unwrap())
        });
    }

    fn over<R: Rings + Send + 'static>(
        self,
        rings: impl Fn(usize, Sender<Ring>, Receiver<Ring>) -> R + Send + Sync + 'static,
    ) {
        let Self { slots, position, exchanged, leaves, here, there } = self;
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            let out = LocalCells::new(slots, position);
            let back = LocalCells::unwritten(slots, position);
            let side = |peer, own: &Ring, other: &Ring| {
                let sender = Sender::new(own.clone(), position);
                rings(peer, sender, Receiver::new(other.clone(), position))
            };
            let (mut first, mut second) = (side(1, &out, &back), side(0, &back, &out));
            for number in 0..exchanged {
                let message = Message::new(HandlerId(5), [number]);
                for (from, to) in [(0, 1), (1, 0)] {
                    let ends: [&mut R; 2] = match (from, to) {
                        (0, 1) => [&mut first, &mut second],
                        _ => [&mut second, &mut first],
                    };
                    let [from, to] = ends;
                    assert!(from.send(message));
                    let mut came = Quiet(Vec::new());
                    to.progress(&mut came);
                    assert_eq!(came.0, [message]);
                }
            }
            let peer = loom::thread::spawn(move || Side::new(there, here, leaves).play(second));
            Side::new(here, there, false).play(first);
            peer.join().unwrap();
        });
    }
}

/// Keeps requests, and replies to none.
struct Quiet(Vec<Message>);

impl Deliver for Quiet {
    fn request(&mut self, _: usize, message: Message) -> Result<Option<&Message>, NoHandler> {
        self.0.push(message);
        Ok(None)
    }

    fn reply(&mut self, _: usize, _: Message) -> Result<(), NoHandler> {
        panic!("nothing replied")
    }
}

/// A request of the peer comes back in the slot of one without reply.
#[test]
fn a_request_goes_back_in_the_slot_of_another() {
    Both::new(16, &[(false, 0), (false, 1)], &[(false, 1)]).play();
}

#[test]
fn a_request_that_was_carried_gets_a_reply() {
    Both::new(16, &[(false, 0)], &[(true, 1), (false, 1)]).play();
}

/// Those in the ring were sent before, or after; the slot says nothing of that.
#[test]
fn a_request_that_was_carried_keeps_its_place() {
    Both::new(16, &[(false, 0)], &[(false, 0), (false, 1), (false, 1)]).play();
}

/// Requests that completed without anything coming back, before one that carries.
#[test]
fn a_carrier_is_not_taken_for_a_request_without_reply() {
    Both::new(16, &[(false, 0), (false, 0)], &[(false, 2)]).play();
}

#[test]
fn both_sides_carry_at_once() {
    Both::new(16, &[(false, 0), (false, 1)], &[(false, 0), (false, 1)]).play();
}

/// After the completion whose number is a multiple of eight, the fast path looks for a request.
#[test]
fn a_request_has_its_turn_after_a_reply() {
    Both::new(16, &[(true, 0), (true, 0)], &[(false, 0), (true, 1)]).at(7).play();
}

/// The slots that the requests get held carried ones before.
#[test]
fn slots_are_used_again_after_a_carry() {
    let here = &[(false, 0), (true, 1), (false, 1)];
    Both::new(8, here, &[(false, 1), (false, 2)]).after(8).play();
    Both::new(8, here, &[(true, 1), (false, 2)]).after(13).play();
}

/// Rank 1 carries where its own slots, which were never written to, would be those of positions
/// whose lower bits are 0.
#[test]
fn carried_requests_go_past_a_word() {
    let there = &[(false, 1), (false, 2), (false, 2)];
    for before in [1, 2] {
        Both::new(16, &[(false, 0), (false, 1)], there).at((1 << 30) - before).play();
    }
}

/// Nobody polls for the one who left, and all is complete: what it handled after it carried, too.
#[test]
fn a_side_that_leaves_after_a_carry_says_what_it_handled() {
    Both::new(16, &[(false, 0), (false, 1), (false, 1)], &[(false, 1)]).leaving().play();
    Both::new(16, &[(false, 0), (false, 0), (false, 0)], &[(false, 1)]).leaving().play();
}

/// Of three ranks, rank 0 gets a request of each other and answers it with one, which is carried,
/// and the lane of the rank that does not exist stays silent. Both others are one thread: the model
/// checker lets the same one of several waiting threads wait again.
#[test]
fn lanes_to_several_peers_are_served_each() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let ring = || LocalCells::new(16, 0);
        let (to, from, own) = ([ring(), ring()], [ring(), ring()], ring());
        let mut peers = [1, 2].map(|peer| {
            let sender = Sender::new(from[peer - 1].clone(), 0);
            let lane = Lane::new(0, sender, Receiver::new(to[peer - 1].clone(), 0));
            (Side::new(&[(false, 0)], &[(false, 1)], false), lane)
        });
        let peers = loom::thread::spawn(move || {
            while !peers.iter().all(|(side, lane)| side.is_done(lane)) {
                let moved = peers.each_mut().map(|(side, lane)| side.step(lane));
                if moved == [false; 2] {
                    loom::thread::yield_now();
                }
            }
        });
        let mut lanes = Lanes::new(0, 3, |peer| match to.get(peer - 1) {
            Some(to) => {
                let receiver = Receiver::new(from[peer - 1].clone(), 0);
                Lane::new(peer, Sender::new(to.clone(), 0), receiver)
            }
            None => Lane::new(peer, Sender::closed(own.clone()), Receiver::new(own.clone(), 0)),
        });
        let mut came = Froms(Vec::new());
        let mut answered = 0;
        while answered < 2 || lanes.outstanding() > 0 || lanes.unpublished() > 0 {
            let mut moved = lanes.progress(&mut came).unwrap();
            if let Some(peer) = came.0.get(answered) {
                let message = Message::new(HandlerId(7), [0]);
                assert_eq!(lanes.try_request(*peer, message).unwrap(), Posted::Yes);
                answered += 1;
                moved += 1;
            }
            if moved == 0 {
                loom::thread::yield_now();
            }
        }
        came.0.sort_unstable();
        assert_eq!(came.0, [1, 2]);
        peers.join().unwrap();
    });
}

/// Keeps from whom requests came.
struct Froms(Vec<usize>);

impl Deliver for Froms {
    fn request(&mut self, from: usize, message: Message) -> Result<Option<&Message>, NoHandler> {
        assert_eq!(message, Message::new(HandlerId(7), [0]));
        self.0.push(from);
        Ok(None)
    }

    fn reply(&mut self, _: usize, _: Message) -> Result<(), NoHandler> {
        panic!("nothing replied")
    }
}
