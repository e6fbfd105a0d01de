//! One connection: frames into and out of a stream of bytes.

use std::io::{Error, ErrorKind};
use std::time::Duration;

use bandgap_comm::{CommError, Frame, MAX_FRAME, Posted, Rank};

use crate::{Received, Stream};

/// Bytes taken from the socket with one call. Many frames, so that a flood costs few calls; the
/// first pages only are touched while frames come singly.
const INPUT: usize = 64 * 1024;

/// The connection to one peer.
#[derive(Debug)]
pub(crate) struct Channel<S> {
    pub(crate) peer: Rank,
    pub(crate) stream: S,
    /// Received; `input[taken..filled]` is not decoded yet.
    input: Box<[u8]>,
    taken: usize,
    filled: usize,
    /// The frame being sent; `output[sent..to_send]` the socket has not taken yet.
    output: [u8; MAX_FRAME],
    sent: usize,
    to_send: usize,
    /// The socket took nothing of the last frame offered.
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
            output: [0; MAX_FRAME],
            sent: 0,
            to_send: 0,
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
        if self.unfinished() {
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

    /// Reads once, and delivers the frames that are whole. Returns their number.
    #[inline]
    pub(crate) fn receive(&mut self, mut deliver: impl FnMut(Frame)) -> Result<usize, CommError> {
        let arrived = match self.stream.receive(&mut self.input[self.filled..]) {
            Ok(Received::Bytes(arrived)) => arrived,
            Ok(Received::Nothing) => return Ok(0),
            Ok(Received::Closed) => return Err(self.left()),
            Err(error) => return Err(broken(self.peer, "receive from a peer", error)),
        };
        self.filled += arrived;
        let mut frames = 0;
        loop {
            match Frame::decode(&self.input[self.taken..self.filled]) {
                Ok(Some((frame, len))) => {
                    self.taken += len;
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
        let detail = match self.filled - self.taken {
            0 => String::new(),
            rest => format!(", {rest} bytes into a frame"),
        };
        CommError::PeerGone { peer: self.peer, detail }
    }

    #[cold]
    fn garbage(&self, error: bandgap_comm::FrameError) -> CommError {
        CommError::Garbage { peer: self.peer, what: error.to_string() }
    }
}

const SEND: &str = "send to a peer";

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
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use bandgap_comm::{FrameKind, HandlerId, Message};

    use super::*;

    #[test]
    fn a_frame_sent_in_part_is_finished_before_the_next() {
        let (stream, mut other) = UnixStream::pair().unwrap();
        let mut channel = Channel::new(1, stream);
        let message = Message::new(HandlerId(1), [1, 2, 3, 4]);
        let frame = Frame { kind: FrameKind::Request, credits: 0, message };
        let (bytes, len) = frame.encode();

        // As after a call that took 11 bytes.
        channel.output = bytes;
        (channel.sent, channel.to_send) = (11, len);
        assert_eq!(channel.try_send(&frame).unwrap(), Posted::Busy);
        channel.finish().unwrap();
        assert!(!channel.unfinished());
        assert_eq!(channel.try_send(&frame).unwrap(), Posted::Yes);

        drop(channel);
        let mut arrived = Vec::new();
        other.read_to_end(&mut arrived).unwrap();
        assert_eq!(arrived, [&bytes[11..len], &bytes[..len]].concat());
    }
}
