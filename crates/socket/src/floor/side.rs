//! One side of a floor: its socket, and how long it has waited for the other side.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use bandgap_comm::Measuring;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::call::at_once;
use crate::error::system;
use crate::{Result, Socket, SocketError};

/// Fruitless calls between two readings of the clock; a call costs several times a reading.
const CALLS: u32 = 1 << 10;

/// One side of a floor. No call waits.
pub(super) struct FloorEnd<'a> {
    socket: &'a Socket,
    /// As [`Measuring`] has them.
    patience: Duration,
    give_up: &'a dyn Fn(Duration, Duration) -> bool,
    /// Fruitless calls since one did something.
    calls: u32,
    /// The first reading of the clock among them.
    since: Option<Instant>,
}

impl<'a> FloorEnd<'a> {
    pub(super) fn new<T>(socket: &'a Socket, with: &Measuring<'a, T>) -> Self {
        let &Measuring { patience, give_up, .. } = with;
        Self { socket, patience, give_up, calls: 0, since: None }
    }

    /// Sends the first bytes. Returns how many; `None` if there is no room.
    #[inline(always)]
    pub(super) fn send(&self, bytes: &[u8]) -> Result<Option<usize>> {
        at_once(|| send(self.socket, bytes, SendFlags::NOSIGNAL)).map_err(failed)
    }

    /// Receives the next bytes. Returns how many, at least one; `None` if none have arrived.
    #[inline(always)]
    pub(super) fn receive(&self, into: &mut [u8]) -> Result<Option<usize>> {
        match at_once(|| recv(self.socket, &mut *into, RecvFlags::empty())) {
            Ok(Some((0, _))) => Err(SocketError::Closed),
            Ok(received) => Ok(received.map(|(bytes, _)| bytes)),
            Err(error) => Err(failed(error)),
        }
    }

    /// Sends all bytes.
    #[inline(always)]
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let mut sent = 0;
        while sent < bytes.len() {
            let more = self.send(&bytes[sent..])?;
            sent += self.moved(more)?;
        }
        Ok(())
    }

    /// Fills the buffer.
    #[inline(always)]
    pub(super) fn read(&mut self, bytes: &mut [u8]) -> Result<()> {
        let mut received = 0;
        while received < bytes.len() {
            let more = self.receive(&mut bytes[received..])?;
            received += self.moved(more)?;
        }
        Ok(())
    }

    /// The bytes that a call has moved. If there are none, this side waits.
    #[inline(always)]
    fn moved(&mut self, bytes: Option<usize>) -> Result<usize> {
        match bytes {
            Some(_) => self.goes_on(),
            None => self.waits()?,
        }
        Ok(bytes.unwrap_or(0))
    }

    /// Call this after a call that did nothing.
    #[inline(always)]
    pub(super) fn waits(&mut self) -> Result<()> {
        self.waited().map(drop)
    }

    /// The same; now and then it returns how long nothing was done.
    #[inline(always)]
    pub(super) fn waited(&mut self) -> Result<Option<Duration>> {
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(CALLS) { self.look().map(Some) } else { Ok(None) }
    }

    /// Call this after a call that did something.
    #[inline(always)]
    pub(super) fn goes_on(&mut self) {
        self.calls = 0;
        self.since = None;
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self) -> Result<Duration> {
        let waited = self.since.get_or_insert_with(Instant::now).elapsed();
        if (self.give_up)(waited, self.patience) {
            Err(SocketError::Silent(waited))
        } else {
            Ok(waited)
        }
    }
}

#[cold]
fn failed(error: io::Error) -> SocketError {
    match error.kind() {
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused => {
            SocketError::Closed
        }
        _ => system("exchange messages over a bare socket")(error),
    }
}
