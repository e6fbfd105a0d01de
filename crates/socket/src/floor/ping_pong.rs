//! A ping-pong of eight bytes.

use bandgap_comm::{Measuring, Timer};

use super::Ticks;
use super::side::FloorEnd;
use crate::{Socket, SocketError};

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
    let mut end = (FloorEnd::new(socket, with), *number, *number);
    let samples = with.there_and_back(
        &mut end,
        |(side, sent, _)| {
            *sent += 1;
            side.write(&sent.to_le_bytes())
        },
        |(side, _, received)| {
            *received += 1;
            let mut arrived = [0; 8];
            side.read(&mut arrived)?;
            let is_its = arrived == received.to_le_bytes();
            is_its.then_some(()).ok_or(SocketError::Corrupt("a wrong number arrived"))
        },
    )?;
    *number = end.1;
    Ok(samples)
}
