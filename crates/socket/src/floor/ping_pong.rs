//! Eight bytes there and back.

use std::time::Duration;

use bandgap_comm::{Role, Timer, Window};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::Pipe;
use super::silence::Silence;
use crate::SocketError;
use crate::error::system;

/// Silence after which a message that can be lost is sent again: a thousand round trips.
const RESEND: Duration = Duration::from_millis(20);

/// Times [`Window::rounds`] round trips of 8 bytes in each sample, both sides spinning on calls
/// that do not wait. Half of a round's time is the half round trip.
///
/// Every message carries its number, which is checked. Where messages can be lost, the initiator
/// sends again after 20 ms of silence; that time is part of the sample. The responder returns with
/// its last answer, so that the loss of that one ends in an error.
///
/// # Errors
/// The other side closed its socket, sent a wrong number, or was silent for `patience`; the
/// operating system refused.
pub fn ping_pong<P: Pipe, T: Timer>(
    pipe: &P,
    role: Role,
    window: Window,
    timer: &T,
    patience: Duration,
) -> Result<Vec<u64>, SocketError> {
    let mut side = Side { pipe, silence: Silence::new(patience), number: 0 };
    let mut samples = Vec::new();
    match role {
        Role::Initiator => {
            samples.reserve_exact(window.samples as usize);
            for _ in 0..window.samples {
                let start = timer.stamp();
                for _ in 0..window.rounds {
                    side.ping()?;
                }
                samples.push(timer.stamp().ticks() - start.ticks());
            }
        }
        Role::Responder => {
            for _ in 0..u64::from(window.samples) * u64::from(window.rounds) {
                side.pong()?;
            }
        }
    }
    Ok(samples)
}

struct Side<'a, P> {
    pipe: &'a P,
    silence: Silence,
    number: u64,
}

impl<P: Pipe> Side<'_, P> {
    /// One round of the initiator.
    #[inline(always)]
    fn ping(&mut self) -> Result<(), SocketError> {
        self.number += 1;
        self.send(self.number)?;
        let mut resend = RESEND;
        loop {
            match self.receive()? {
                Some(number) if number == self.number => break,
                // The answer to a message that was sent twice.
                Some(number) if P::LOSES && number < self.number => {}
                Some(_) => return Err(SocketError::Corrupt { what: "a wrong number came back" }),
                None => {
                    if let Some(silent) = self.silence.goes_on()?
                        && P::LOSES
                        && silent > resend
                    {
                        resend = silent + RESEND;
                        self.send(self.number)?;
                    }
                }
            }
        }
        self.silence.ends();
        Ok(())
    }

    /// One round of the responder.
    #[inline(always)]
    fn pong(&mut self) -> Result<(), SocketError> {
        loop {
            match self.receive()? {
                Some(number) if number == self.number + 1 => break,
                // Its answer was lost.
                Some(number) if P::LOSES && number == self.number && number > 0 => {
                    self.send(number)?;
                }
                Some(_) if P::LOSES => {}
                Some(_) => return Err(SocketError::Corrupt { what: "a wrong number arrived" }),
                None => {
                    self.silence.goes_on()?;
                }
            }
        }
        self.silence.ends();
        self.number += 1;
        self.send(self.number)
    }

    #[inline(always)]
    fn send(&mut self, number: u64) -> Result<(), SocketError> {
        let bytes = number.to_le_bytes();
        let mut sent = 0;
        loop {
            match send(self.pipe, &bytes[sent..], SendFlags::NOSIGNAL) {
                Ok(more) => sent += more,
                Err(Errno::AGAIN | Errno::INTR) => {
                    self.silence.goes_on()?;
                }
                Err(error) => return Err(failed(error)),
            }
            if sent == bytes.len() {
                return Ok(());
            }
        }
    }

    /// The number that has arrived, if one has.
    #[inline(always)]
    fn receive(&mut self) -> Result<Option<u64>, SocketError> {
        let mut bytes = [0; 8];
        let mut received = 0;
        loop {
            match recv(self.pipe, &mut bytes[received..], RecvFlags::empty()) {
                Ok((0, _)) => return Err(SocketError::Closed),
                Ok((more, _)) => received += more,
                Err(Errno::AGAIN | Errno::INTR) if received == 0 => return Ok(None),
                Err(Errno::AGAIN | Errno::INTR) => {
                    self.silence.goes_on()?;
                }
                Err(error) => return Err(failed(error)),
            }
            if received == bytes.len() {
                return Ok(Some(u64::from_le_bytes(bytes)));
            }
            if P::LOSES {
                return Err(SocketError::Corrupt { what: "a datagram is not 8 bytes long" });
            }
        }
    }
}

#[cold]
pub(super) fn failed(error: Errno) -> SocketError {
    match error {
        Errno::PIPE | Errno::CONNRESET | Errno::CONNREFUSED => SocketError::Closed,
        _ => system("exchange messages over a bare socket")(error),
    }
}
