use super::*;
use crate::credit::tests::{garbage, next, send};
use crate::inproc::{InprocLink, links};
use crate::{Deliver, Endpoint, FrameError, NoHandler};

const C: u16 = 3;
const EXPOSED: usize = 100;

/// Writes down what is delivered, and replies to nothing.
#[derive(Default)]
struct Kept(Vec<Message>);

impl Deliver for Kept {
    fn request(&mut self, _: Rank, message: Message) -> Result<Option<&Message>, NoHandler> {
        self.0.push(message);
        Ok(None)
    }

    fn reply(&mut self, _: Rank, message: Message) -> Result<(), NoHandler> {
        self.0.push(message);
        Ok(())
    }
}

/// A rank with credits, and the bare link of a peer that may send anything.
fn with_bare_peer(frames_per_channel: usize) -> (Credited<InprocLink>, InprocLink) {
    let ends = links(2, frames_per_channel).into_iter();
    let mut ends = ends.map(|link| link.exposing(EXPOSED));
    let mut rank = Credited::new(ends.next().unwrap(), C);
    let bytes: Vec<u8> = (0..EXPOSED as u8).collect();
    rank.write_exposed(0, &bytes).unwrap();
    (rank, ends.next().unwrap())
}

fn message(word: u64) -> Message {
    Message::new(HandlerId(9), [word])
}

fn get_frame<const N: usize>(words: [u64; N]) -> Frame {
    Frame { kind: FrameKind::Get, credits: 0, message: Message::new(HandlerId(0), words) }
}

fn write(link: &mut InprocLink, kind: FrameKind, into: usize, bytes: &[u8]) {
    let frame = Frame::announcing(kind, into, bytes.len());
    let written = link.try_write(0, &[&frame], Source::Bytes(bytes), &mut 0, None).unwrap();
    assert_eq!(written, Posted::Yes);
}

#[test]
fn a_get_takes_a_credit_until_its_bytes_are_there() {
    let (mut rank, mut peer) = with_bare_peer(8);
    for word in 0..u64::from(C) {
        assert_eq!(rank.try_get(1, 5, 10, 3, message(word)).unwrap(), Begun::Yes);
        assert_eq!(next(&mut peer), Some(get_frame([5, 10, 3])));
    }
    assert_eq!(rank.try_get(1, 5, 10, 3, message(9)).unwrap(), Begun::Busy);
    assert_eq!(rank.try_request(1, message(9)).unwrap(), Posted::Busy);
    assert_eq!(rank.outstanding(), usize::from(C));

    let mut kept = Kept::default();
    write(&mut peer, FrameKind::Got, 10, &[7, 8, 9]);
    assert_eq!(rank.progress(&mut kept).unwrap(), 1);
    assert_eq!((kept.0, rank.outstanding()), (vec![message(0)], usize::from(C) - 1));
    let mut around = [0; 5];
    rank.read_exposed(9, &mut around).unwrap();
    assert_eq!(around, [9, 7, 8, 9, 13]);
    assert_eq!(rank.try_request(1, message(9)).unwrap(), Posted::Yes);
}

#[test]
fn a_get_returns_what_is_owed() {
    let (mut rank, mut peer) = with_bare_peer(8);
    let request = Frame { kind: FrameKind::Request, credits: 0, message: message(0) };
    send(&mut peer, request);
    assert_eq!(rank.progress(&mut Kept::default()).unwrap(), 1);
    assert_eq!(rank.try_get(1, 0, 0, 0, message(0)).unwrap(), Begun::Yes);
    assert_eq!(next(&mut peer), Some(Frame { credits: 1, ..get_frame([0, 0, 0]) }));
    assert_eq!(rank.unsent(), 0);
}

