//! A ping-pong of eight bytes.

use bandgap_comm::{FloorRole, Measuring, Timer};

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
    let (mut side, mut last, mut arrived) = (FloorEnd::new(socket, with), *number, [0; 8]);
    let samples = match with.role {
        FloorRole::Initiator => with.timed(|| {
            for _ in 0..with.window.rounds {
                last += 1;
                side.write(&last.to_le_bytes())?;
                side.read(&mut arrived)?;
                if arrived != last.to_le_bytes() {
                    return Err(SocketError::Corrupt("a wrong number came back"));
                }
            }
            Ok(())
        })?,
        FloorRole::Responder => {
            for _ in 0..with.window.all_rounds() {
                last += 1;
                side.read(&mut arrived)?;
                if arrived != last.to_le_bytes() {
                    return Err(SocketError::Corrupt("a wrong number arrived"));
                }
                side.write(&arrived)?;
            }
            Vec::new()
        }
    };
    *number = last;
    Ok(samples)
}
