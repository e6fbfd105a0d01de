//! Datagrams, and the layer that makes them reliable.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::sync::OnceLock;

use bandgap_socket::udp::{Datagrams, UdpStream, sealed};
use bandgap_socket::{Received, Secret, Stream};

use crate::{Shape, Target, Verdict};

pub(super) const DATAGRAMS: Target = Target {
    name: "datagrams",
    about: "datagrams of a peer, and of strangers",
    shape: Shape::Bytes,
    real: &[],
    made,
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
    /// The last one that was sent.
    sent: Rc<RefCell<Vec<u8>>>,
}

impl AsFd for Arrived {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Datagrams for Arrived {
    fn send(&mut self, datagram: &[u8]) -> io::Result<bool> {
        *self.sent.borrow_mut() = datagram.to_vec();
        Ok(true)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(datagram) = self.datagrams.pop_front() else { return Ok(None) };
        let len = datagram.len().min(into.len());
        into[..len].copy_from_slice(&datagram[..len]);
        Ok(Some(len))
    }
}

/// A record: what it is, 3 bytes each of number and acknowledgement relative to the first, the room, flags, length of
/// the payload.
const RECORD: usize = 11;

fn made() -> Vec<Vec<u8>> {
    let record = |what: u8, number: i8, ack: i8, flags: u8, len: u16| {
        let wide = |value: i8| (i32::from(value)).to_le_bytes();
        let (number, ack, [low, high]) = (wide(number), wide(ack), len.to_le_bytes());
        vec![what, number[0], number[1], number[2], ack[0], ack[1], ack[2], 0, flags, low, high]
    };
    vec![
        record(0, 0, 0, 0, 8),
        [record(0, 0, 0, 0, 8), record(0, 1, 0, 0, 100), record(0, 1, 1, 1, 100)].concat(),
        [record(0, 3, 0, 0, 8), record(0, 0, 3, 2, 8)].concat(),
        [record(0, 0, 5, 2, 0), record(0, 0, 0, 4, 0)].concat(),
        [record(0, -1, -1, 0, 8), record(0, 0, 0, 0, 40_000), record(0, 1, 0, 4, 8)].concat(),
        record(1, 1, 2, 3, 4),
    ]
}

/// The number of the first datagram of every stream, as a stream says it.
fn first_number() -> u32 {
    static FIRST: OnceLock<u32> = OnceLock::new();
    *FIRST.get_or_init(|| {
        let sent = Rc::default();
        let _ = over(VecDeque::new(), &sent).send(b"x");
        let datagram = sent.take();
        // The last one is the farewell, which has the number of the next.
        datagram[8..].first_chunk().map_or(0, |number| u32::from_le_bytes(*number).wrapping_sub(1))
    })
}

fn over(datagrams: VecDeque<Vec<u8>>, sent: &Rc<RefCell<Vec<u8>>>) -> UdpStream<Arrived> {
    thread_local!(static SOCKET: Rc<UdpSocket> =
        Rc::new(UdpSocket::bind("127.0.0.1:0").expect("a port of the loopback interface")));
    let arrived = Arrived { socket: SOCKET.with(Rc::clone), datagrams, sent: Rc::clone(sent) };
    UdpStream::over(arrived, &SECRET, 0, 1).expect("a socket has a buffer")
}

/// The datagrams that an input says, and the payload of each that is sound.
fn datagrams(input: &[u8], first: u32) -> VecDeque<Vec<u8>> {
    let of = |record: &[u8]| {
        let mut whole = [0; RECORD];
        whole[..record.len()].copy_from_slice(record);
        let near = |bytes: &[u8]| {
            // Three bytes with a sign.
            let wide = i32::from_le_bytes([0, bytes[0], bytes[1], bytes[2]]) >> 8;
            first.wrapping_add_signed(wide)
        };
        let room = match whole[7] {
            0 => 1 << 17,
            byte => u32::from(byte) << 13,
        };
        let len = usize::from(u16::from_le_bytes([whole[9], whole[10]])).min(65_400);
        let fields = [near(&whole[1..4]), near(&whole[4..7]), room];
        let mut datagram = sealed(&SECRET, 1, 0, fields, whole[8], &vec![whole[0]; len]);
        // Some are a stranger's.
        if whole[0] % 8 == 1 {
            let at = usize::from(whole[1]) % datagram.len();
            datagram[at] ^= whole[2] | 1;
        }
        datagram
    };
    input.chunks(RECORD).take(200).map(of).collect()
}

fn read(input: &[u8]) -> Verdict {
    let arriving = datagrams(input, first_number());
    let (count, most) = (arriving.len(), arriving.iter().map(Vec::len).sum::<usize>());
    let mut stream = over(arriving, &Rc::default());
    // Some is under way when they arrive.
    let mut pushed = 0;
    for _ in 0..input.first().copied().unwrap_or(0) % 8 {
        pushed += stream.send(&[7; 300]).unwrap_or(0);
    }
    let mut into = vec![0; 1 << 16];
    let mut received = 0;
    for _ in 0..=count {
        match stream.receive(&mut into) {
            Ok(Received::Bytes(bytes)) => received += bytes,
            Ok(Received::Nothing) => {}
            Ok(Received::Closed) | Err(_) => break,
        }
        if stream.tend().is_err() {
            break;
        }
        assert!(stream.unsettled() <= pushed / 300 + 1);
    }
    let refused = stream.mishaps().refused;
    assert!(received <= most && refused <= count as u64);
    if refused == 0 { Verdict::Accepted } else { Verdict::Refused }
}
