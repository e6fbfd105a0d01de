//! Payloads over sockets: they go where they belong, however they are divided, and nowhere else.

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::rc::Rc;
use std::time::Duration;

use crate::mesh::{self, receive};
use bandgap_comm::passing::{Passing, Tuning};
use bandgap_comm::{
    AHEAD, CommError, DeadlineWatch, Frame, FrameKind, Frames, HandlerId, Link, Message, Part,
    Posted, Source, Waiting,
};
use bandgap_socket::{Received, Socket, SocketLink, Stream};
use proptest::prelude::*;

fn request(word: u64) -> Frame {
    let message = Message::new(HandlerId(3), [word, !word]);
    Frame { kind: FrameKind::Request, credits: 0, message }
}

/// The bytes of a frame on the wire.
fn encoded(frame: &Frame) -> Vec<u8> {
    let (bytes, len) = frame.encode();
    bytes[..len].to_vec()
}

/// A frame with its payload, on the wire.
fn stored(into: usize, bytes: &[u8]) -> Vec<u8> {
    [encoded(&Frame::announcing(FrameKind::Stored, into, bytes.len())), bytes.to_vec()].concat()
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8 + 1).collect()
}

/// As [`mesh::with_bare_peer`], exposing so many bytes.
fn with_bare_peer(exposed: usize) -> (SocketLink<Socket>, UnixStream) {
    let (link, peer) = mesh::with_bare_peer();
    (link.exposing(exposed), peer)
}

#[test]
fn a_frame_behind_a_payload_is_delivered_when_the_payload_is_there() {
    let (mut link, mut peer) = with_bare_peer(100);
    let stream = [stored(0, &pattern(100)), encoded(&request(1))].concat();
    let (most, last) = stream.split_at(24 + 99);
    peer.write_all(most).unwrap();
    assert_eq!(receive(&mut link).unwrap(), []);
    assert_eq!(receive(&mut link).unwrap(), []);
    assert_eq!((link.exposed()[98], link.exposed()[99]), (99, 0));
    peer.write_all(last).unwrap();
    let both = [Frame::announcing(FrameKind::Stored, 0, 100), request(1)];
    assert_eq!(receive(&mut link).unwrap(), both);
    assert_eq!(link.exposed()[99], 100);
}

#[test]
fn a_peer_that_leaves_amid_a_payload_is_gone() {
    let (mut link, mut peer) = with_bare_peer(100);
    peer.write_all(&stored(0, &pattern(100))[..24 + 40]).unwrap();
    drop(peer);
    assert_eq!(receive(&mut link).unwrap(), []);
    let error = receive(&mut link).unwrap_err();
    assert!(matches!(error, CommError::PeerGone { peer: 1, .. }), "{error:?}");
    assert!(error.to_string().contains("60 bytes"), "{error}");
}

#[test]
fn while_a_payload_is_on_its_way_nothing_else_passes() {
    let mut ends = mesh::tiny(2).into_iter().map(|link| link.exposing(1 << 20));
    let (mut here, mut there) = (ends.next().unwrap(), ends.next().unwrap());
    let bytes = pattern(1 << 20);
    let frame = Frame::announcing(FrameKind::Stored, 0, bytes.len());
    let other = Frame::announcing(FrameKind::Got, 0, 1);
    let mut done = 0;
    let mut frames = Vec::new();
    while here.try_write(1, &[&frame], Source::Bytes(&bytes), &mut done, None).unwrap()
        == Posted::Busy
    {
        assert!(frames.is_empty());
        assert_eq!(here.try_send(1, &request(1)).unwrap(), Posted::Busy);
        assert_eq!(
            here.try_write(1, &[&other], Source::Bytes(&[1]), &mut 0, None).unwrap(),
            Posted::Busy
        );
        here.receive(|_, _| ()).unwrap();
        there.receive(|_, frame| frames.push(frame)).unwrap();
    }
    assert_eq!(done, bytes.len());
    while here.try_send(1, &request(1)).unwrap() == Posted::Busy {
        there.receive(|_, frame| frames.push(frame)).unwrap();
    }
    while frames.len() < 2 {
        here.receive(|_, _| ()).unwrap();
        there.receive(|_, frame| frames.push(frame)).unwrap();
    }
    assert_eq!(frames, [frame, request(1)]);
    assert!(there.exposed() == bytes);
    assert_eq!((here.unsent(), there.unsent()), (0, 0));
}

