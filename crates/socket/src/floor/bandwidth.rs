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
    let pattern: Vec<u8> = (0..STREAM_BYTES).map(byte_at).collect();
    let [out, into] = match with.role {
        FloorRole::Initiator => [pattern.clone(), vec![0]],
        FloorRole::Responder => [vec![0], vec![0; STREAM_BYTES]],
    };
    let mut end = (FloorEnd::new(socket, with), into);
    let send = |(side, _): &mut (FloorEnd<'_>, Vec<u8>)| side.write(&out);
    let samples = with.there_and_back(&mut end, send, |(side, into)| side.read(into))?;
    // Only after the last sample: the writer does not wait for this.
    if with.role == FloorRole::Responder && with.window.all_rounds() > 0 && end.1 != pattern {
        return Err(SocketError::Corrupt("a wrong byte arrived"));
    }
    Ok(samples)
}

/// A round is a round trip of a message of `len` bytes. Each side sends and receives in one buffer,
/// as COMMS1 does. At the end both compare it with what must have been sent.
///
/// # Errors
/// As [`stream`].
pub fn long_ping_pong<T: Timer>(socket: &Socket, len: usize, with: &Measuring<'_, T>) -> Ticks {
    let mut buffer: Vec<u8> = (0..len).map(byte_at).collect();
    let mut end = (FloorEnd::new(socket, with), &mut buffer);
    let send = |(side, buffer): &mut (FloorEnd<'_>, &mut Vec<u8>)| side.write(buffer);
    let samples = with.there_and_back(&mut end, send, |(side, buffer)| side.read(buffer))?;
    if !buffer.iter().copied().eq((0..len).map(byte_at)) {
        return Err(SocketError::Corrupt("a wrong byte arrived"));
    }
    Ok(samples)
}

/// The pattern. Its period is prime, so a shift by any power of two shows.
fn byte_at(position: usize) -> u8 {
    (position % 251) as u8
}
