use super::*;
use crate::NoHandler;
use crate::inproc::{InprocLink, links};

const C: u16 = 4;

/// Replies with the request itself, or with nothing.
struct Answer(bool, Message);

fn answer(replies: bool) -> Answer {
    Answer(replies, message(0))
}

impl Deliver for Answer {
    fn request(&mut self, _from: Rank, message: Message) -> Result<Option<&Message>, NoHandler> {
        self.1 = message;
        Ok(self.0.then_some(&self.1))
    }

    fn reply(&mut self, _from: Rank, _message: Message) -> Result<(), NoHandler> {
        Ok(())
    }
}

/// A rank with credits, and the bare link of a peer that may send anything.
fn with_bare_peer(frames_per_channel: usize) -> (Credited<InprocLink>, InprocLink) {
    let mut ends = links(2, frames_per_channel).into_iter();
    let rank = Credited::new(ends.next().unwrap(), C);
    (rank, ends.next().unwrap())
}

fn message(word: u64) -> Message {
    Message::new(HandlerId(0), [word])
}

fn frame(kind: FrameKind, credits: u16) -> Frame {
    Frame { kind, credits, message: Message::new(HandlerId(0), []) }
}

pub(super) fn send(link: &mut InprocLink, frame: Frame) {
    assert_eq!(link.try_send(0, &frame).unwrap(), Posted::Yes);
}

pub(super) fn next(link: &mut InprocLink) -> Option<Frame> {
    let mut received = None;
    link.receive(|_, frame| received = Some(frame)).unwrap();
    received
}

