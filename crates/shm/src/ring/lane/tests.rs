use std::collections::VecDeque;
use std::sync::Arc;

use bandgap_comm::{HandlerId, NoHandler};
use proptest::prelude::*;

use super::*;
use crate::ring::LocalCells;
use crate::ring::receiver::PATIENCE;
use crate::slot::Sequence;

/// What travels: its number, and whether its handler replies.
type Request = (u64, bool);

/// One side of a lane, and what it is to be given.
struct Side {
    lane: Lane<Arc<LocalCells>>,
    /// Requests of the peer that it has not been given.
    due: VecDeque<Request>,
    /// Replies that it has not been given.
    replies: VecDeque<u64>,
    given: Given,
}

/// What was delivered in a call.
#[derive(Default)]
struct Given {
    requests: Vec<Message>,
    replies: Vec<Message>,
    reply: Option<Message>,
    /// Whether the next request's handler replies, by the peer's count.
    next: VecDeque<Request>,
}

impl Deliver for Given {
    fn request(&mut self, _: Rank, message: Message) -> Result<Option<&Message>, NoHandler> {
        self.requests.push(message);
        let (number, replies) = self.next.pop_front().expect("a request that was sent");
        self.reply = replies.then(|| Message::new(HandlerId(9), [number]));
        Ok(self.reply.as_ref())
    }

    fn reply(&mut self, _: Rank, message: Message) -> Result<(), NoHandler> {
        self.replies.push(message);
        Ok(())
    }
}

fn sides(slots: u64, positions: [u64; 2]) -> [Side; 2] {
    let rings = positions.map(|position| LocalCells::new(slots, position));
    [0, 1].map(|rank: usize| {
        let (own, other) = (rank, 1 - rank);
        let sender = Sender::new(Arc::clone(&rings[own]), positions[own]);
        let receiver = Receiver::new(Arc::clone(&rings[other]), positions[other]);
        Side {
            lane: Lane::new(other, sender, receiver),
            due: VecDeque::new(),
            replies: VecDeque::new(),
            given: Given::default(),
        }
    })
}

fn message((number, _): Request) -> Message {
    Message::new(HandlerId(7), [number, !number])
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Push { side: usize, replies: bool },
    Progress { side: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        1 => (0..2_usize, prop::bool::weighted(0.2))
            .prop_map(|(side, replies)| Step::Push { side, replies }),
        2 => (0..2_usize).prop_map(|side| Step::Progress { side }),
    ];
    prop::collection::vec(step, 0..400)
}

#[test]
fn a_request_goes_back_in_the_slot_of_one_without_reply() {
    let rings = [LocalCells::new(16, 0), LocalCells::new(16, 0)];
    let [there, back] = rings.clone();
    let lane = |peer, own: &Arc<LocalCells>, other: &Arc<LocalCells>| {
        let sender = Sender::new(Arc::clone(own), 0);
        Lane::new(peer, sender, Receiver::new(Arc::clone(other), 0))
    };
    let (mut here, mut peer) = (lane(1, &there, &back), lane(0, &back, &there));
    let mut given = Given { next: VecDeque::from([(1, false), (2, false)]), ..Given::default() };
    assert!(here.push(&message((1, false))));
    assert_eq!(peer.progress(&mut given).unwrap(), Delivered { completed: 0, served: 1 });
    let request = message((2, false));
    assert!(peer.can_carry() && peer.carry(&request));
    // The other ring has seen nothing, and the slot of the first request holds the second.
    assert!(back.slot(Sequence::request(0)).header().is(Sequence::NONE));
    assert!(there.slot(Sequence::request(0)).header().is(Sequence::request(0).carried()));
    assert_eq!(here.progress(&mut given).unwrap(), Delivered { completed: 1, served: 1 });
    assert_eq!(given.requests, [message((1, false)), request]);
    assert_eq!((here.outstanding(), peer.outstanding()), (0, 1));
    // What was carried has no slot that could carry.
    assert!(here.push(&message((3, false))) && !here.can_carry());
}

proptest! {
    /// Against queues: requests arrive in order and once, whichever way they travel, replies in
    /// the order of their requests, and everything completes. Positions are also taken from where
    /// sequences wrap.
    #[test]
    fn both_directions_keep_their_order(
        steps in steps(),
        log_slots in 1_u32..6,
        positions in [0..100_u64, (1_u64 << 30) - 100..(1 << 30) + 100],
    ) {
        let slots = 1 << log_slots;
        let mut sides = sides(slots, positions);
        let mut number = 0;
        let end = [Step::Progress { side: 0 }, Step::Progress { side: 1 }]
            .repeat(16 * slots as usize + PATIENCE as usize + 1);
        for step in steps.into_iter().chain(end) {
            match step {
                Step::Push { side, replies } => {
                    let request = (number, replies);
                    let lane = &mut sides[side].lane;
                    let room = (lane.outstanding() as u64) < slots;
                    let sent = lane.send(&message(request));
                    prop_assert_eq!(sent, room);
                    if sent {
                        number += 1;
                        sides[1 - side].due.push_back(request);
                        sides[1 - side].given.next.push_back(request);
                        if replies {
                            sides[side].replies.push_back(request.0);
                        }
                    }
                }
                Step::Progress { side } => {
                    let Side { lane, given, due, replies } = &mut sides[side];
                    let before = lane.outstanding();
                    let Delivered { completed, served } = lane.progress(given).unwrap();
                    prop_assert_eq!(lane.outstanding(), before - completed);
                    prop_assert_eq!(given.requests.len(), served);
                    for request in given.requests.drain(..) {
                        prop_assert_eq!(Some(request), due.pop_front().map(message));
                    }
                    for reply in given.replies.drain(..) {
                        let expected = replies.pop_front();
                        let expected = expected.map(|n| Message::new(HandlerId(9), [n]));
                        prop_assert_eq!(Some(reply), expected);
                    }
                }
            }
        }
        for side in &sides {
            prop_assert_eq!((side.due.len(), side.replies.len()), (0, 0));
            prop_assert_eq!((side.lane.outstanding(), side.lane.unpublished()), (0, 0));
        }
    }
}