#[test]
fn blocking_ends_when_there_is_room_for_more_of_a_payload() {
    // Few peers are waited for by one call, many by another.
    for size in [2, 6] {
        let mut links = mesh::tiny(size);
        let (mut here, mut there) = (links.remove(0).exposing(1 << 20), links.remove(0));
        there = there.exposing(1 << 20);
        let bytes = pattern(1 << 20);
        let frame = Frame::announcing(FrameKind::Stored, 0, bytes.len());
        let sender = std::thread::spawn(move || {
            let mut done = 0;
            while here.try_write(1, &[&frame], Source::Bytes(&bytes), &mut done, None).unwrap()
                == Posted::Busy
            {
                here.receive(|_, _| ()).unwrap();
                // A wait that room does not end lasts so long that the test cannot pass.
                here.block(Duration::from_secs(3600)).unwrap();
            }
            here
        });
        let mut whole = 0;
        while whole == 0 {
            whole += there.receive(|_, _| ()).unwrap();
            std::thread::yield_now();
        }
        drop(sender.join().unwrap());
    }
}

/// Takes so many more bytes.
struct Grudging(Socket, Rc<Cell<usize>>);

impl AsFd for Grudging {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Stream for Grudging {
    fn send_parts(&mut self, parts: [&[u8]; 3]) -> io::Result<usize> {
        let bytes = parts.concat();
        let taken = self.0.send(&bytes[..bytes.len().min(self.1.get())])?;
        self.1.set(self.1.get() - taken);
        Ok(taken)
    }

    fn receive_both(&mut self, first: &mut [u8], second: &mut [u8]) -> io::Result<Received> {
        self.0.receive_both(first, second)
    }
}

/// A link that sends as far as the cell says, and the other end.
fn grudging() -> (SocketLink<Grudging>, Rc<Cell<usize>>, UnixStream) {
    let (one, other) = UnixStream::pair().unwrap();
    let (one, takes) = (Socket::of(one).unwrap(), Rc::default());
    (SocketLink::over(0, vec![Grudging(one, Rc::clone(&takes))]).unwrap(), takes, other)
}

#[test]
fn a_store_and_its_request_may_be_cut_at_any_byte() {
    let bytes = pattern(10);
    let (frame, from) = (Frame::announcing(FrameKind::Stored, 0, 10), Source::Bytes(&bytes));
    // The request is behind 24 bytes of the frame and 10 of the payload.
    let (whole, all) = (24 + 10, 24 + 10 + 24);
    for taken in 0..=all {
        let (mut link, takes, mut peer) = grudging();
        let mut done = 0;
        takes.set(taken);
        let mut posted = link.try_write(1, &[&frame], from, &mut done, Some(&request(1))).unwrap();
        assert_eq!(posted == Posted::Yes, taken > whole, "{taken}");
        assert_eq!(done, taken.clamp(24, whole) - 24);
        let is_within = |from: usize, to: usize| (from + 1..to).contains(&taken);
        assert_eq!(link.unsent(), usize::from(is_within(0, 24) || is_within(whole, all)));

        takes.set(usize::MAX);
        // Something else goes first where this has not begun.
        let other = link.try_send(1, &request(2)).unwrap() == Posted::Yes;
        assert_eq!(other, !is_within(0, whole) && !is_within(whole, all), "{taken}");
        if posted == Posted::Busy && done < 10 {
            posted = link.try_write(1, &[&frame], from, &mut done, Some(&request(1))).unwrap();
        } else if posted == Posted::Busy {
            posted = link.try_send(1, &request(1)).unwrap();
        }
        assert_eq!((posted, done), (Posted::Yes, 10));
        link.receive(|_, _| ()).unwrap();
        assert_eq!(link.unsent(), 0);

        drop(link);
        let mut arrived = Vec::new();
        peer.read_to_end(&mut arrived).unwrap();
        let mut expected = vec![stored(0, &bytes), encoded(&request(1))];
        if other {
            let before = [(0, 0), (whole, 1)].into_iter().find(|&(at, _)| at == taken);
            expected.insert(before.map_or(2, |(_, nth)| nth), encoded(&request(2)));
        }
        assert_eq!(arrived, expected.concat(), "{taken}");
    }
}

/// Calls made of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Calls {
    sent: usize,
    received: usize,
    /// Bytes asked for with the last call.
    asked: usize,
}

