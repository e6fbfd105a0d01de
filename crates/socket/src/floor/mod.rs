//! What bare sockets allow: plain loops over connected, non-blocking sockets.
//!
//! They do the least that any program over these sockets has to do, with the same system calls as
//! the link. Both sides run the same function, in opposite [`Role`](bandgap_comm::Role)s and with
//! the same [`Window`](bandgap_comm::Window). The initiator gets the timer's ticks for each sample,
//! including the cost of the timer; the responder gets an empty list.

mod bandwidth;
mod ping_pong;
mod side;
mod silence;

pub use bandwidth::{STREAM_BYTES, stream};
pub use ping_pong::ping_pong;

use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// A connected socket whose calls do not wait.
pub trait Pipe: AsFd {
    /// Whether messages may be lost.
    const LOSES: bool;
}

impl Pipe for TcpStream {
    const LOSES: bool = false;
}

impl Pipe for UnixStream {
    const LOSES: bool = false;
}

impl Pipe for UdpSocket {
    const LOSES: bool = true;
}