#[test]
fn a_get_is_owed_until_it_is_answered() {
    let (mut rank, mut peer) = with_bare_peer(1);
    // The channel back is full: the bytes wait.
    assert_eq!(rank.try_request(1, message(1)).unwrap(), Posted::Yes);
    for at in [20, 30] {
        send(&mut peer, get_frame([at, 0, 4]));
        assert_eq!(rank.progress(&mut Kept::default()).unwrap(), 0);
    }
    assert_eq!(rank.unsent(), 2);
    assert_eq!(next(&mut peer).map(|frame| frame.message), Some(message(1)));
    for at in [20, 30] {
        assert_eq!(rank.progress(&mut Kept::default()).unwrap(), 0);
        assert_eq!(next(&mut peer), Some(Frame::announcing(FrameKind::Got, 0, 4)));
        assert_eq!(peer.exposed()[..5], [at, at + 1, at + 2, at + 3, 0]);
    }
    assert_eq!(rank.unsent(), 0);
}

#[test]
fn stores_take_no_credit_and_empty_ones_send_nothing() {
    let (mut rank, mut peer) = with_bare_peer(8);
    assert_eq!(rank.try_store(1, 100, Source::Bytes(&[]), &mut 0).unwrap(), Posted::Yes);
    assert_eq!(next(&mut peer), None);
    for _ in 0..=C {
        let mut done = 0;
        let from = Source::Exposed { at: 40, len: 2 };
        assert_eq!(rank.try_store(1, 97, from, &mut done).unwrap(), Posted::Yes);
        assert_eq!((done, rank.outstanding()), (2, 0));
        assert_eq!(next(&mut peer), Some(Frame::announcing(FrameKind::Stored, 97, 2)));
    }
    assert_eq!(peer.exposed()[96..], [0, 40, 41, 0]);
}

#[test]
fn a_store_without_a_credit_for_its_request_goes_ahead_once() {
    let (mut rank, mut peer) = with_bare_peer(8);
    for word in 0..u64::from(C) {
        assert_eq!(rank.try_request(1, message(word)).unwrap(), Posted::Yes);
        assert_eq!(next(&mut peer).map(|frame| frame.message), Some(message(word)));
    }
    let (mut done, from) = (0, Source::Exposed { at: 40, len: 2 });
    for expected in [Some(Frame::announcing(FrameKind::Stored, 97, 2)), None] {
        let posted = rank.try_store_then(1, 97, from, &mut done, message(9)).unwrap();
        assert_eq!((posted, done), (Posted::Busy, 2));
        assert_eq!(next(&mut peer), expected);
    }
    send(&mut peer, Frame { kind: FrameKind::Reply, credits: 0, message: message(0) });
    send(&mut peer, Frame { kind: FrameKind::Request, credits: 0, message: message(0) });
    for _ in 0..2 {
        rank.progress(&mut Kept::default()).unwrap();
    }
    assert_eq!(rank.try_store_then(1, 97, from, &mut done, message(9)).unwrap(), Posted::Yes);
    // What is owed travels with it.
    let request = Frame { kind: FrameKind::Request, credits: 1, message: message(9) };
    assert_eq!((next(&mut peer), rank.unsent()), (Some(request), 0));
    assert_eq!(rank.outstanding(), usize::from(C));
}

#[test]
fn an_empty_store_is_its_request() {
    let (mut rank, mut peer) = with_bare_peer(8);
    let nothing = Source::Bytes(&[]);
    assert_eq!(rank.try_store_then(1, 100, nothing, &mut 0, message(9)).unwrap(), Posted::Yes);
    assert_eq!(next(&mut peer).map(|frame| frame.kind), Some(FrameKind::Request));
    assert_eq!((next(&mut peer), rank.outstanding()), (None, 1));
    assert!(rank.try_store_then(1, 101, nothing, &mut 0, message(9)).is_err());
}