/// Counts calls.
struct Counted(Socket, Rc<Cell<Calls>>);

impl AsFd for Counted {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Counted {
    fn count(&self, sent: usize, received: usize, asked: usize) {
        let calls = self.1.get();
        let (sent, received) = (calls.sent + sent, calls.received + received);
        self.1.set(Calls { sent, received, asked });
    }
}

impl Stream for Counted {
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.count(1, 0, 0);
        self.0.send(bytes)
    }

    fn send_parts(&mut self, parts: [&[u8]; 3]) -> io::Result<usize> {
        self.count(1, 0, 0);
        self.0.send_parts(parts)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<Received> {
        self.count(0, 1, into.len());
        self.0.receive(into)
    }

    fn receive_both(&mut self, first: &mut [u8], second: &mut [u8]) -> io::Result<Received> {
        self.count(0, 1, first.len() + second.len());
        self.0.receive_both(first, second)
    }
}

#[test]
fn a_store_and_its_request_take_one_call_to_send_and_two_to_receive_or_one_if_short() {
    let (one, other) = mesh::pair::<UnixListener>();
    let (here_calls, there_calls) = (Rc::default(), Rc::default());
    let mut here = SocketLink::over(0, vec![Counted(one, Rc::clone(&here_calls))]).unwrap();
    let there = SocketLink::over(1, vec![Counted(other, Rc::clone(&there_calls))]).unwrap();
    let mut there = there.exposing(1 << 16);
    let bytes = pattern(1 << 16);
    let frame = Frame::announcing(FrameKind::Stored, 0, bytes.len());
    for round in 1..=3 {
        let from = Source::Bytes(&bytes);
        let posted = here.try_write(1, &[&frame], from, &mut 0, Some(&request(round)));
        assert_eq!(posted.unwrap(), Posted::Yes);
        assert_eq!(here_calls.get().sent, round as usize);
        // The first brings the announcement, the second the rest and the request.
        let mut frames = Vec::new();
        assert_eq!(there.receive(|_, frame| frames.push(frame)).unwrap(), 0);
        assert_eq!(there.receive(|_, frame| frames.push(frame)).unwrap(), 2);
        assert_eq!(frames, [frame, request(round)]);
        assert_eq!(there_calls.get().received, 2 * round as usize);
        assert!(there.exposed() == bytes);
        there.exposed_mut().fill(0);
    }
    let (short, from) = (Frame::announcing(FrameKind::Stored, 0, 1000), &bytes[..1000]);
    let posted = here.try_write(1, &[&short], Source::Bytes(from), &mut 0, Some(&request(4)));
    assert_eq!((posted.unwrap(), here_calls.get().sent), (Posted::Yes, 4));
    assert_eq!(receive(&mut there).unwrap(), [short, request(4)]);
    assert_eq!((there_calls.get().received, &there.exposed()[..1000]), (7, from));
    // Amid payloads less is taken as input, and more again when none come for a while.
    there.receive(|_, _| ()).unwrap();
    let amid = there_calls.get().asked;
    assert!((16 << 10..32 << 10).contains(&amid), "{amid}");
    for round in 0..100 {
        assert_eq!(here.try_send(1, &request(round)).unwrap(), Posted::Yes);
        assert_eq!(there.receive(|_, _| ()).unwrap(), 1);
    }
    there.receive(|_, _| ()).unwrap();
    assert_eq!(there_calls.get().asked, 64 << 10);
}

#[test]
fn a_message_takes_one_call_to_send_and_its_answer_one() {
    let tuning = Tuning { chunk: 1024, slots: 4, request: 1024 };
    let (one, other) = mesh::pair::<UnixListener>();
    let calls = [Rc::default(), Rc::default()];
    let link = |(rank, socket)| {
        SocketLink::over(rank, vec![Counted(socket, Rc::clone(&calls[rank]))]).unwrap()
    };
    let links = [one, other].into_iter().enumerate().map(link).collect();
    let ends = mesh::credited(links, tuning.memory(2), 4).into_iter();
    let watch = || DeadlineWatch(Duration::from_secs(60));
    let ranks = ends.map(|end| Passing::new(end, 0, &tuning, Waiting::Yield, watch()).unwrap());
    let [mut here, mut there] = ranks.collect::<Vec<_>>().try_into().ok().unwrap();
    here.resize(1000);
    there.resize(1000);
    for (round, len) in [1, 24, 25, 32, 1000].repeat(20).into_iter().enumerate() {
        let part = Part::new(0, len);
        here.memory_mut()[part.range()].copy_from_slice(&pattern(len));
        here.send(1, 7, part).unwrap();
        there.recv(0, 7, part).unwrap();
        there.send(0, 7, part).unwrap();
        here.memory_mut().fill(0);
        here.recv(1, 7, part).unwrap();
        assert_eq!(here.memory()[part.range()], pattern(len));
        assert_eq!(calls.each_ref().map(|calls| calls.get().sent), [round + 1; 2], "{len}");
    }
}

#[test]
fn one_call_takes_a_limited_number_of_bytes_of_each_peer() {
    const LEN: usize = 5 << 20;
    let (one, mut peer) = UnixStream::pair().unwrap();
    let (one, calls) = (Socket::of(one).unwrap(), Rc::default());
    let link = SocketLink::over(0, vec![Counted(one, Rc::clone(&calls))]).unwrap();
    let mut link = link.exposing(LEN);
    peer.write_all(&encoded(&Frame::announcing(FrameKind::Stored, 0, LEN))).unwrap();
    assert_eq!(link.receive(|_, _| ()).unwrap(), 0);
    assert_eq!(link.receive(|_, _| ()).unwrap(), 0);
    assert_eq!(calls.get(), Calls { sent: 0, received: 2, asked: 4 << 20 });
}

/// Takes requests that may carry bytes. Of each: the number of bytes, whether it carries them, and
/// whether somebody waits for them.
#[derive(Default)]
struct Rooms {
    messages: Vec<(usize, bool, bool)>,
    requests: usize,
    /// Whether the bytes that somebody waits for are coming.
    coming: bool,
    waited: Vec<u8>,
    other: Vec<u8>,
    arrived: Vec<Vec<u8>>,
}

impl Rooms {
    fn place(&mut self) -> &mut Vec<u8> {
        if self.coming { &mut self.waited } else { &mut self.other }
    }
}

impl Frames for &mut Rooms {
    fn frame(&mut self, _from: usize, frame: Frame) {
        if frame.kind == FrameKind::Carried {
            let bytes = std::mem::take(self.place());
            self.arrived.push(bytes);
            self.coming = false;
        } else {
            let (len, carried, waited) = self.messages[self.requests];
            self.requests += 1;
            self.coming = carried && waited;
            self.place().resize(len, 0);
        }
    }

