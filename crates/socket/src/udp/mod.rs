//! Connects ranks over UDP: each pair of ranks has a reliable, ordered
//! stream of bytes over datagrams, with a socket of its own at each end. [`UdpStream`] is one end of
//! a pair, over anything that carries [`Datagrams`].
//!
//! A frame is a datagram, and so is a short payload with the frames around it. One call sends it, one
//! call receives it, and it acknowledges what came from the other side. No other datagrams are sent
//! while nothing is lost and there is traffic in both directions.

mod datagrams;
mod header;
mod inbox;
mod outbox;
mod ports;
mod protocol;
mod store;
mod stream;

use std::borrow::Cow::Borrowed;
use std::net::UdpSocket;

use bandgap_comm::{CommError, Floor, Rank, Rendezvous, Yardstick};

use crate::error::system;
use crate::transport::{message, word, words};
use crate::{Kind, Over, Result};

pub use datagrams::Datagrams;
pub use stream::UdpStream;

/// What has gone wrong at one end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mishaps {
    /// Datagrams sent again.
    pub repeated: u64,
    /// Datagrams that had arrived before.
    pub duplicates: u64,
    /// Datagrams that arrived before their turn and were dropped.
    pub early: u64,
    /// Datagrams that were not the peer's, were changed on their way, or were invalid.
    pub refused: u64,
}

/// Size to request for a socket's receive buffer: Linux's default limit for unprivileged processes.
/// The system grants twice as much, for what it adds to each datagram.
const RECEIVE_BUFFER: usize = 212_992;
/// The size that the system then grants; no peer has more room.
const MAX_ROOM: u32 = 425_984;
/// The least room of a peer; assumed until the peer says how much it has.
const LEAST_ROOM: u32 = 64 * 1024;
/// Most datagrams with a payload that can be under way.
const MOST: u32 = MAX_ROOM / charge(header::HEADER);

/// An upper bound of the space that a datagram of `len` bytes takes in a receive buffer. Linux adds
/// headers; it then rounds the size up to a power of two if that is below 16 KiB, else to pages.
const fn charge(len: usize) -> u32 {
    const ROUNDED: usize = 16 * 1024;
    const ADDED: usize = 1024;
    let rounding = if len < ROUNDED { len } else { ROUNDED };
    (len + rounding + ADDED) as u32
}

/// UDP, made reliable.
pub type Udp = Over<UdpSocket>;

impl Kind for UdpSocket {
    const NAME: &'static str = "udp";
    const MEANING: &'static str = "UDP, made reliable";
    /// Few programs send messages over it: it is measured when asked for.
    const COMPARED: bool = false;
    const LOSES: bool = true;
    const FLOORS: &'static [Floor] = &[
        word("udp", "8 bytes over UDP, half a round trip"),
        message(
            "active_message_udp",
            "request and reply over UDP, half round trip",
            &[Borrowed("udp")],
        ),
    ];
    const YARDSTICKS: &'static [Yardstick] = &[words("udp")];

    type Stream = UdpStream;

    fn sockets(meeting: &mut dyn Rendezvous) -> Result<Vec<Self>, CommError> {
        ports::sockets(meeting)
    }

    fn bare(meeting: &mut dyn Rendezvous) -> Result<Vec<Self>, CommError> {
        ports::emptied(meeting)
    }

    fn stream(self, meeting: &dyn Rendezvous, peer: Rank) -> Result<Self::Stream> {
        let longest = ports::longest(&self, meeting.interface());
        let stream = UdpStream::over(self, &meeting.secret(), meeting.rank(), peer);
        let stream = stream.map_err(system("prepare a datagram socket"))?;
        Ok(stream.with_datagrams_up_to(longest))
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::sockopt::{set_socket_recv_buffer_size, socket_recv_buffer_size};

    use super::*;

    /// A receive buffer holds as many datagrams as the charges allow, whatever their length.
    #[test]
    fn charges_are_not_below_the_systems() {
        for len in [25, 64, 300, 700, 1700, 3750, 4096, 7850, 16_300, 16_500, 33_000, 65_507] {
            let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
            receiver.set_nonblocking(true).unwrap();
            set_socket_recv_buffer_size(&receiver, RECEIVE_BUFFER).unwrap();
            let room = socket_recv_buffer_size(&receiver).unwrap();
            let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
            sender.connect(receiver.local_addr().unwrap()).unwrap();
            let fit = room / charge(len) as usize;
            for _ in 0..fit {
                assert_eq!(sender.send(&vec![0; len]).unwrap(), len);
            }
            let mut arrived = vec![0; len];
            for nth in 0..fit {
                let got = receiver.recv(&mut arrived);
                assert_eq!(got.ok(), Some(len), "datagram {nth} of {fit} of {len} bytes");
            }
        }
    }
}
