//! Ranks connected over UDP on the loopback interface: an ordered and reliable stream of bytes
//! made of datagrams, one socket for each pair of ranks on either side. Bare sockets for the floor.
//!
//! * [`Ports`], [`link`]: how ranks find each other.
//! * [`UdpStream`]: one end of a pair, over anything that carries [`Datagrams`].
//!
//! A frame is a datagram: one call sends it, one receives it, and it acknowledges what came from
//! there. While nothing is lost, no other datagram is sent, as long as there is traffic both ways.

mod bare;
mod datagrams;
mod header;
mod inbox;
mod outbox;
mod ports;
mod protocol;
mod store;
mod stream;

pub use bare::{bind_loopback, connect};
pub use datagrams::Datagrams;
pub use ports::{Ports, link};
pub use protocol::Mishaps;
pub use stream::UdpStream;

/// Bytes asked for as a socket's receive buffer: Linux' default limit for processes without
/// privileges. The system grants twice as much, for what it adds to each datagram.
const RECEIVE_BUFFER: usize = 212_992;
/// What that is then; no peer has more room.
const MAX_ROOM: u32 = 425_984;
/// What a peer has at least, and is taken to have until it says what it has.
const LEAST_ROOM: u32 = 64 * 1024;
/// Datagrams with a payload that can be under way at most.
const MOST: u32 = MAX_ROOM / charge(header::HEADER);

/// What a datagram of so many bytes costs of a receive buffer, at most. Linux rounds what it adds
/// headers to up to a power of two while that is below 16 KiB, and takes pages beyond.
const fn charge(len: usize) -> u32 {
    const ROUNDED: usize = 16 * 1024;
    const ADDED: usize = 1024;
    let rounding = if len < ROUNDED { len } else { ROUNDED };
    (len + rounding + ADDED) as u32
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use rustix::net::sockopt::{set_socket_recv_buffer_size, socket_recv_buffer_size};

    use super::*;

    /// As many datagrams as the charges allow fit into a receive buffer, of any length.
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
