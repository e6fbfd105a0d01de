//! How ranks find each other: a rank has a socket for each peer, and all ranks tell
//! each other the sockets' addresses before they send anything. Nothing else needs to be agreed.
//!
//! On one host a rank's sockets have an address of the loopback interface to themselves. At one address for all, n ranks would take
//! n·(n − 1) ports of the 28 232 that Linux hands out, which are too few from 169 ranks on.

use std::io;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};

use bandgap_comm::{Rank, Rendezvous, Result};
use rustix::net::sockopt::{ip_mtu, ipv6_mtu};

use super::Datagrams;
use super::header::MAX_DATAGRAM;
use crate::SocketError;
use crate::connect::{self, exchange};
use crate::error::system;

/// What every path takes in one piece: the least MTU of IPv6 without headers (RFC 8200, section 5).
const LEAST: usize = 1280 - 48;

/// Separates the addresses of a rank.
const BETWEEN: &str = ",";

/// This rank's sockets, each connected to one peer's, in the order of
/// ranks. This waits for nobody: datagrams for a peer that has not got this far wait at its socket.
/// A connected socket receives from its peer only, but what strangers sent before is still in it.
pub(super) fn sockets(meeting: &mut dyn Rendezvous) -> Result<Vec<UdpSocket>> {
    let operation = "bind a datagram socket to the interface's address";
    let mut sockets = Vec::new();
    let mut addresses = Vec::new();
    for _ in 1..meeting.size() {
        let socket = bind(meeting.interface(), meeting.rank()).map_err(system(operation))?;
        addresses.push(socket.local_addr().map_err(system(operation))?.to_string());
        sockets.push(socket);
    }
    let all = exchange(meeting, addresses.join(BETWEEN))?;
    let rank = meeting.rank();
    let operation = "connect a datagram socket";
    let peers = (0..all.len()).filter(|&peer| peer != rank);
    for (peer, socket) in peers.zip(&sockets) {
        let text = &all[peer];
        // This rank's place among the peer's peers; the peer itself is not one of them.
        let nth = if rank < peer { rank } else { rank - 1 };
        let address = text.split(BETWEEN).nth(nth);
        let address = address.ok_or_else(|| SocketError::Address(text.clone()))?;
        socket.connect(connect::address(address)?).map_err(system(operation))?;
        socket.set_nonblocking(true).map_err(system(operation))?;
    }
    Ok(sockets)
}

/// The same with nothing in the sockets: what strangers sent before is taken out, and only then does any rank get them.
pub(super) fn emptied(meeting: &mut dyn Rendezvous) -> Result<Vec<UdpSocket>> {
    let mut sockets = sockets(meeting)?;
    let operation = "empty a datagram socket";
    for socket in &mut sockets {
        while socket.receive(&mut [0]).map_err(system(operation))?.is_some() {}
    }
    exchange(meeting, String::new())?;
    Ok(sockets)
}

/// A socket of a rank at this address of its host; on the loopback interface at the rank's own, where there is one.
fn bind(interface: IpAddr, rank: Rank) -> io::Result<UdpSocket> {
    let own = interface.is_loopback().then(|| UdpSocket::bind((address(rank), 0)));
    own.and_then(Result::ok).map_or_else(|| UdpSocket::bind((interface, 0)), Ok)
}

/// The longest datagram that goes to the socket's peer in one piece: of several pieces the loss of one loses all. The
/// loopback interface does not cut them.
pub(super) fn longest(socket: &UdpSocket, interface: IpAddr) -> usize {
    let mtu = match interface {
        _ if interface.is_loopback() => return MAX_DATAGRAM,
        IpAddr::V4(_) => ip_mtu(socket).map(|mtu| mtu as usize - 28),
        IpAddr::V6(_) => ipv6_mtu(socket).map(|mtu| mtu as usize - 48),
    };
    mtu.unwrap_or(LEAST).clamp(LEAST, MAX_DATAGRAM)
}

/// The address of a rank: 127.0.0.1 of rank 0, and so on. All of 127.0.0.0/8 is the loopback interface.
fn address(rank: Rank) -> Ipv4Addr {
    Ipv4Addr::from_bits(Ipv4Addr::LOCALHOST.to_bits() + (rank as u32 & 0xFFFF))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::net::SocketAddr;

    use super::*;

    #[test]
    fn ranks_take_no_ports_from_each_other() {
        let most = 256;
        let addresses: BTreeSet<Ipv4Addr> = (0..most).map(address).collect();
        assert_eq!(addresses.len(), most);
        assert!(addresses.iter().all(Ipv4Addr::is_loopback));
        let bound =
            |rank| match bind(Ipv4Addr::LOCALHOST.into(), rank).unwrap().local_addr().unwrap() {
                SocketAddr::V4(address) => *address.ip(),
                SocketAddr::V6(_) => panic!("it is an address of IPv4"),
            };
        assert_eq!([bound(0), bound(1), bound(255)], [address(0), address(1), address(255)]);
        assert_eq!(address(255).to_string(), "127.0.1.0");
    }
}
