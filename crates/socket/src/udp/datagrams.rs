//! Sockets that carry datagrams between two ranks.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

/// A connected socket for datagrams whose calls do not wait. It may lose, repeat, reorder and
/// change datagrams.
pub trait Datagrams: AsFd {
    /// Sends a datagram. Returns false if there is no room for it now.
    ///
    /// # Errors
    /// The operating system refused; [`io::ErrorKind::ConnectionRefused`] if nobody listens at the
    /// peer's address any more.
    fn send(&mut self, datagram: &[u8]) -> io::Result<bool>;

    /// Receives a datagram if one has arrived, and returns its length. If it is longer than `into`,
    /// the rest is lost.
    ///
    /// # Errors
    /// As [`Datagrams::send`].
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>>;
}

impl Datagrams for UdpSocket {
    #[inline]
    fn send(&mut self, datagram: &[u8]) -> io::Result<bool> {
        loop {
            match send(&*self, datagram, SendFlags::NOSIGNAL) {
                Ok(_) => return Ok(true),
                Err(Errno::AGAIN | Errno::NOBUFS) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    #[inline]
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match recv(&*self, &mut *into, RecvFlags::empty()) {
                Ok((len, _)) => return Ok(Some(len)),
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
