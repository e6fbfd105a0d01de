//! A ping-pong of eight bytes.

use bandgap_comm::{FloorRole, Measuring, Timer};

use super::Ticks;
use super::side::FloorEnd;
use crate::{Result, Socket, SocketError};

/// A round is a round trip of 8 bytes. Both sides spin on calls that do not wait. Half a round trip
/// is half the time of a round.
///
/// Every message carries its number, which is checked. `number` is that of the last round of both
/// sides, 0 at first; it goes on from call to call.
///
/// # Errors
/// The other side closed its socket, sent a wrong number, or was silent for longer than
/// [`Measuring::patience`], or the operating system refused.
pub fn ping_pong<T: Timer>(socket: &Socket, with: &Measuring<'_, T>, number: &mut u64) -> Ticks {
    let mut player = Player { side: FloorEnd::new(socket, with), number: *number };
    let samples = match with.role {
        FloorRole::Initiator => {
            with.timed(|| (0..with.window.rounds).try_for_each(|_| player.ping()))?
        }
        FloorRole::Responder => {
            (0..with.window.all_rounds()).try_for_each(|_| player.pong())?;
            Vec::new()
        }
    };
    *number = player.number;
    Ok(samples)
}

struct Player<'a> {
    side: FloorEnd<'a>,
    /// Number of the last message of this side.
    number: u64,
}

impl Player<'_> {
    /// One round of the initiator.
    #[inline(always)]
    fn ping(&mut self) -> Result<()> {
        self.number += 1;
        self.send(self.number)?;
        loop {
            match self.receive()? {
                Some(number) if number == self.number => break,
                Some(_) => return Err(SocketError::Corrupt("a wrong number came back")),
                None => self.side.waits()?,
            }
        }
        self.side.goes_on();
        Ok(())
    }

    /// One round of the responder.
    #[inline(always)]
    fn pong(&mut self) -> Result<()> {
        loop {
            match self.receive()? {
                Some(number) if number == self.number + 1 => break,
                Some(_) => return Err(SocketError::Corrupt("a wrong number arrived")),
                None => self.side.waits()?,
            }
        }
        self.side.goes_on();
        self.number += 1;
        self.send(self.number)
    }

    #[inline(always)]
    fn send(&mut self, number: u64) -> Result<()> {
        let bytes = number.to_le_bytes();
        let mut sent = 0;
        while sent < bytes.len() {
            match self.side.send(&bytes[sent..])? {
                Some(more) => sent += more,
                None => self.side.waits()?,
            }
        }
        Ok(())
    }

    /// The number that has arrived, if one has.
    #[inline(always)]
    fn receive(&mut self) -> Result<Option<u64>> {
        let mut bytes = [0; 8];
        let mut received = 0;
        while received < bytes.len() {
            match self.side.receive(&mut bytes[received..])? {
                Some(more) => received += more,
                None if received == 0 => return Ok(None),
                None => self.side.waits()?,
            }
        }
        Ok(Some(u64::from_le_bytes(bytes)))
    }
}