    fn room(&mut self, _from: usize, done: usize) -> Option<&mut [u8]> {
        if done != AHEAD {
            return self.place().get_mut(done..);
        }
        let mut later = self.messages[self.requests..].iter();
        let &(len, ..) = later.find(|(_, carried, waited)| *carried && *waited && !self.coming)?;
        self.waited.resize(len, 0);
        Some(&mut self.waited)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// However little the socket takes with each call, all arrives once and in order.
    #[test]
    fn stores_and_their_requests_arrive_in_order(
        lengths in prop::collection::vec((1..100_usize, any::<bool>()), 1..8),
        takes in prop::collection::vec(0..90_usize, 1..30),
    ) {
        let (mut link, room, mut peer) = grudging();
        let mut rooms = takes.iter().chain([&1]).cycle();
        let (mut expected, mut arrived) = (Vec::new(), Vec::new());
        peer.set_nonblocking(true).unwrap();
        for (nth, &(len, told)) in lengths.iter().enumerate() {
            let (bytes, request) = (pattern(len), request(nth as u64));
            expected.extend(stored(nth, &bytes));
            if told {
                expected.extend(encoded(&request));
            }
            let frame = Frame::announcing(FrameKind::Stored, nth, len);
            let mut done = 0;
            loop {
                room.set(*rooms.next().unwrap());
                let from = Source::Bytes(&bytes);
                let posted = match done < len {
                    false if told => link.try_send(1, &request),
                    _ => link.try_write(1, &[&frame], from, &mut done, told.then_some(&request)),
                };
                if posted.unwrap() == Posted::Yes {
                    prop_assert_eq!(done, len);
                    break;
                }
                link.receive(|_, _| ()).unwrap();
                // Every byte of its own takes much of the socket's room. What is there is kept also when no more is.
                let _ = peer.read_to_end(&mut arrived);
            }
        }
        while link.unsent() > 0 {
            room.set(*rooms.next().unwrap());
            link.receive(|_, _| ()).unwrap();
            let _ = peer.read_to_end(&mut arrived);
        }
        drop(link);
        peer.read_to_end(&mut arrived).unwrap();
        prop_assert_eq!(arrived, expected);
    }

    /// However the bytes of requests are divided, and whether or not the place where they probably
    /// go is theirs, each arrives where it is wanted.
    #[test]
    fn carried_bytes_go_where_they_are_wanted(
        messages in prop::collection::vec((1..300_usize, any::<bool>(), any::<bool>()), 1..10),
        piece in 1..500_usize,
    ) {
        let (mut link, mut peer) = with_bare_peer(0);
        let mut bytes = Vec::new();
        let mut rooms = Rooms { messages: messages.clone(), ..Rooms::default() };
        for (nth, &(len, carried, _)) in messages.iter().enumerate() {
            let request = Message::new(HandlerId(3), [nth as u64, 0, 0]);
            let frame = Frame { kind: FrameKind::Request, credits: 0, message: request };
            bytes.extend(encoded(&frame));
            if !carried && nth + 1 < messages.len() {
                continue;
            }
            if carried {
                bytes.extend(encoded(&Frame::carrying(&request, len)));
                bytes.extend(pattern(len + nth).split_off(nth));
            }
            for piece in std::mem::take(&mut bytes).chunks(piece) {
                peer.write_all(piece).unwrap();
                for _ in 0..20 {
                    link.receive(&mut rooms).unwrap();
                }
            }
        }
        let expected = rooms.messages.iter().enumerate().filter(|(_, (_, carried, _))| *carried);
        let expected = expected.map(|(nth, (len, _, _))| pattern(len + nth).split_off(nth));
        prop_assert_eq!(rooms.arrived, expected.collect::<Vec<_>>());
        prop_assert_eq!(rooms.requests, rooms.messages.len());
    }

    /// Whatever arrives, in pieces of any length: bytes are written where an accepted announcement
    /// said, and nowhere else.
    #[test]
    fn arbitrary_bytes_are_refused_or_stay_where_they_were_announced(
        good in prop::collection::vec((0..200_usize, 0..100_usize, any::<bool>()), 0..8),
        bad in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..100),
            (any::<[u64; 2]>(), 4..8_u8, 0..5_u8).prop_map(|(words, kind, len)| {
                let mut bytes = vec![0xB6, kind, 0, len, 0, 0, 0, 0];
                bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
                bytes
            }),
        ],
        piece in 1..200_usize,
    ) {
        const EXPOSED: usize = 300;
        let mut memory = vec![0; EXPOSED];
        let mut bytes = Vec::new();
        let mut expected = Vec::new();
        for (i, &(into, len, message)) in good.iter().enumerate() {
            let payload = vec![i as u8 + 1; len];
            bytes.extend(stored(into, &payload));
            memory[into..into + len].copy_from_slice(&payload);
            expected.push(Frame::announcing(FrameKind::Stored, into, len));
            if message {
                bytes.extend(encoded(&request(i as u64)));
                expected.push(request(i as u64));
            }
        }
        bytes.extend(&bad);
        let (mut link, mut peer) = with_bare_peer(EXPOSED);
        let mut received = Vec::new();
        let mut failed = false;
        'all: for piece in bytes.chunks(piece) {
            peer.write_all(piece).unwrap();
            for _ in 0..20 {
                match link.receive(|_, frame| received.push(frame)) {
                    Ok(_) => {}
                    Err(CommError::Garbage { peer: 1, .. }) => {
                        failed = true;
                        break 'all;
                    }
                    Err(other) => panic!("{other:?}"),
                }
            }
        }
        prop_assert!(received.starts_with(&expected), "{:?}", received);
        // Announcements made of random words point outside, but for those of nothing.
        let announced = received[expected.len()..].iter().any(Frame::has_payload);
        if !announced {
            prop_assert_eq!(link.exposed(), memory);
        }
        prop_assert!(failed || bad.first().is_none_or(|&first| first == 0xB6));
    }
}
