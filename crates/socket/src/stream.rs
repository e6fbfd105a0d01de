//! What the transports need of a kind of stream socket.

use std::io;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// A connected stream socket.
pub trait Stream: AsFd {
    /// Prepares the socket for short messages: calls return rather than wait, and nothing is held
    /// back to be sent together with what may follow.
    ///
    /// # Errors
    /// The operating system refused.
    fn prepare(&self) -> io::Result<()>;
}

impl Stream for TcpStream {
    fn prepare(&self) -> io::Result<()> {
        self.set_nodelay(true)?;
        self.set_nonblocking(true)
    }
}

impl Stream for UnixStream {
    fn prepare(&self) -> io::Result<()> {
        self.set_nonblocking(true)
    }
}