#[test]
fn while_a_store_is_on_its_way_all_else_for_that_peer_waits() {
    let ends = links(2, 1).into_iter();
    let mut ends = ends.map(|link| Credited::new(link.exposing(20_000), C));
    let (mut here, mut there) = (ends.next().unwrap(), ends.next().unwrap());
    let bytes = vec![5; 20_000];
    let (mut done, mut kept) = (0, Kept::default());
    assert_eq!(here.try_store(1, 0, Source::Bytes(&bytes), &mut done).unwrap(), Posted::Busy);
    assert!(done > 0);
    assert_eq!(there.try_get(0, 0, 0, 20_000, message(1)).unwrap(), Begun::Yes);
    here.progress(&mut kept).unwrap();
    assert_eq!(here.unsent(), 1);
    loop {
        there.progress(&mut kept).unwrap();
        // The channel has room now, and still nothing passes the store.
        assert_eq!(here.try_request(1, message(2)).unwrap(), Posted::Busy);
        assert_eq!(here.try_get(1, 0, 0, 1, message(2)).unwrap(), Begun::Busy);
        here.progress(&mut kept).unwrap();
        assert_eq!(here.unsent(), 1);
        if here.try_store(1, 0, Source::Bytes(&bytes), &mut done).unwrap() == Posted::Yes {
            break;
        }
    }
    // Now the get is answered, and a store waits in its turn.
    there.progress(&mut kept).unwrap();
    here.progress(&mut kept).unwrap();
    let mut second = 0;
    assert_eq!(here.try_store(1, 0, Source::Bytes(&bytes), &mut second).unwrap(), Posted::Busy);
    while there.outstanding() > 0 {
        assert_eq!(second, 0);
        there.progress(&mut kept).unwrap();
        here.progress(&mut kept).unwrap();
    }
    assert_eq!((done, here.unsent(), kept.0), (20_000, 0, vec![message(1)]));
}

#[test]
fn bytes_that_nobody_asked_for_are_garbage() {
    let (mut rank, mut peer) = with_bare_peer(8);
    write(&mut peer, FrameKind::Got, 10, &[1, 2]);
    let what = garbage(&mut rank);
    assert!(what.contains("2 bytes") && what.contains("offset 10"), "{what}");
}

#[test]
fn other_bytes_than_those_asked_for_are_garbage() {
    for (into, bytes) in [(10, &[1, 2][..]), (11, &[1][..])] {
        let (mut rank, mut peer) = with_bare_peer(8);
        assert_eq!(rank.try_get(1, 0, 10, 1, message(0)).unwrap(), Begun::Yes);
        write(&mut peer, FrameKind::Got, into, bytes);
        let what = garbage(&mut rank);
        let got = format!("{} bytes for offset {into}", bytes.len());
        assert!(what.contains(&got) && what.contains("1 for offset 10"), "{what}");
    }
}

#[test]
fn a_reply_does_not_complete_a_get() {
    let (mut rank, mut peer) = with_bare_peer(8);
    assert_eq!(rank.try_get(1, 0, 10, 1, message(0)).unwrap(), Begun::Yes);
    send(&mut peer, Frame { kind: FrameKind::Reply, credits: 0, message: message(0) });
    let what = garbage(&mut rank);
    assert!(what.contains('1') && what.contains('0'), "{what}");
}

#[test]
fn more_gets_than_credits_are_garbage() {
    let (mut rank, mut peer) = with_bare_peer(1);
    // The channel back stays full, so that none is answered.
    assert_eq!(rank.try_request(1, message(0)).unwrap(), Posted::Yes);
    for _ in 0..C {
        send(&mut peer, get_frame([0, 0, 1]));
        assert_eq!(rank.progress(&mut Kept::default()).unwrap(), 0);
    }
    send(&mut peer, get_frame([0, 0, 1]));
    let what = garbage(&mut rank);
    assert!(what.contains("get") && what.contains('3'), "{what}");
}

#[test]
fn gets_and_payloads_beyond_the_exposed_memory_are_garbage() {
    for [at, into, len] in [[98, 0, 3], [0, 98, 3], [101, 0, 0], [u64::MAX, 0, 2]] {
        let (mut rank, mut peer) = with_bare_peer(8);
        send(&mut peer, get_frame([at, into, len]));
        let what = garbage(&mut rank);
        for number in [len, at, into, 100] {
            assert!(what.contains(&number.to_string()), "{number}: {what}");
        }
    }
    let (mut rank, mut peer) = with_bare_peer(8);
    send(&mut peer, get_frame([0, 0]));
    let what = garbage(&mut rank);
    assert!(what.contains("2 words"), "{what}");

    let (mut rank, mut peer) = with_bare_peer(8);
    write(&mut peer, FrameKind::Stored, 98, &[1, 2, 3]);
    let expected = FrameError::Outside { into: 98, len: 3, exposed: 100 }.to_string();
    assert_eq!(garbage(&mut rank), expected);
}
