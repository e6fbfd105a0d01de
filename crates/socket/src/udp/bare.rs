//! Connected pairs of UDP sockets on the loopback interface, for the floor.

use std::net::{Ipv4Addr, UdpSocket};

use crate::SocketError;
use crate::error::system;
use crate::tcp::parse;

/// A socket on a port that the system chooses, and its address, to tell the other side.
///
/// # Errors
/// The operating system refused.
pub fn bind_loopback() -> Result<(UdpSocket, String), SocketError> {
    let operation = "bind a datagram socket to the loopback interface";
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(system(operation))?;
    let address = socket.local_addr().map_err(system(operation))?;
    Ok((socket, address.to_string()))
}

/// Connects the socket to the other side's address. From then on it receives from nobody else, and
/// its calls do not wait.
///
/// # Errors
/// The address is invalid, or the operating system refused.
pub fn connect(socket: UdpSocket, address: &str) -> Result<UdpSocket, SocketError> {
    let operation = "connect a datagram socket";
    socket.connect(parse(address)?).map_err(system(operation))?;
    socket.set_nonblocking(true).map_err(system(operation))?;
    Ok(socket)
}
