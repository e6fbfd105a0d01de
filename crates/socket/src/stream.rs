//! What the transports need from a connection that carries bytes in order.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::io::Errno;
use rustix::io::readv;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg};

/// A connection that carries bytes, each exactly once and in order. No call waits.
pub trait Stream: AsFd {
    /// Whether the stream has work of its own between calls, such as sending lost bytes again. If
    /// so, its owner calls [`Stream::tend`] now and then, and [`Stream::rest`] before it sleeps.
    const TENDED: bool = false;

    /// Largest unit, in bytes, that [`Stream::receive`] brings either whole or not at all; 0 if it
    /// can bring any number of bytes.
    const AT_ONCE: usize = 0;

    /// Prepares the socket for short messages: calls return instead of waiting, and no bytes are
    /// held back to be sent together with later ones.
    ///
    /// # Errors
    /// The operating system refused.
    fn prepare(&self) -> io::Result<()>;

    /// Takes bytes to send, starting with the first. Returns how many: 0 if there is no room.
    ///
    /// # Errors
    /// The connection is closed or broken.
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// As [`Stream::send`] of the bytes of both slices, one after the other.
    ///
    /// # Errors
    /// As [`Stream::send`].
    fn send_both(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize>;

    /// Puts what has arrived into `into`. It must have room for [`Stream::AT_ONCE`] bytes, and for
    /// at least one.
    ///
    /// # Errors
    /// The connection is closed or broken.
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Received>;

    /// As [`Stream::receive`] into both slices, the first one first. Together they must have that
    /// much room.
    ///
    /// # Errors
    /// As [`Stream::receive`].
    fn receive_both(&mut self, first: &mut [u8], second: &mut [u8]) -> io::Result<Received>;

    /// Does the work that is due.
    ///
    /// # Errors
    /// The connection is closed or broken.
    fn tend(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Does what must be done before the owner sleeps. Returns the time after which the owner must
    /// wake up even if nothing arrives.
    ///
    /// # Errors
    /// The connection is closed or broken.
    fn rest(&mut self) -> io::Result<Option<Duration>> {
        Ok(None)
    }

    /// Number of things left to do before calls may stop: bytes taken that may not have arrived,
    /// and answers that the peer waits for.
    fn unsettled(&self) -> usize {
        0
    }
}

/// The result of [`Stream::receive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// This many bytes, at least one.
    Bytes(usize),
    /// Nothing for now.
    Nothing,
    /// Nothing, now or ever: the peer closed the connection.
    Closed,
}

/// A connected stream socket of the system: all that differs between kinds is how they are prepared.
trait SystemSocket: AsFd {
    /// As [`Stream::prepare`].
    fn set_up(&self) -> io::Result<()>;
}

impl SystemSocket for TcpStream {
    fn set_up(&self) -> io::Result<()> {
        self.set_nodelay(true)?;
        self.set_nonblocking(true)
    }
}

impl SystemSocket for UnixStream {
    fn set_up(&self) -> io::Result<()> {
        self.set_nonblocking(true)
    }
}

impl<S: SystemSocket> Stream for S {
    fn prepare(&self) -> io::Result<()> {
        self.set_up()
    }

    #[inline(always)]
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        sent(|| send(&*self, bytes, SendFlags::NOSIGNAL))
    }

    #[inline]
    fn send_both(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        let both = [IoSlice::new(first), IoSlice::new(second)];
        let mut none = SendAncillaryBuffer::default();
        sent(|| sendmsg(&*self, &both, &mut none, SendFlags::NOSIGNAL))
    }

    #[inline(always)]
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Received> {
        received(|| recv(&*self, &mut *into, RecvFlags::empty()).map(|(arrived, _)| arrived))
    }

    #[inline]
    fn receive_both(&mut self, first: &mut [u8], second: &mut [u8]) -> io::Result<Received> {
        received(|| readv(&*self, &mut [IoSliceMut::new(first), IoSliceMut::new(second)]))
    }
}

#[inline(always)]
fn sent(mut call: impl FnMut() -> Result<usize, Errno>) -> io::Result<usize> {
    loop {
        match call() {
            Ok(sent) => return Ok(sent),
            Err(Errno::AGAIN) => return Ok(0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[inline(always)]
fn received(mut call: impl FnMut() -> Result<usize, Errno>) -> io::Result<Received> {
    loop {
        match call() {
            // There is room, so 0 bytes mean that the peer closed the connection.
            Ok(0) => return Ok(Received::Closed),
            Ok(arrived) => return Ok(Received::Bytes(arrived)),
            Err(Errno::AGAIN) => return Ok(Received::Nothing),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
