//! The bandwidth of one direction, and long messages there and back.

use bandgap_comm::{FloorRole, Measuring, Timer};

use super::Ticks;
use super::side::FloorEnd;
use crate::{Socket, SocketError};

/// Bytes of a round.
pub const STREAM_BYTES: usize = 1 << 20;

/// A round is a write of [`STREAM_BYTES`], which ends when the responder has read the bytes and
/// answered with one byte.
///
/// The writer waits for the answers because the reader is slower. A writer that ran ahead would
/// fill the socket's buffers with more than the nearest caches hold, and fetching the bytes from
/// further away costs more than the wait. At the end the responder compares the last
/// [`STREAM_BYTES`] with what must have been sent.
///
/// # Errors
/// The other side closed its socket, sent wrong bytes, or was silent for longer than
/// [`Measuring::patience`], or the operating system refused.
pub fn stream<T: Timer>(socket: &Socket, with: &Measuring<'_, T>) -> Ticks {
    let window = with.window;
    let pattern: Vec<u8> = (0..STREAM_BYTES).map(byte_at).collect();
    let mut side = FloorEnd::new(socket, with);
    match with.role {
        FloorRole::Initiator => with.timed(|| {
            for _ in 0..window.rounds {
                side.write(&pattern)?;
                side.read(&mut [0])?;
            }
            Ok(())
        }),
        FloorRole::Responder => {
            let mut arrived = vec![0; STREAM_BYTES];
            for _ in 0..window.all_rounds() {
                side.read(&mut arrived)?;
                side.write(&[0])?;
            }
            // Only after the last sample: the writer does not wait for this.
            if window.all_rounds() > 0 && arrived != pattern {
                return Err(SocketError::Corrupt("a wrong byte arrived"));
            }
            Ok(Vec::new())
        }
    }
}

/// A round is a round trip of a message of `len` bytes. Each side sends and receives in one buffer,
/// as COMMS1 does. At the end both compare it with what must have been sent.
///
/// # Errors
/// As [`stream`].
pub fn long_ping_pong<T: Timer>(socket: &Socket, len: usize, with: &Measuring<'_, T>) -> Ticks {
    let mut buffer: Vec<u8> = (0..len).map(byte_at).collect();
    let mut side = FloorEnd::new(socket, with);
    let samples = match with.role {
        FloorRole::Initiator => with.timed(|| {
            for _ in 0..with.window.rounds {
                side.write(&buffer)?;
                side.read(&mut buffer)?;
            }
            Ok(())
        })?,
        FloorRole::Responder => {
            for _ in 0..with.window.all_rounds() {
                side.read(&mut buffer)?;
                side.write(&buffer)?;
            }
            Vec::new()
        }
    };
    if !buffer.iter().copied().eq((0..len).map(byte_at)) {
        return Err(SocketError::Corrupt("a wrong byte arrived"));
    }
    Ok(samples)
}

/// The pattern. Its period is prime, so a shift by any power of two shows.
fn byte_at(position: usize) -> u8 {
    (position % 251) as u8
}
