//! What the transports need from a connection that carries bytes in order.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{ioctl_fionbio, readv};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg};

use crate::call::at_once;

/// A connection that carries bytes, each exactly once and in order. No call waits.
pub trait Stream: AsFd + 'static {
    /// Takes bytes to send, starting with the first. Returns how many: 0 if there is no room.
    ///
    /// # Errors
    /// The connection is closed or broken.
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.send_parts([bytes, &[], &[]])
    }

    /// As [`Stream::send`] of the bytes of all parts, one after the other.
    ///
    /// # Errors
    /// As [`Stream::send`].
    fn send_parts(&mut self, parts: [&[u8]; 3]) -> io::Result<usize>;

    /// Puts what has arrived into `into`, which has room for at least one byte.
    ///
    /// # Errors
    /// The connection is closed or broken.
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Received> {
        self.receive_both(into, &mut [])
    }

    /// As [`Stream::receive`] into both slices, the first one first.
    ///
    /// # Errors
    /// As [`Stream::receive`].
    fn receive_both(&mut self, first: &mut [u8], second: &mut [u8]) -> io::Result<Received>;
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

/// A connected stream socket of the system, of whatever kind, whose calls do not wait.
#[derive(Debug)]
pub struct Socket(OwnedFd);

impl Socket {
    /// The socket, whose calls wait no more.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn of(socket: impl Into<OwnedFd>) -> io::Result<Self> {
        let socket = socket.into();
        ioctl_fionbio(&socket, true)?;
        Ok(Self(socket))
    }
}

impl From<Socket> for OwnedFd {
    fn from(socket: Socket) -> Self {
        socket.0
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Stream for Socket {
    #[inline(always)]
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(at_once(|| send(&self.0, bytes, SendFlags::NOSIGNAL))?.unwrap_or(0))
    }

    fn send_parts(&mut self, parts: [&[u8]; 3]) -> io::Result<usize> {
        let parts = parts.map(IoSlice::new);
        let mut none = SendAncillaryBuffer::default();
        Ok(at_once(|| sendmsg(&self.0, &parts, &mut none, SendFlags::NOSIGNAL))?.unwrap_or(0))
    }

    #[inline(always)]
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Received> {
        let arrived = at_once(|| recv(&self.0, &mut *into, RecvFlags::empty()))?;
        Ok(received(arrived.map(|(arrived, _)| arrived)))
    }

    fn receive_both(&mut self, first: &mut [u8], second: &mut [u8]) -> io::Result<Received> {
        let mut both = [IoSliceMut::new(first), IoSliceMut::new(second)];
        Ok(received(at_once(|| readv(&self.0, &mut both))?))
    }
}

/// What a call brought that had room for at least one byte.
#[inline(always)]
fn received(arrived: Option<usize>) -> Received {
    match arrived {
        Some(0) => Received::Closed,
        Some(arrived) => Received::Bytes(arrived),
        None => Received::Nothing,
    }
}
