//! What bare sockets allow: plain loops over connected, non-blocking sockets.
//!
//! The least that any program over these sockets has to do, and the same system calls that the
//! link uses. Both sides run the same function in opposite [`Role`](bandgap_comm::Role)s with the
//! same [`Window`](bandgap_comm::Window). The initiator's result is one number of timer ticks for
//! each sample, the timer's own cost included; the responder's is empty.

mod bandwidth;
mod ping_pong;
mod silence;

pub use bandwidth::{STREAM_BYTES, stream};
pub use ping_pong::ping_pong;

use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// A connected socket whose calls do not wait.
pub trait Pipe: AsFd {
    /// Whether what is sent may be lost.
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
