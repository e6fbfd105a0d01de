//! The stream over datagrams as a whole: what it sends, what it survives, how it ends.

use std::cell::Cell;
use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use bandgap_comm::{CommError, Frame, FrameKind, HandlerId, Link, Message, Posted, Source};
use bandgap_socket::udp::{Datagrams, Mishaps, UdpStream};
use bandgap_socket::{Received, SocketLink, Stream};

use crate::mesh::{self, SECRET, receive};

/// A wait that cannot be waited out.
const FOR_EVER: Duration = Duration::from_secs(3600);

fn frame(word: u64) -> Frame {
    let message = Message::new(HandlerId(3), [word, !word]);
    Frame { kind: FrameKind::Request, credits: 0, message }
}

#[track_caller]
fn send<S: Stream>(link: &mut SocketLink<S>, peer: usize, word: u64) {
    assert_eq!(link.try_send(peer, &frame(word)).unwrap(), Posted::Yes);
}

/// Receives until something has arrived, or failed.
fn receive_some<S: Stream>(link: &mut SocketLink<S>) -> Result<Vec<Frame>, CommError> {
    loop {
        let frames = receive(link)?;
        if !frames.is_empty() {
            return Ok(frames);
        }
        thread::yield_now();
    }
}

fn pair() -> (SocketLink<UdpStream>, SocketLink<UdpStream>) {
    let mut links = mesh::udp(2).into_iter();
    (links.next().unwrap(), links.next().unwrap())
}

fn mishaps<D: Datagrams>(link: SocketLink<UdpStream<D>>) -> Mishaps {
    link.into_streams()[0].mishaps()
}

/// Counts calls, and sends the first so many to nowhere.
struct Counted {
    socket: UdpSocket,
    sent: Rc<Cell<u64>>,
    lost: u64,
}

