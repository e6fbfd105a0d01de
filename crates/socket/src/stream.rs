//! What the transports need of a connection that carries bytes in order.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::io::Errno;
use rustix::io::readv;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg};

/// A connection that carries bytes, each once and in order. No call waits.
pub trait Stream: AsFd {
    /// Whether the stream has work of its own between calls, such as sending again what was lost:
    /// then its owner calls [`Stream::tend`] now and then and [`Stream::rest`] before it sleeps.
    const TENDED: bool = false;

    /// Bytes that one call of [`Stream::receive`] brings or leaves together; 0 where any number
    /// will do.
    const AT_ONCE: usize = 0;

    /// Prepares the socket for short messages: calls return rather than wait, and nothing is held
    /// back to be sent together with what may follow.
    ///
    /// # Errors
    /// The operating system refused.
    fn prepare(&self) -> io::Result<()>;

    /// Takes bytes to be sent, from the first on, and returns how many: 0 when there is no room.
    ///
    /// # Errors
    /// The connection is gone or broken.
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// As [`Stream::send`] of the bytes of both, one after the other.
    ///
    /// # Errors
    /// As [`Stream::send`].
    fn send_both(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize>;

    /// Puts what has arrived into `into`, which has room for [`Stream::AT_ONCE`] bytes, and for
    /// one in any case.
    ///
    /// # Errors
    /// The connection is gone or broken.
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Received>;

    /// As [`Stream::receive`] into both, of which the first is filled before the second, and which
    /// together have the room asked for.
    ///
    /// # Errors
    /// As [`Stream::receive`].
    fn receive_both(&mut self, first: &mut [u8], second: &mut [u8]) -> io::Result<Received>;

    /// Does what is due.
    ///
    /// # Errors
    /// The connection is gone or broken.
    fn tend(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Does what must be done before its owner sleeps; says after which time it must be woken, if
    /// nothing arrives before.
    ///
    /// # Errors
    /// The connection is gone or broken.
    fn rest(&mut self) -> io::Result<Option<Duration>> {
        Ok(None)
    }

    /// What the stream may have to do before nobody calls it any more: bytes taken that may not
    /// have arrived, and answers that the peer waits for.
    fn unsettled(&self) -> usize {
        0
    }
}

/// What a call of [`Stream::receive`] brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// So many bytes, one at least.
    Bytes(usize),
    /// Nothing, for now.
    Nothing,
    /// Nothing, and nothing will come: the peer closed the connection.
    Closed,
}

impl Stream for TcpStream {
    fn prepare(&self) -> io::Result<()> {
        self.set_nodelay(true)?;
        self.set_nonblocking(true)
    }

    #[inline(always)]
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        offer(self, bytes)
    }

    #[inline]
    fn send_both(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        offer_both(self, first, second)
    }

    #[inline(always)]
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Received> {
        take(self, into)
    }

    #[inline]
    fn receive_both(&mut self, first: &mut [u8], second: &mut [u8]) -> io::Result<Received> {
        take_both(self, first, second)
    }
}

impl Stream for UnixStream {
    fn prepare(&self) -> io::Result<()> {
        self.set_nonblocking(true)
    }

    #[inline(always)]
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        offer(self, bytes)
    }

    #[inline]
    fn send_both(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        offer_both(self, first, second)
    }

    #[inline(always)]
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Received> {
        take(self, into)
    }

    #[inline]
    fn receive_both(&mut self, first: &mut [u8], second: &mut [u8]) -> io::Result<Received> {
        take_both(self, first, second)
    }
}

#[inline(always)]
fn offer(socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    sent(|| send(&socket, bytes, SendFlags::NOSIGNAL))
}

fn offer_both(socket: impl AsFd, first: &[u8], second: &[u8]) -> io::Result<usize> {
    let both = [IoSlice::new(first), IoSlice::new(second)];
    let mut none = SendAncillaryBuffer::default();
    sent(|| sendmsg(&socket, &both, &mut none, SendFlags::NOSIGNAL))
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
fn take(socket: impl AsFd, into: &mut [u8]) -> io::Result<Received> {
    received(|| recv(&socket, &mut *into, RecvFlags::empty()).map(|(arrived, _)| arrived))
}

fn take_both(socket: impl AsFd, first: &mut [u8], second: &mut [u8]) -> io::Result<Received> {
    received(|| readv(&socket, &mut [IoSliceMut::new(first), IoSliceMut::new(second)]))
}

#[inline(always)]
fn received(mut call: impl FnMut() -> Result<usize, Errno>) -> io::Result<Received> {
    loop {
        match call() {
            // There is room, so nothing read means that nothing will come.
            Ok(0) => return Ok(Received::Closed),
            Ok(arrived) => return Ok(Received::Bytes(arrived)),
            Err(Errno::AGAIN) => return Ok(Received::Nothing),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