/// What the rank's progress says of garbage.
pub(super) fn garbage(rank: &mut Credited<InprocLink>) -> String {
    loop {
        match rank.progress(&mut answer(false)) {
            Ok(count) => assert!(count > 0, "nothing was wrong"),
            Err(CommError::Garbage { peer: 1, what }) => return what,
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[test]
fn credits_owed_travel_with_the_next_request() {
    let (mut rank, mut peer) = with_bare_peer(8);
    send(&mut peer, frame(FrameKind::Request, 0));
    assert_eq!(rank.progress(&mut answer(false)).unwrap(), 1);
    assert_eq!(rank.unsent(), 1);
    assert_eq!(rank.try_request(1, message(5)).unwrap(), Posted::Yes);
    assert_eq!(rank.unsent(), 0);
    assert_eq!(
        next(&mut peer),
        Some(Frame { kind: FrameKind::Request, credits: 1, message: message(5) })
    );
    // They travelled once: an idle rank has nothing left to return.
    assert_eq!(rank.progress(&mut answer(false)).unwrap(), 0);
    assert_eq!(next(&mut peer), None);
}

#[test]
fn credits_owed_travel_with_the_next_reply() {
    let (mut rank, mut peer) = with_bare_peer(8);
    send(&mut peer, frame(FrameKind::Request, 0));
    rank.progress(&mut answer(false)).unwrap();
    send(&mut peer, frame(FrameKind::Request, 0));
    rank.progress(&mut answer(true)).unwrap();
    assert_eq!(next(&mut peer), Some(frame(FrameKind::Reply, 1)));
    assert_eq!(rank.unsent(), 0);
}

#[test]
fn an_idle_rank_returns_what_it_owes() {
    let (mut rank, mut peer) = with_bare_peer(8);
    send(&mut peer, frame(FrameKind::Request, 0));
    rank.progress(&mut answer(false)).unwrap();
    assert_eq!(next(&mut peer), None);
    assert_eq!(rank.progress(&mut answer(false)).unwrap(), 0);
    assert_eq!(next(&mut peer), Some(frame(FrameKind::Credit, 1)));
}

#[test]
fn a_busy_rank_returns_credits_by_the_half() {
    let (mut rank, mut peer) = with_bare_peer(8);
    // Half of C = 4 is 2: a frame of credits follows every second request, though the rank never
    // finds nothing to do.
    for expected in [None, Some(frame(FrameKind::Credit, 2))].repeat(3) {
        send(&mut peer, frame(FrameKind::Request, 0));
        assert_eq!(rank.progress(&mut answer(false)).unwrap(), 1);
        assert_eq!(next(&mut peer), expected);
    }
}

#[test]
fn a_reply_waits_for_room_and_keeps_its_place() {
    let (mut rank, mut peer) = with_bare_peer(1);
    assert_eq!(rank.try_request(1, message(9)).unwrap(), Posted::Yes);
    for word in [1, 2] {
        let request = Frame { kind: FrameKind::Request, credits: 0, message: message(word) };
        send(&mut peer, request);
        assert_eq!(rank.progress(&mut answer(true)).unwrap(), 1);
    }
    assert_eq!(rank.unsent(), 2);
    assert_eq!(next(&mut peer).map(|frame| frame.message), Some(message(9)));
    for word in [1, 2] {
        rank.progress(&mut answer(true)).unwrap();
        let reply = Frame { kind: FrameKind::Reply, credits: 0, message: message(word) };
        assert_eq!(next(&mut peer), Some(reply));
    }
    assert_eq!(rank.unsent(), 0);
}

#[test]
fn requests_end_with_the_credits() {
    let (mut rank, mut peer) = with_bare_peer(64);
    for _ in 0..C {
        assert_eq!(rank.try_request(1, message(0)).unwrap(), Posted::Yes);
    }
    assert_eq!(rank.try_request(1, message(0)).unwrap(), Posted::Busy);
    // A reply that carries one credit more completes two requests.
    send(&mut peer, frame(FrameKind::Reply, 1));
    assert_eq!(rank.progress(&mut answer(false)).unwrap(), 2);
    assert_eq!(rank.outstanding(), usize::from(C) - 2);
    for expected in [Posted::Yes, Posted::Yes, Posted::Busy] {
        assert_eq!(rank.try_request(1, message(0)).unwrap(), expected);
    }
}

#[test]
fn a_reply_to_nothing_is_garbage() {
    let (mut rank, mut peer) = with_bare_peer(8);
    send(&mut peer, frame(FrameKind::Reply, 0));
    let what = garbage(&mut rank);
    assert!(what.contains('1') && what.contains('0'), "{what}");
}

#[test]
fn more_credits_than_are_out_are_garbage() {
    for kind in [FrameKind::Request, FrameKind::Reply, FrameKind::Credit] {
        let (mut rank, mut peer) = with_bare_peer(8);
        assert_eq!(rank.try_request(1, message(0)).unwrap(), Posted::Yes);
        send(&mut peer, frame(kind, u16::MAX));
        let returned = u32::from(u16::MAX) + u32::from(kind == FrameKind::Reply);
        let what = garbage(&mut rank);
        assert!(what.contains(&returned.to_string()) && what.contains('1'), "{kind:?}: {what}");
    }
}

#[test]
fn more_requests_than_credits_are_garbage() {
    let (mut rank, mut peer) = with_bare_peer(1);
    // The channel back stays full, so that no credit of these requests is returned.
    assert_eq!(rank.try_request(1, message(0)).unwrap(), Posted::Yes);
    for _ in 0..C {
        send(&mut peer, frame(FrameKind::Request, 0));
        assert_eq!(rank.progress(&mut answer(false)).unwrap(), 1);
    }
    send(&mut peer, frame(FrameKind::Request, 0));
    let what = garbage(&mut rank);
    assert!(what.contains("request") && what.contains('4'), "{what}");
}

#[test]
fn a_credit_frame_without_credits_is_garbage() {
    let (mut rank, mut peer) = with_bare_peer(8);
    send(&mut peer, frame(FrameKind::Credit, 0));
    let what = garbage(&mut rank);
    assert!(what.contains("0 credits"), "{what}");
}

#[test]
#[should_panic(expected = "one credit")]
fn no_credits_are_no_flow_control() {
    let _ = Credited::new(links(2, 1).remove(0), 0);
}