impl AsFd for Counted {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Datagrams for Counted {
    fn send(&mut self, datagram: &[u8]) -> io::Result<bool> {
        self.sent.set(self.sent.get() + 1);
        if self.sent.get() <= self.lost {
            return Ok(true);
        }
        Datagrams::send(&mut self.socket, datagram)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        Datagrams::receive(&mut self.socket, into)
    }
}

type CountedLink = SocketLink<UdpStream<Counted>>;

/// Two ranks that count what they send, of which the first loses the first `lost`.
fn counted(lost: u64) -> ([CountedLink; 2], [Rc<Cell<u64>>; 2]) {
    let (one, other) = mesh::pair::<UdpSocket>();
    let counts = [Rc::new(Cell::new(0)), Rc::new(Cell::new(0))];
    let link = |socket, rank: usize, lost| {
        let datagrams = Counted { socket, sent: Rc::clone(&counts[rank]), lost };
        let stream = UdpStream::over(datagrams, &SECRET, rank, 1 - rank).unwrap();
        SocketLink::over(rank, vec![stream]).unwrap()
    };
    ([link(one, 0, lost), link(other, 1, 0)], counts)
}

#[test]
fn a_frame_is_one_datagram_and_a_round_trip_two() {
    const ROUNDS: u64 = 1000;
    let ([mut here, mut there], counts) = counted(0);
    for round in 0..ROUNDS {
        send(&mut here, 1, round);
        assert_eq!(receive_some(&mut there).unwrap(), [frame(round)]);
        send(&mut there, 0, !round);
        assert_eq!(receive_some(&mut here).unwrap(), [frame(!round)]);
    }
    assert_eq!([counts[0].get(), counts[1].get()], [ROUNDS; 2]);
}

#[test]
fn a_payload_travels_with_what_announces_it() {
    let bytes: Vec<u8> = (0..65_000).map(|at| (at % 251) as u8).collect();
    // A datagram has room for not quite 64 KiB.
    for len in [0, 1000, 65_000] {
        let ([mut here, there], counts) = counted(0);
        let mut there = there.exposing(1 << 20);
        let frame = Frame::announcing(FrameKind::Stored, 7, len);
        let from = Source::Bytes(&bytes[..len]);
        assert_eq!(here.try_write(1, &frame, from, &mut 0).unwrap(), Posted::Yes);
        assert_eq!(counts[0].get(), 1);
        assert_eq!(receive_some(&mut there).unwrap(), [frame]);
        assert!(there.exposed()[7..7 + len] == bytes[..len]);
    }
}

#[test]
fn a_sleeper_wakes_to_send_again_what_was_lost() {
    for lost in [1, 2, 3] {
        let ([mut here, mut there], counts) = counted(lost);
        send(&mut here, 1, 5);
        while counts[0].get() <= lost {
            here.block(FOR_EVER).unwrap();
        }
        assert_eq!(receive_some(&mut there).unwrap(), [frame(5)]);
        assert_eq!(mishaps(here).repeated, lost);
    }
}

#[test]
fn a_rank_that_sleeps_has_acknowledged() {
    let ([mut here, mut there], counts) = counted(0);
    send(&mut here, 1, 5);
    assert_eq!(receive_some(&mut there).unwrap(), [frame(5)]);
    assert_eq!((here.unsent(), there.unsent(), counts[1].get()), (1, 1, 0));
    there.block(Duration::ZERO).unwrap();
    assert_eq!((there.unsent(), counts[1].get()), (0, 1));
    // The acknowledgement wakes, and is no frame.
    here.block(FOR_EVER).unwrap();
    assert_eq!(receive(&mut here).unwrap(), []);
    assert_eq!(here.unsent(), 0);
}

#[test]
fn a_sleeper_wakes_when_there_is_room_again() {
    let (mut here, mut there) = pair();
    let mut accepted = 0;
    while here.try_send(1, &frame(accepted)).unwrap() == Posted::Yes {
        accepted += 1;
    }
    let receiver = thread::spawn(move || {
        for word in 0..accepted {
            assert_eq!(receive_some(&mut there).unwrap(), [frame(word)]);
        }
        there
    });
    while here.try_send(1, &frame(accepted)).unwrap() == Posted::Busy {
        here.block(FOR_EVER).unwrap();
        receive(&mut here).unwrap();
    }
    let mut there = receiver.join().unwrap();
    assert_eq!(receive_some(&mut there).unwrap(), [frame(accepted)]);
}

#[test]
fn who_has_no_room_sleeps_until_it_is_time_to_ask() {
    let ([mut here, _there], counts) = counted(0);
    while here.try_send(1, &frame(0)).unwrap() == Posted::Yes {}
    let before = counts[0].get();
    let mut sleeps = 0;
    while counts[0].get() == before {
        assert_eq!(here.try_send(1, &frame(0)).unwrap(), Posted::Busy);
        here.block(FOR_EVER).unwrap();
        sleeps += 1;
    }
    // One until the time has come, and one in which it has; what is left of a millisecond, or a
    // signal, may cost some more. Without sleep there would be thousands.
    assert!((2..10).contains(&sleeps), "{sleeps}");
}

#[test]
fn what_does_not_fit_is_sent_again() {
    let (one, other) = mesh::pair::<UdpSocket>();
    let mut here = UdpStream::over(one, &SECRET, 0, 1).unwrap();
    let mut there = UdpStream::over(other, &SECRET, 1, 0).unwrap();
    assert_eq!(here.send(b"bytes").unwrap(), 5);
    let mut into = [0; 5];
    assert_eq!(there.receive(&mut into[..4]).unwrap(), Received::Nothing);
    while there.receive(&mut into).unwrap() == Received::Nothing {
        here.rest().unwrap();
        thread::yield_now();
    }
    assert_eq!((&into, here.mishaps().repeated), (b"bytes", 1));
}

#[test]
fn who_stops_polling_settles_whether_the_peer_polls_or_not() {
    let (mut here, mut there) = pair();
    send(&mut here, 1, 1);
    assert_eq!(here.unsent(), 1);
    // The peer takes it, and both settle, polling in turn.
    assert_eq!(receive_some(&mut there).unwrap(), [frame(1)]);
    while here.unsent() + there.unsent() > 0 {
        receive(&mut here).unwrap();
        receive(&mut there).unwrap();
    }
    // The peer does not poll any more: this is waited for, but not for ever.
    send(&mut here, 1, 2);
    let mut polls = 0_u64;
    while here.unsent() > 0 {
        receive(&mut here).unwrap();
        polls += 1;
        thread::yield_now();
    }
    assert!(polls > 32, "it was not waited for");
    assert!(mishaps(here).repeated > 1);
    // It has arrived nevertheless, once.
    assert_eq!(receive(&mut there).unwrap(), [frame(2)]);
}

#[test]
fn a_peer_that_leaves_is_gone_after_its_last_frame() {
    let (here, mut there) = pair();
    let mut here = here;
    send(&mut here, 1, 1);
    send(&mut here, 1, 2);
    drop(here);
    assert_eq!(receive_some(&mut there).unwrap(), [frame(1)]);
    assert_eq!(receive_some(&mut there).unwrap(), [frame(2)]);
    let error = receive_some(&mut there).unwrap_err();
    assert!(matches!(error, CommError::PeerGone { peer: 0, .. }), "{error:?}");
    let error = there.try_send(0, &frame(3)).unwrap_err();
    assert!(matches!(error, CommError::PeerGone { peer: 0, .. }), "{error:?}");
    assert_eq!(there.unsent(), 0);
}

#[test]
fn a_peer_that_died_without_a_word_is_gone_when_it_is_sent_to() {
    let (one, other) = mesh::pair::<UdpSocket>();
    let stream = UdpStream::over(one, &SECRET, 0, 1).unwrap();
    let mut here = SocketLink::over(0, vec![stream]).unwrap();
    drop(other);
    send(&mut here, 1, 1);
    let error = receive_some(&mut here).unwrap_err();
    assert!(matches!(error, CommError::PeerGone { peer: 1, .. }), "{error:?}");
    here.block(FOR_EVER).unwrap();
    assert_eq!(here.unsent(), 0);
}

#[test]
fn strangers_are_not_heard() {
    const RANKS: usize = 3;
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    let disturb = |addresses: &[String]| {
        for address in addresses.iter().flat_map(|text| text.split(',')) {
            for said in [&b""[..], b"GET / HTTP/1.1\r\n\r\n", &[0; 24], &[0xB6; 64], &[7; 65_000]] {
                stranger.send_to(said, address).unwrap();
            }
        }
    };
    // At every socket, before it is connected and after, strangers leave what they have.
    let mut told = Vec::new();
    let mut links = mesh::links_amid::<UdpSocket>(RANKS, |addresses| {
        disturb(addresses);
        told = addresses.to_vec();
    });
    disturb(&told);
    for from in 0..RANKS {
        for to in (0..RANKS).filter(|&to| to != from) {
            send(&mut links[from], to, from as u64);
            assert_eq!(receive_some(&mut links[to]).unwrap(), [frame(from as u64)]);
        }
    }
    for link in links {
        // From before the socket was connected; after that the system drops them.
        assert!(link.into_streams().iter().all(|stream| stream.mishaps().refused == 5));
    }
}

#[test]
fn a_rank_of_another_run_is_not_heard() {
    let (one, other) = mesh::pair::<UdpSocket>();
    let over = |socket, secret, rank: usize| {
        let stream = UdpStream::over(socket, secret, rank, 1 - rank).unwrap();
        SocketLink::over(rank, vec![stream]).unwrap()
    };
    let mut here = over(one, &SECRET, 0);
    let mut there = over(other, b"another run's...", 1);
    send(&mut there, 0, 1);
    drop(there);
    let refused = loop {
        assert_eq!(receive(&mut here).unwrap(), []);
        let stream = here.into_streams().remove(0);
        if stream.mishaps().refused == 2 {
            break stream.mishaps();
        }
        here = SocketLink::over(0, vec![stream]).unwrap();
    };
    assert_eq!(refused, Mishaps { refused: 2, ..Mishaps::default() });
}
