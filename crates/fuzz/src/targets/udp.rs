//! Datagrams, and the layer that makes them reliable.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::sync::OnceLock;

use bandgap_socket::udp::{Datagrams, UdpStream};
use bandgap_socket::{Received, Secret, Stream};

use correct::{Correct, Said, said};

use crate::{Shape, Target, Verdict};

mod correct;

pub(super) const DATAGRAMS: Target = Target {
    name: "datagrams",
    about: "datagrams of a peer, and of strangers",
    shape: Shape::Bytes,
    real: &[],
    made,
    wrong,
    words: &[],
    read,
    share: 5,
};

const SECRET: Secret = *b"0123456789abcdef";

/// Datagrams that have arrived, of rank 1 at rank 0.
#[derive(Debug)]
struct Arrived {
    socket: Rc<UdpSocket>,
    datagrams: VecDeque<Vec<u8>>,
    /// What was sent back and has not been looked at.
    sent: Sent,
}

type Sent = Rc<RefCell<Vec<Vec<u8>>>>;

impl AsFd for Arrived {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Datagrams for Arrived {
    fn send(&mut self, datagram: &[u8]) -> io::Result<bool> {
        self.sent.borrow_mut().push(datagram.to_vec());
        Ok(true)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(datagram) = self.datagrams.pop_front() else { return Ok(None) };
        let len = datagram.len().min(into.len());
        into[..len].copy_from_slice(&datagram[..len]);
        Ok(Some(len))
    }
}

/// A record: who sends it and how much is under way, 3 bytes each of number and acknowledgement relative to the first,
/// the room, flags, length of the payload.
const RECORD: usize = 11;

fn record(what: u8, number: i8, ack: i8, flags: u8, len: u16) -> Vec<u8> {
    let wide = |value: i8| (i32::from(value)).to_le_bytes();
    let (number, ack, [low, high]) = (wide(number), wide(ack), len.to_le_bytes());
    vec![what, number[0], number[1], number[2], ack[0], ack[1], ack[2], 0, flags, low, high]
}

fn made() -> Vec<Vec<u8>> {
    vec![
        record(0, 0, 0, 0, 8),
        // Four are under way. Some come again, one comes early, and everything is acknowledged.
        [
            record(4, 0, 0, 0, 8),
            record(0, 1, 1, 1, 100),
            record(0, 1, 1, 0, 100),
            record(0, 3, 2, 0, 8),
            record(0, 2, 2, 0, 40_000),
            record(0, 0, 0, 1, 8),
            record(0, 3, 4, 0, 8),
        ]
        .concat(),
        // The peer says that something was lost, and closes.
        [record(3, 0, 1, 2, 0), record(0, 0, 3, 0, 8), record(0, 1, 3, 4, 0)].concat(),
        [record(0, -1, -1, 0, 8), record(0, 0, 0, 0, 40_000), record(0, 1, 0, 4, 0)].concat(),
    ]
}

fn wrong() -> Vec<Vec<u8>> {
    vec![
        // What was never sent is acknowledged.
        [record(0, 0, 0, 0, 8), record(0, 1, 0, 0, 100), record(0, 1, 1, 1, 100)].concat(),
        [record(0, 3, 0, 0, 8), record(0, 0, 3, 2, 8)].concat(),
        [record(0, 0, 5, 2, 0), record(0, 0, 0, 4, 0)].concat(),
        // Who closes says nothing else.
        [record(0, -1, -1, 0, 8), record(0, 0, 0, 0, 40_000), record(0, 1, 0, 4, 8)].concat(),
        // A stranger's, between those of the peer.
        record(1, 1, 2, 3, 4),
        [record(0, 0, 0, 0, 8), record(1, 1, 0, 0, 8), record(0, 1, 0, 0, 8)].concat(),
    ]
}

/// The number of the first datagram of every stream, as a stream says it.
fn first_number() -> u32 {
    static FIRST: OnceLock<u32> = OnceLock::new();
    *FIRST.get_or_init(|| {
        let sent = Sent::default();
        let _ = over(VecDeque::new(), &sent).send(b"x");
        sent.borrow().first().map_or(0, |datagram| field(datagram, NUMBER))
    })
}

/// Where the fields of a datagram are.
const NUMBER: usize = 8;
const ACK: usize = 12;
const PAYLOAD: usize = 24;

fn field(datagram: &[u8], at: usize) -> u32 {
    datagram[at..].first_chunk().map_or(0, |field| u32::from_le_bytes(*field))
}

fn over(datagrams: VecDeque<Vec<u8>>, sent: &Sent) -> UdpStream<Arrived> {
    thread_local!(static SOCKET: Rc<UdpSocket> =
        Rc::new(UdpSocket::bind("127.0.0.1:0").expect("a port of the loopback interface")));
    let arrived = Arrived { socket: SOCKET.with(Rc::clone), datagrams, sent: Rc::clone(sent) };
    UdpStream::over(arrived, &SECRET, 0, 1).expect("a socket has a buffer")
}

fn read(input: &[u8]) -> Verdict {
    let (said, first, sent) = (said(input), first_number(), Sent::default());
    let mut stream = over(said.iter().map(|said| said.datagram(first)).collect(), &sent);
    let under_way = input.first().copied().unwrap_or(0) % 8;
    let correct = follow(&mut stream, &said, &sent, under_way);
    let mishaps = stream.mishaps();
    let counts = [mishaps.refused, mishaps.duplicates, mishaps.early];
    assert_eq!(counts, [correct.refused, correct.again, correct.early], "refused, again, early");
    if correct.refused == 0 { Verdict::Accepted } else { Verdict::Refused }
}

/// Sends so many messages, and receives what was said. What comes of each datagram, and what is sent meanwhile, must be
/// as at a correct end.
fn follow(stream: &mut impl Stream, said: &[Said], sent: &Sent, under_way: u8) -> Correct {
    let own = |number: u8| [number; 300];
    for number in 0..under_way {
        assert_eq!(stream.send(&own(number)).ok(), Some(300), "there is room for a few");
    }
    let (first, mut correct) = (first_number(), Correct::with(under_way));
    let in_order = |correct: &Correct| {
        for datagram in sent.borrow_mut().drain(..) {
            let relative = |at| field(&datagram, at).wrapping_sub(first) as i32;
            let (number, ack) = (relative(NUMBER), relative(ACK));
            assert_eq!(ack, correct.expected, "it acknowledges other datagrams than arrived");
            if datagram.len() > PAYLOAD {
                let may = correct.acknowledged..i32::from(under_way);
                assert!(may.contains(&number), "it sends number {number} of {may:?}");
                assert!(datagram[PAYLOAD..] == own(number as u8), "it sends something else");
            }
        }
    };
    in_order(&correct);
    let mut into = vec![0; 1 << 16];
    // When all have arrived it is asked once more.
    for said in said.iter().map(Some).chain([None]) {
        let expected = said.and_then(|said| correct.takes(said));
        match (stream.receive(&mut into).expect("the socket is in order"), expected) {
            (Received::Bytes(bytes), Some(payload)) => {
                assert!(into[..bytes] == *payload, "other bytes arrive than were sent");
            }
            (Received::Bytes(bytes), None) => panic!("{bytes} bytes arrive that must not"),
            (_, Some(payload)) => panic!("{} bytes do not arrive", payload.len()),
            (ended, None) => {
                let over = said.is_none() && correct.is_over();
                assert_eq!(ended == Received::Closed, over, "whether the peer has closed");
            }
        }
        stream.tend().expect("the socket is in order");
        in_order(&correct);
        let most = usize::from(under_way) - correct.acknowledged as usize + 1;
        assert!(stream.unsettled() <= most, "{} of {most} are unsettled", stream.unsettled());
    }
    correct
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// What is found wrong with an end at which other datagrams arrive than are said: it stands for one that takes those
    /// that are said for others.
    fn found(said: &[Said], arrive: &[Said], under_way: u8) -> Option<String> {
        let (first, sent) = (first_number(), Sent::default());
        let mut stream = over(arrive.iter().map(|said| said.datagram(first)).collect(), &sent);
        let mut followed = || {
            follow(&mut stream, said, &sent, under_way);
        };
        let panic = catch_unwind(AssertUnwindSafe(&mut followed)).err()?;
        let said = panic.downcast_ref::<&str>().map(ToString::to_string);
        said.or_else(|| panic.downcast_ref::<String>().cloned())
    }

    /// Three datagrams in order, of which the last acknowledges two and says that others are lost.
    fn three() -> Vec<Said> {
        said(&[record(0, 0, 0, 0, 8), record(0, 1, 0, 0, 8), record(0, 2, 2, 2, 8)].concat())
    }

    #[test]
    fn an_end_that_does_wrong_is_found_out() {
        let (good, sound) = (three(), |change: &dyn Fn(&mut [Said])| {
            let mut other = three();
            change(&mut other);
            other
        });
        assert_eq!(found(&good, &good, 3), None);
        // (what is said, what such an end makes of it)
        let cases: [(&str, Vec<Said>, Vec<Said>); 7] = [
            ("takes a number twice", sound(&|said| said[1].number = 0), good.clone()),
            ("takes one that is early", sound(&|said| said[1].number = 2), good.clone()),
            ("takes a stranger's", sound(&|said| said[1].stranger = Some((30, 1))), good.clone()),
            ("takes nothing", good.clone(), sound(&|said| said[0].stranger = Some((30, 1)))),
            ("takes other bytes", good.clone(), sound(&|said| said[1].payload = said[0].payload)),
            ("forgets what was acknowledged", good.clone(), sound(&|said| said[2].ack = 1)),
            ("closes too early", said(&record(0, 0, 0, 0, 0)), said(&record(0, 0, 0, 4, 0))),
        ];
        for (what, said, arrive) in cases {
            assert!(found(&said, &arrive, 3).is_some(), "an end that {what} is not found out");
        }
    }
}
