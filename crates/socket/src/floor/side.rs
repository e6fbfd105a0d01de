//! One side of a floor: its socket, and how long the other side has been silent.

use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::Pipe;
use super::silence::Silence;
use crate::SocketError;
use crate::error::system;

/// One side of a floor. No call waits.
pub(super) struct Side<'a, P> {
    pipe: &'a P,
    pub(super) silence: Silence,
}

impl<'a, P: Pipe> Side<'a, P> {
    pub(super) fn new(pipe: &'a P, patience: Duration) -> Self {
        Self { pipe, silence: Silence::new(patience) }
    }

    /// Sends the first bytes. Returns how many; `None` if there is no room.
    #[inline(always)]
    pub(super) fn send(&self, bytes: &[u8]) -> Result<Option<usize>, SocketError> {
        match send(self.pipe, bytes, SendFlags::NOSIGNAL) {
            Ok(sent) => Ok(Some(sent)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// Receives the next bytes. Returns how many, at least one; `None` if none have arrived.
    #[inline(always)]
    pub(super) fn receive(&self, into: &mut [u8]) -> Result<Option<usize>, SocketError> {
        match recv(self.pipe, into, RecvFlags::empty()) {
            Ok((0, _)) => Err(SocketError::Closed),
            Ok((received, _)) => Ok(Some(received)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }
}

#[cold]
fn failed(error: Errno) -> SocketError {
    match error {
        Errno::PIPE | Errno::CONNRESET | Errno::CONNREFUSED => SocketError::Closed,
        _ => system("exchange messages over a bare socket")(error),
    }
}
