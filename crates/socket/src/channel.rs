//! One connection: frames, and payloads between them, over a stream of bytes.

use std::io::{self, Error, ErrorKind};

use bandgap_comm::{
    CARRYING, CommError, Frame, FrameError, FrameKind, Frames, MAX_FRAME, Posted, Rank, Result,
};

use crate::{Received, Stream};

mod payload;

use payload::Payload;

/// Bytes to take from the socket with one call. They hold many frames, so that a flood costs few
/// calls. While frames come one by one, only the first pages are touched.
const INPUT: usize = 64 * 1024;

/// The same while payloads arrive. The part of a payload that arrives in the input is copied once
/// more, so this is small; but the frames between payloads must fit.
const INPUT_AMID_PAYLOADS: usize = 16 * 1024;

/// Bytes to add again with each call that brings something, until the next payload.
const INPUT_REGAINED: usize = 1024;

/// The connection to one peer.
#[derive(Debug)]
pub(crate) struct Channel<S> {
    pub(crate) peer: Rank,
    pub(crate) stream: S,
    /// Received bytes; `input[taken..filled]` is not decoded yet.
    input: Box<[u8]>,
    taken: usize,
    filled: usize,
    /// Bytes that the next call may take from the socket.
    room: usize,
    /// Bytes after the input that are where the next request's bytes probably go.
    ahead: usize,
    /// The payload that is arriving, if any. Then no input waits to be decoded.
    arriving: Option<Payload>,
    /// The frames being sent; the socket has not taken `output[sent..to_send]` yet.
    output: [u8; 2 * MAX_FRAME],
    sent: usize,
    to_send: usize,
    /// The kind of the frame whose payload is being sent.
    writing: Option<FrameKind>,
    /// The socket took nothing of the last frame, or a payload waits for another call.
    pub(crate) refused: bool,
}

impl<S: Stream> Channel<S> {
    pub(crate) fn new(peer: Rank, stream: S) -> Self {
        Self {
            peer,
            stream,
            input: vec![0; CARRYING + INPUT].into_boxed_slice(),
            taken: 0,
            filled: 0,
            room: INPUT,
            ahead: 0,
            arriving: None,
            output: [0; 2 * MAX_FRAME],
            sent: 0,
            to_send: 0,
            writing: None,
            refused: false,
        }
    }

    /// Whether part of an accepted frame still has to be sent.
    #[inline(always)]
    pub(crate) fn unfinished(&self) -> bool {
        self.sent < self.to_send
    }

    /// Sends a frame with one call, and keeps the part that the socket did not take.
    pub(crate) fn try_send(&mut self, frame: &Frame) -> Result<Posted> {
        if self.unfinished() || self.writing.is_some() {
            return Ok(Posted::Busy);
        }
        let (bytes, len) = frame.encode();
        let taken = sent(self.peer, self.stream.send(&bytes[..len]))?;
        self.refused = taken == 0;
        if self.refused {
            return Ok(Posted::Busy);
        }
        if taken < len {
            self.keep(&[frame]);
            self.sent = taken;
        }
        Ok(Posted::Yes)
    }

    /// Puts one or two frames into the output.
    #[inline(never)]
    fn keep(&mut self, frames: &[&Frame]) {
        (self.sent, self.to_send) = (0, 0);
        for frame in frames {
            let (bytes, len) = frame.encode();
            self.output[self.to_send..self.to_send + len].copy_from_slice(&bytes[..len]);
            self.to_send += len;
        }
    }

    /// Sends the rest of the last frame, as far as the socket takes it.
    #[cold]
    pub(crate) fn finish(&mut self) -> Result<()> {
        let waits = &self.output[self.sent..self.to_send];
        self.sent += sent(self.peer, self.stream.send(waits))?;
        Ok(())
    }

    /// Reads once, and delivers all complete frames; their payloads are in `exposed`. Returns the
    /// number of frames.
    #[inline(always)]
    pub(crate) fn receive(&mut self, exposed: &mut [u8], to: &mut impl Frames) -> Result<usize> {
        let (brought, mut frames) = if self.arriving.is_some() {
            self.receive_payload(exposed, to)?
        } else if self.room < INPUT {
            (self.receive_ahead(to)?, 0)
        } else {
            (self.receive_input(), 0)
        };
        match brought {
            Ok(Received::Bytes(arrived)) => {
                self.filled += arrived;
                self.room = INPUT.min(self.room + INPUT_REGAINED);
            }
            Ok(Received::Nothing) => return Ok(frames),
            Ok(Received::Closed) => return Err(self.left()),
            Err(error) => return Err(broken(self.peer, "receive from a peer", error)),
        }
        loop {
            match Frame::decode(&self.input[self.taken..self.filled]) {
                Ok(Some((frame, len))) => {
                    self.taken += len;
                    if frame.has_payload() && !self.begin_payload(frame, exposed, to)? {
                        break;
                    }
                    frames += 1;
                    to.frame(self.peer, frame);
                }
                Ok(None) => break,
                Err(error) => return Err(self.garbage(error)),
            }
        }
        self.make_room();
        Ok(frames)
    }

    #[inline(always)]
    fn receive_input(&mut self) -> io::Result<Received> {
        let end = self.input.len().min(self.filled + self.room);
        self.stream.receive(&mut self.input[self.filled..end])
    }

    /// Keeps room at the end for a whole frame. This moves less than a frame, at most once in a
    /// buffer's length, and mostly nothing.
    fn make_room(&mut self) {
        if self.taken == self.filled {
            (self.taken, self.filled) = (0, 0);
        } else if self.input.len() - self.filled < MAX_FRAME {
            self.input.copy_within(self.taken..self.filled, 0);
            (self.taken, self.filled) = (0, self.filled - self.taken);
        }
    }

    #[cold]
    fn left(&self) -> CommError {
        let detail = match (&self.arriving, self.filled - self.taken) {
            (Some(payload), _) => format!(", {} bytes before the end of a payload", payload.left),
            (None, 0) => String::new(),
            (None, rest) => format!(", {rest} bytes into a frame"),
        };
        CommError::PeerGone { peer: self.peer, detail }
    }

    #[cold]
    fn garbage(&self, error: FrameError) -> CommError {
        CommError::Garbage { peer: self.peer, what: error.to_string() }
    }
}

/// The outcome of a call that sends, with the peer in its error.
#[inline(always)]
pub(crate) fn sent<T>(peer: Rank, outcome: io::Result<T>) -> Result<T> {
    outcome.map_err(|error| broken(peer, "send to a peer", error))
}

#[cold]
fn broken(peer: Rank, operation: &'static str, error: Error) -> CommError {
    match error.kind() {
        ErrorKind::BrokenPipe
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::ConnectionRefused
        | ErrorKind::NotConnected
        | ErrorKind::TimedOut => CommError::PeerGone { peer, detail: format!(": {error}") },
        _ => CommError::System { operation, source: error },
    }
}

#[cfg(test)]
mod tests;
