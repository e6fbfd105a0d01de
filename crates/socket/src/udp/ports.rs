//! How ranks on one machine find each other: a rank has a socket for each peer, and all ranks tell
//! each other the sockets' addresses before they send anything. Nothing else needs to be agreed.

use std::net::UdpSocket;

use bandgap_comm::Rank;

use super::{UdpStream, bare};
use crate::connect::Secret;
use crate::error::system;
use crate::{SocketError, SocketLink};

/// One socket on the loopback interface for each peer.
#[derive(Debug)]
pub struct Ports {
    /// In the order of the peers' ranks.
    sockets: Vec<UdpSocket>,
}

/// Separates the addresses of a rank.
const BETWEEN: char = ',';

impl Ports {
    /// Binds the sockets of one of `size` ranks to ports that the system chooses. Also returns the
    /// text to tell the others.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn bind(size: usize) -> Result<(Self, String), SocketError> {
        let mut sockets = Vec::new();
        let mut addresses = Vec::new();
        for _ in 1..size {
            let (socket, address) = bare::bind_loopback()?;
            sockets.push(socket);
            addresses.push(address);
        }
        Ok((Self { sockets }, addresses.join(&BETWEEN.to_string())))
    }
}

/// The link of `rank` to all others by the texts of their [`Ports`], in the order of ranks. This
/// waits for nobody: datagrams for a peer that has not got this far wait at its socket. What
/// strangers sent to the sockets before is dropped.
///
/// # Errors
/// A text does not fit the number of ranks or is invalid, or the operating system refused.
pub fn link(
    rank: Rank,
    ports: Ports,
    addresses: &[String],
    secret: &Secret,
) -> Result<SocketLink<UdpStream>, SocketError> {
    let size = ports.sockets.len() + 1;
    if addresses.len() != size {
        return Err(SocketError::Addresses { addresses: addresses.len(), size });
    }
    let mut streams = Vec::with_capacity(size - 1);
    let peers = (0..size).filter(|&peer| peer != rank);
    for (peer, socket) in peers.zip(ports.sockets) {
        let text = &addresses[peer];
        // This rank's place among the peer's peers; the peer itself is not one of them.
        let nth = if rank < peer { rank } else { rank - 1 };
        let address = text.split(BETWEEN).nth(nth);
        let address = address.ok_or_else(|| SocketError::Address { text: text.clone() })?;
        let socket = bare::connect(socket, address)?;
        let stream = UdpStream::over(socket, secret, rank, peer);
        streams.push(stream.map_err(system("prepare a datagram socket"))?);
    }
    SocketLink::over(rank, streams)
}
