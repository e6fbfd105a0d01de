//! One connection: frames into and out of a stream of bytes, and payloads between.

use std::io::{Error, ErrorKind};
use std::time::Duration;

use bandgap_comm::{CommError, Frame, FrameError, FrameKind, MAX_FRAME, Posted, Rank};

use crate::{Received, Stream};

mod payload;

use payload::Payload;

/// Bytes taken from the socket with one call. Many frames, so that a flood costs few calls; the
/// first pages only are touched while frames come singly.
const INPUT: usize = 64 * 1024;

/// The same while payloads come: what comes along of the next one is copied once more, so that it
/// should be little, and a call for the rest of it should be worth while.
const INPUT_AMID_PAYLOADS: usize = 16 * 1024;

/// What is added for each call that brought something, until a payload comes again.
const INPUT_REGAINED: usize = 1024;

/// The connection to one peer.
#[derive(Debug)]
pub(crate) struct Channel<S> {
    pub(crate) peer: Rank,
    pub(crate) stream: S,
    /// Received; `input[taken..filled]` is not decoded yet.
    input: Box<[u8]>,
    taken: usize,
    filled: usize,
    /// Room for what the next call takes from the socket.
    room: usize,
    /// The payload that is arriving. While there is one, no input waits to be decoded.
    arriving: Option<Payload>,
    /// The frame being sent; `output[sent..to_send]` the socket has not taken yet.
    output: [u8; MAX_FRAME],
    sent: usize,
    to_send: usize,
    /// The payload being sent is that of a frame of this kind.
    writing: Option<FrameKind>,
    /// The socket took nothing of the last frame offered, or a payload waits for a further call.
    pub(crate) refused: bool,
}

impl<S: Stream> Channel<S> {
    pub(crate) fn new(peer: Rank, stream: S) -> Self {
        Self {
            peer,
            stream,
            input: vec![0; INPUT + S::AT_ONCE].into_boxed_slice(),
            taken: 0,
            filled: 0,
            room: INPUT,
            arriving: None,
            output: [0; MAX_FRAME],
            sent: 0,
            to_send: 0,
            writing: None,
            refused: false,
        }
    }

    /// Whether part of an accepted frame waits to be sent.
    #[inline(always)]
    pub(crate) fn unfinished(&self) -> bool {
        self.sent < self.to_send
    }

    /// Sends a frame with one call; remembers what the socket did not take of it.
    #[inline]
    pub(crate) fn try_send(&mut self, frame: &Frame) -> Result<Posted, CommError> {
        if self.unfinished() || self.writing.is_some() {
            return Ok(Posted::Busy);
        }
        let (bytes, len) = frame.encode();
        let sent = self.offer(&bytes[..len])?;
        self.refused = sent == 0;
        if self.refused {
            return Ok(Posted::Busy);
        }
        if sent < len {
            self.output = bytes;
            (self.sent, self.to_send) = (sent, len);
        }
        Ok(Posted::Yes)
    }

    /// Sends what waits of the last frame, as far as the socket takes it.
    #[cold]
    pub(crate) fn finish(&mut self) -> Result<(), CommError> {
        let waits = &self.output[self.sent..self.to_send];
        self.sent += self.stream.send(waits).map_err(|error| broken(self.peer, SEND, error))?;
        Ok(())
    }

    #[inline]
    fn offer(&mut self, bytes: &[u8]) -> Result<usize, CommError> {
        self.stream.send(bytes).map_err(|error| broken(self.peer, SEND, error))
    }

    /// Lets the stream do what is due.
    pub(crate) fn tend(&mut self) -> Result<(), CommError> {
        self.stream.tend().map_err(|error| broken(self.peer, SEND, error))
    }

    /// As [`Stream::rest`].
    pub(crate) fn rest(&mut self) -> Result<Option<Duration>, CommError> {
        self.stream.rest().map_err(|error| broken(self.peer, SEND, error))
    }

    /// Reads once, and delivers the frames that are whole, their payloads being in `exposed`.
    /// Returns their number.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        exposed: &mut [u8],
        mut deliver: impl FnMut(Frame),
    ) -> Result<usize, CommError> {
        let (brought, mut frames) = if self.arriving.is_none() {
            let end = self.input.len().min(self.filled + self.room + S::AT_ONCE);
            (self.stream.receive(&mut self.input[self.filled..end]), 0)
        } else {
            self.receive_payload(exposed, &mut deliver)
        };
        match brought {
            Ok(Received::Bytes(arrived)) => {
                self.filled += arrived;
                self.room = INPUT.min(self.room + INPUT_REGAINED);
            }
            Ok(Received::Nothing) => return Ok(frames),
            Ok(Received::Closed) => return Err(self.left()),
            Err(error) => return Err(broken(self.peer, RECEIVE, error)),
        }
        loop {
            match Frame::decode(&self.input[self.taken..self.filled]) {
                Ok(Some((frame, len))) => {
                    self.taken += len;
                    if frame.has_payload() && !self.begin_payload(frame, exposed)? {
                        break;
                    }
                    frames += 1;
                    deliver(frame);
                }
                Ok(None) => break,
                Err(error) => return Err(self.garbage(error)),
            }
        }
        self.make_room();
        Ok(frames)
    }

    /// Keeps room at the end for a whole frame, and for what comes at once. What is moved is less
    /// than a frame, once in a buffer's length, and mostly nothing.
    #[inline]
    fn make_room(&mut self) {
        if self.taken == self.filled {
            (self.taken, self.filled) = (0, 0);
        } else if self.input.len() - self.filled < MAX_FRAME.max(S::AT_ONCE) {
            self.input.copy_within(self.taken..self.filled, 0);
            (self.taken, self.filled) = (0, self.filled - self.taken);
        }
    }

    #[cold]
    fn left(&self) -> CommError {
        let detail = match (&self.arriving, self.filled - self.taken) {
            (Some(payload), _) => format!(", {} bytes before the end of a payload", payload.left()),
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

const SEND: &str = "send to a peer";
const RECEIVE: &str = "receive from a peer";

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
