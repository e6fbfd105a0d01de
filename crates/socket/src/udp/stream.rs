//! One end of a pair: the protocol over a socket.

use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use bandgap_comm::Rank;
use rustix::net::sockopt::{set_socket_recv_buffer_size, socket_recv_buffer_size};

use super::header::{HEADER, Key, MAX_DATAGRAM, MAX_PAYLOAD};
use super::protocol::Protocol;
use super::{Datagrams, MAX_ROOM, Mishaps, RECEIVE_BUFFER};
use crate::{Received, Secret, Stream};

/// Where numbers begin: so close to their end that many runs pass it.
const FIRST: u32 = 0_u32.wrapping_sub(1000);

/// A reliable, ordered stream of bytes over datagrams to one peer. Nothing is allocated after
/// construction. When dropped, it tells the peer, once.
pub struct UdpStream<D: Datagrams = UdpSocket> {
    datagrams: D,
    protocol: Protocol,
    arrived: Box<[u8]>,
    /// The system has said that nobody listens at the peer's address.
    gone: bool,
    begun: Instant,
}

impl<D: Datagrams> UdpStream<D> {
    /// The end at `rank` of its pair with `peer`, over datagrams between the two. Both ends need
    /// the same secret, which nobody else has.
    ///
    /// # Errors
    /// The operating system refused to set the size of the receive buffer, or to tell it.
    pub fn over(datagrams: D, secret: &Secret, rank: Rank, peer: Rank) -> io::Result<Self> {
        set_socket_recv_buffer_size(&datagrams, RECEIVE_BUFFER)?;
        let room = socket_recv_buffer_size(&datagrams)?;
        let room = u32::try_from(room).unwrap_or(MAX_ROOM);
        let (ours, theirs) = (Key::new(secret, rank, peer), Key::new(secret, peer, rank));
        Ok(Self {
            datagrams,
            protocol: Protocol::new(ours, theirs, FIRST, room),
            arrived: vec![0; MAX_DATAGRAM].into_boxed_slice(),
            gone: false,
            begun: Instant::now(),
        })
    }

    /// The same with datagrams of at most so many bytes.
    pub fn with_datagrams_up_to(mut self, bytes: usize) -> Self {
        self.protocol.outbox.longest = bytes.clamp(HEADER + 1, MAX_DATAGRAM) - HEADER;
        self
    }

    /// What has gone wrong so far at this end.
    pub fn mishaps(&self) -> Mishaps {
        self.protocol.mishaps
    }

    /// Sends everything that waits, as far as the system takes it.
    fn flush(&mut self) -> io::Result<()> {
        while let Some(datagram) = self.protocol.next() {
            match self.datagrams.send(datagram) {
                Ok(true) => self.protocol.gave(),
                Ok(false) => break,
                Err(error) => return self.heed(error),
            }
        }
        Ok(())
    }

    /// A peer that is gone may have left datagrams at this end's socket: those are taken first.
    #[cold]
    fn heed(&mut self, error: io::Error) -> io::Result<()> {
        if error.kind() != ErrorKind::ConnectionRefused {
            return Err(error);
        }
        self.gone = true;
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn attend(&mut self) -> io::Result<()> {
        if self.gone { Ok(()) } else { self.flush() }
    }

    /// The result if there is nothing to receive: whether anything will come.
    #[inline]
    fn nothing(&self) -> io::Result<Received> {
        if self.protocol.finished() {
            return Ok(Received::Closed);
        }
        if self.gone { Err(ErrorKind::ConnectionRefused.into()) } else { Ok(Received::Nothing) }
    }
}

impl<D: Datagrams> Stream for UdpStream<D> {
    const TENDED: bool = true;
    const AT_ONCE: usize = MAX_PAYLOAD;

    #[inline]
    fn send_parts(&mut self, parts: [&[u8]; 3]) -> io::Result<usize> {
        if self.gone || self.protocol.finished() {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let taken = self.protocol.push(parts);
        if taken > 0 {
            self.flush()?;
        }
        Ok(taken)
    }

    #[inline]
    fn receive_both(&mut self, first: &mut [u8], second: &mut [u8]) -> io::Result<Received> {
        let arrived = match self.datagrams.receive(&mut self.arrived) {
            Ok(Some(len)) => &self.arrived[..len],
            Ok(None) => return self.nothing(),
            Err(error) => return self.heed(error).map(|()| Received::Nothing),
        };
        // A datagram without room counts as lost: the peer sends it again.
        if arrived.len() > first.len() + second.len() + HEADER {
            return Ok(Received::Nothing);
        }
        let mut brought = Received::Nothing;
        if let Some(payload) = self.protocol.accept(arrived) {
            let (head, tail) = payload.split_at(payload.len().min(first.len()));
            first[..head.len()].copy_from_slice(head);
            second[..tail.len()].copy_from_slice(tail);
            brought = Received::Bytes(payload.len());
        }
        if self.protocol.restless() {
            self.attend()?;
        }
        Ok(brought)
    }

    fn tend(&mut self) -> io::Result<()> {
        let begun = self.begun;
        self.protocol.tend(|| begun.elapsed());
        self.attend()
    }

    fn rest(&mut self) -> io::Result<Option<Duration>> {
        let left = self.protocol.rest(self.begun.elapsed());
        self.attend()?;
        Ok(if self.gone { Some(Duration::ZERO) } else { left })
    }

    fn unsettled(&self) -> usize {
        let alone = self.gone || self.protocol.finished();
        if alone { 0 } else { self.protocol.unsettled() }
    }
}

impl<D: Datagrams> AsFd for UdpStream<D> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.datagrams.as_fd()
    }
}

impl<D: Datagrams> Drop for UdpStream<D> {
    fn drop(&mut self) {
        // If it does not arrive, there is nothing more to do.
        let _ = self.datagrams.send(&self.protocol.farewell());
    }
}
