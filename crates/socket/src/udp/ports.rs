//! How ranks on one machine find each other: a rank has a socket for each peer, and all ranks tell
//! each other the sockets' addresses before they send anything. Nothing else needs to be agreed.

use std::net::{Ipv4Addr, UdpSocket};

use bandgap_comm::{CommError, Rendezvous};

use crate::SocketError;
use crate::connect::{exchange, loopback};
use crate::error::system;

/// Separates the addresses of a rank.
const BETWEEN: &str = ",";

/// This rank's sockets on the loopback interface, each connected to one peer's, in the order of
/// ranks. This waits for nobody: datagrams for a peer that has not got this far wait at its socket.
/// A connected socket receives from its peer only, but what strangers sent before is still in it.
pub(super) fn sockets(meeting: &mut dyn Rendezvous) -> Result<Vec<UdpSocket>, CommError> {
    let operation = "bind a datagram socket to the loopback interface";
    let mut sockets = Vec::new();
    let mut addresses = Vec::new();
    for _ in 1..meeting.size() {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(system(operation))?;
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
        let address = address.ok_or_else(|| SocketError::Address { text: text.clone() })?;
        socket.connect(loopback(address)?).map_err(system(operation))?;
        socket.set_nonblocking(true).map_err(system(operation))?;
    }
    Ok(sockets)
}
