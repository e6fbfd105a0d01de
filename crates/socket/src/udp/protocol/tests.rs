use std::collections::VecDeque;

use proptest::prelude::*;

use super::super::{MOST, charge};
use super::*;
use crate::Secret;

mod network;

const SECRET: Secret = *b"0123456789abcdef";
const FIRST: u32 = 7;

fn keys() -> (Key, Key) {
    (Key::new(&SECRET, 0, 1), Key::new(&SECRET, 1, 0))
}

fn ends(first: u32, room: u32) -> [Protocol; 2] {
    let (there, back) = keys();
    [Protocol::new(there, back, first, room), Protocol::new(back, there, first, room)]
}

/// Everything an end has to send.
fn flush(end: &mut Protocol) -> Vec<Vec<u8>> {
    let mut sent = Vec::new();
    while let Some(datagram) = end.next() {
        sent.push(datagram.to_vec());
        end.gave();
    }
    assert!(!end.restless());
    sent
}

/// The header of a datagram from end 0.
fn read(datagram: &[u8]) -> Header {
    keys().0.open(datagram).unwrap().0
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn push(end: &mut Protocol, bytes: &[u8]) {
    assert_eq!(end.push([bytes, &[], &[]]), bytes.len());
}

#[test]
fn a_reply_acknowledges_and_nothing_else_is_sent() {
    let [mut here, mut there] = ends(FIRST, MAX_ROOM);
    for round in 0..1000_u32 {
        push(&mut here, &round.to_le_bytes());
        let request = flush(&mut here);
        assert_eq!(request.len(), 1);
        assert_eq!(there.accept(&request[0]), Some(&round.to_le_bytes()[..]));
        push(&mut there, b"reply");
        let reply = flush(&mut there);
        assert_eq!(reply.len(), 1);
        assert_eq!(here.accept(&reply[0]), Some(&b"reply"[..]));
        // The reply is not acknowledged yet, the request is.
        assert_eq!((here.unsettled(), there.unsettled()), (1, 1));
    }
    assert_eq!((here.mishaps, there.mishaps), Default::default());
}

#[test]
fn what_is_missing_is_complained_of_once_and_sent_again_at_once() {
    let [mut here, mut there] = ends(FIRST, MAX_ROOM);
    for byte in 0..4 {
        push(&mut here, &[byte]);
    }
    let sent = flush(&mut here);
    // The second of four is lost.
    there.accept(&sent[0]);
    there.accept(&sent[2]);
    let complaint = flush(&mut there);
    there.accept(&sent[3]);
    assert_eq!(flush(&mut there), Vec::<Vec<u8>>::new());
    assert_eq!(complaint.len(), 1);
    here.accept(&complaint[0]);
    let again = flush(&mut here);
    // Number 8 is missing, which is answered by 8, 9 and 10.
    let numbers: Vec<u32> = again.iter().map(|datagram| read(datagram).number).collect();
    assert_eq!(numbers, [8, 9, 10]);
    let bytes: Vec<_> = again.iter().map(|datagram| there.accept(datagram).unwrap()[0]).collect();
    assert_eq!(bytes, [1, 2, 3]);
    assert_eq!(here.mishaps.repeated, 3);

    // What is missing later is complained of anew: 11 is lost, 12 arrives.
    push(&mut here, &[4]);
    push(&mut here, &[5]);
    there.accept(&flush(&mut here)[1]);
    let again = flush(&mut there);
    assert_eq!(again.len(), 1);
    here.accept(&again[0]);
    assert_eq!(flush(&mut here).len(), 2);
    // The first complaint, once more, is out of date.
    here.accept(&complaint[0]);
    assert_eq!(flush(&mut here).len(), 0);
}

#[test]
fn what_is_acknowledged_meanwhile_is_not_sent_again() {
    let [mut here, mut there] = ends(FIRST, MAX_ROOM);
    push(&mut here, b"one");
    push(&mut here, b"two");
    let sent = flush(&mut here);
    // The second overtakes the first.
    there.accept(&sent[1]);
    let complaint = flush(&mut there);
    there.accept(&sent[0]);
    there.rest(Duration::ZERO);
    let ack = flush(&mut there);
    here.accept(&complaint[0]);
    here.accept(&ack[0]);
    let again = flush(&mut here);
    let numbers: Vec<u32> = again.iter().map(|datagram| read(datagram).number).collect();
    assert_eq!(numbers, [FIRST + 1]);
}

#[test]
fn a_socket_with_more_or_less_room_than_peers_believe_is_heard() {
    for (room, told) in [(0, LEAST_ROOM), (u32::MAX, MAX_ROOM)] {
        let [mut here, mut there] = ends(FIRST, room);
        push(&mut here, b"bytes");
        let sent = flush(&mut here);
        assert_eq!(read(&sent[0]).room, told);
        assert_eq!(there.accept(&sent[0]), Some(&b"bytes"[..]));
    }
}

#[test]
fn the_oldest_is_repeated_after_waits_that_double_and_the_answer_tells_the_rest() {
    let [mut here, mut there] = ends(FIRST, MAX_ROOM);
    for byte in 0..3 {
        push(&mut here, &[byte]);
    }
    let sent = flush(&mut here);
    there.accept(&sent[0]); // the others are lost, and the first is not acknowledged
    here.tend(|| panic!("the clock is not read so soon"));
    // Looked at every millisecond from 100 on: after 10 ms, 20 ms more, 40 ms more, …, 160 at most.
    let mut repeated = Vec::new();
    let mut unsettled = Vec::new();
    for now in 100..1000 {
        here.tend(|| ms(now));
        let datagrams = flush(&mut here);
        if let Some(datagram) = datagrams.first() {
            let header = read(datagram);
            assert_eq!((header.number, header.flags, datagrams.len()), (FIRST, Flags::ASK, 1));
            repeated.push(now);
            unsettled.push(here.unsettled());
        }
    }
    assert_eq!(repeated, [110, 130, 170, 250, 410, 570, 730, 890]);
    // Three datagrams, until four repetitions remained unanswered.
    assert_eq!(unsettled, [3, 3, 3, 0, 0, 0, 0, 0]);

    assert_eq!(here.rest(ms(1000)), Some(ms(50)), "asleep until 1050");
    assert_eq!(here.rest(ms(1050)), Some(ms(160)));
    let question = flush(&mut here);
    assert_eq!(there.accept(&question[0]), None);
    let answer = flush(&mut there);
    here.accept(&answer[0]);
    let numbers: Vec<u32> = flush(&mut here).iter().map(|datagram| read(datagram).number).collect();
    assert_eq!(numbers, [FIRST + 1, FIRST + 2]);
}

#[test]
fn an_acknowledgement_waits_for_a_reply_but_not_for_ever() {
    let [mut here, mut there] = ends(FIRST, MAX_ROOM);
    push(&mut here, b"request");
    there.accept(&flush(&mut here)[0]);
    there.tend(|| Duration::ZERO);
    assert_eq!(flush(&mut there).len(), 0);
    assert_eq!(there.unsettled(), 1, "the peer waits");
    there.tend(|| Duration::ZERO);
    let ack = flush(&mut there);
    assert_eq!((ack.len(), there.unsettled()), (1, 0));
    here.accept(&ack[0]);
    assert_eq!(here.unsettled(), 0);
    // An acknowledgement is not acknowledged.
    for _ in 0..10 {
        here.tend(|| Duration::ZERO);
        there.tend(|| Duration::ZERO);
        assert_eq!((flush(&mut here).len(), flush(&mut there).len()), (0, 0));
    }
}

#[test]
fn no_more_is_under_way_than_the_peer_has_room_for() {
    for (room, len) in [(MAX_ROOM, 40), (MAX_ROOM, 100_000), (100_000, 40), (LEAST_ROOM, 9000)] {
        let [mut here, mut there] = ends(FIRST, room);
        // Its first datagram says what room there is.
        push(&mut there, b"x");
        here.accept(&flush(&mut there)[0]);
        let bytes = vec![9; len];
        let mut under_way = VecDeque::new();
        for _ in 0..5 {
            while here.push([&bytes, &[], &[]]) > 0 {}
            under_way.extend(flush(&mut here));
            let charged: u32 = under_way.iter().map(|datagram| charge(datagram.len())).sum();
            let one = charge(under_way[0].len());
            assert!(charged <= room && charged + one > room || under_way.len() == 1);
            // Half of it is acknowledged without a look.
            let before = under_way.len();
            let mut acked = false;
            while !acked {
                there.accept(&under_way.pop_front().unwrap()).unwrap();
                let answer = flush(&mut there);
                acked = !answer.is_empty();
                answer.iter().for_each(|answer| assert_eq!(here.accept(answer), None));
            }
            assert!(under_way.len() <= before / 2, "{} of {before}", under_way.len());
        }
        assert_eq!((here.mishaps, there.mishaps), Default::default());
    }
}

#[test]
fn a_close_counts_when_everything_before_it_has_arrived() {
    let [mut here, mut there] = ends(FIRST, MAX_ROOM);
    push(&mut here, b"last");
    let last = flush(&mut here);
    let close = here.farewell();
    assert_eq!(there.accept(&close), None);
    assert!(!there.finished() && there.restless(), "something is missing, and it says so");
    there.accept(&last[0]);
    assert!(there.finished());
    // One that is overtaken by what it precedes is none.
    let [mut here, mut there] = ends(FIRST, MAX_ROOM);
    let early = here.farewell();
    push(&mut here, b"more");
    there.accept(&flush(&mut here)[0]);
    there.accept(&early);
    assert!(!there.finished());
}

/// An end with something under way both ways.
fn busy() -> Protocol {
    let [mut here, mut there] = ends(FIRST, MAX_ROOM);
    push(&mut there, b"hello");
    here.accept(&flush(&mut there)[0]);
    push(&mut here, b"one");
    push(&mut here, b"two");
    let sent = flush(&mut here);
    there.accept(&sent[0]);
    there.rest(Duration::ZERO);
    here.accept(&flush(&mut there)[0]);
    push(&mut here, b"three");
    here
}

/// Asserts that the datagram changes nothing but the count.
#[track_caller]
fn refused(end: &Protocol, datagram: &[u8]) {
    let mut after = end.clone();
    assert_eq!(after.accept(datagram), None);
    assert_eq!(after.mishaps.refused, end.mishaps.refused + 1);
    after.mishaps = end.mishaps;
    assert!(after == *end, "something else has changed");
}

fn sealed(header: &Header, payload: &[u8]) -> Vec<u8> {
    let mut datagram = [&[0; HEADER], payload].concat();
    keys().1.seal(&mut datagram, header);
    datagram
}

#[test]
fn what_no_peer_sends_is_refused_though_it_has_the_key() {
    let here = busy();
    // Number 8 is expected; 7 and 8 were sent, and 9 is not yet.
    let good = Header { number: 8, ack: 9, room: MAX_ROOM, flags: Flags::NONE };
    assert_eq!(here.clone().accept(&sealed(&good, b"bytes")), Some(&b"bytes"[..]));
    for header in [
        Header { ack: 10, ..good },
        Header { ack: 9 + (1 << 30), ..good },
        Header { number: 8 + MOST + 1, ..good },
        Header { number: 8 + i32::MAX as u32, ..good },
        Header { room: LEAST_ROOM - 1, ..good },
        Header { room: MAX_ROOM + 1, ..good },
        Header { flags: Flags::CLOSE, ..good },
        Header { flags: Flags(8), ..good },
    ] {
        refused(&here, &sealed(&header, b"bytes"));
    }
    refused(&here, &[]);
}

proptest! {
    #[test]
    fn strangers_change_nothing(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        refused(&busy(), &bytes);
    }

    /// A peer with the key that sends anything cannot bring this end down.
    #[test]
    fn any_fields_are_taken_or_refused(
        headers in prop::collection::vec(
            (0..20_u32, 0..20_u32, any::<bool>(), 0..8_u8, 0..3_usize), 1..50
        ),
    ) {
        let mut here = busy();
        for (number, ack, any_room, flags, len) in headers {
            let room = if any_room { number << 14 } else { MAX_ROOM };
            let datagram = sealed(&Header { number, ack, room, flags: Flags(flags) }, &[1; 2][..len.min(2)]);
            here.accept(&datagram);
            here.push([b"mo", b"r", b"e"]);
            here.tend(|| ms(number.into()));
            flush(&mut here);
            here.unsettled();
        }
    }
}
