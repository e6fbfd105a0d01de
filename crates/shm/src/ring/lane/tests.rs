use std::collections::VecDeque;
use std::sync::Arc;

use bandgap_comm::{HandlerId, NoHandler};
use proptest::prelude::*;

use super::*;
use crate::ring::LocalCells;
use crate::ring::receiver::PATIENCE;

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

/// Positions near which a sequence grows beyond 32 bits, the number of a request does, or a part of
/// either.
const BORDERS: [u64; 4] = [1 << 19, 1 << 30, 1 << 32, 1 << 43];

/// The two sides of a lane after so many requests each way. Those from side `carried`, if any, were
/// all carried, so that nothing was ever written to the slots of its ring.
fn sides(slots: u64, positions: [u64; 2], carried: Option<usize>) -> [Side; 2] {
    let ring = |side: usize| match carried {
        Some(carried) if carried == side => LocalCells::unwritten(slots, positions[side]),
        _ => LocalCells::new(slots, positions[side]),
    };
    let rings = [ring(0), ring(1)];
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

/// Passes a request without reply, and nothing else may arrive. Returns whether it did arrive.
fn pass(number: u64, from: &mut Side, to: &mut Side) -> Result<bool, CommError> {
    let request = (number, false);
    to.given.next.push_back(request);
    // There is room at least once the requests before have completed.
    let sent = (0..1000).find_map(|_| match from.lane.send(&message(request)) {
        true => Some(Ok(())),
        false => from.lane.progress(&mut from.given).err().map(Err),
    });
    let Some(sent) = sent else { return Ok(false) };
    sent?;
    to.lane.progress(&mut to.given)?;
    let arrived: Vec<Message> = to.given.requests.drain(..).collect();
    assert!(arrived.is_empty() || arrived == [message(request)], "{arrived:?}");
    Ok(!arrived.is_empty())
}

/// In a ping-pong one side carries all that it sends, except where the other's last request has
/// just been counted: of eight slots, seven are never written to.
#[test]
fn a_ping_pong_goes_past_every_border_and_nothing_else_arrives() {
    for border in BORDERS {
        let slots = 32;
        let [mut here, mut there] = sides(slots, [0, border - 3 * slots], Some(1));
        let mut carried = 0;
        for number in 0..6 * slots {
            assert!(pass(number, &mut here, &mut there).unwrap());
            carried += u64::from(there.lane.can_carry());
            assert!(pass(number, &mut there, &mut here).unwrap());
        }
        assert_eq!(carried, 6 * slots / 8 * 7);
        for side in [&mut here, &mut there] {
            for _ in 0..=PATIENCE {
                side.lane.progress(&mut side.given).unwrap();
            }
        }
        assert_eq!((here.lane.outstanding(), there.lane.outstanding()), (0, 0));
    }
}

/// After 2⁵¹ requests the numbers begin again, and the counter with them.
#[test]
fn past_the_last_number_nothing_wrong_arrives() {
    for carried in [None, Some(1)] {
        let slots = 8;
        let [mut here, mut there] = sides(slots, [0, (1 << 51) - slots], carried);
        let arrived = (0..4 * slots).take_while(|number| {
            let there_and_back = pass(*number, &mut here, &mut there)
                .and_then(|arrived| Ok(arrived && pass(*number, &mut there, &mut here)?));
            there_and_back.is_ok_and(|arrived| arrived)
        });
        // What did arrive was right, and it ends: in an error or with no room.
        assert!((slots - 1..4 * slots).contains(&(arrived.count() as u64)));
    }
}

proptest! {
    /// Against queues: requests arrive in order and once, whichever way they travel, replies in
    /// the order of their requests, and everything completes. Positions are also taken from around
    /// the borders, and one ring may never have been written to.
    #[test]
    fn both_directions_keep_their_order(
        steps in steps(),
        log_slots in 1_u32..6,
        first in 0..100_u64,
        border in prop::sample::select(&BORDERS[..]),
        before in 0..200_u64,
        carried in prop::option::of(0..2_usize),
    ) {
        let slots = 1 << log_slots;
        let mut sides = sides(slots, [first, border + 100 - before], carried);
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
