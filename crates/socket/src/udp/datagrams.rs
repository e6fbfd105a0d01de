//! Sockets that carry datagrams between two ranks.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::call::at_once;

/// A connected socket for datagrams whose calls do not wait. It may lose, repeat, reorder and
/// change datagrams.
pub trait Datagrams: AsFd + 'static {
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
        let sent = at_once(|| match send(&*self, datagram, SendFlags::NOSIGNAL) {
            Err(Errno::NOBUFS) => Err(Errno::AGAIN),
            sent => sent,
        })?;
        Ok(sent.is_some())
    }

    #[inline]
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let received = at_once(|| recv(&*self, &mut *into, RecvFlags::empty()))?;
        Ok(received.map(|(len, _)| len))
    }
}
