//! Payloads: bytes that go from their source straight to the socket, and from the socket straight
//! to their place in memory.

use std::io;

use bandgap_comm::{Frame, MAX_FRAME, Posted, Result};

use super::{Channel, INPUT_AMID_PAYLOADS, sent};
use crate::{Received, Stream};

/// Most bytes that one call moves in either direction. Between two calls, the other direction and
/// the other peers have their turn. Sockets rarely have room for more, and a system call costs
/// little compared with copying this many bytes.
const AT_MOST: usize = 1 << 20;

/// Bytes after a payload that its last call also reads. They hold the request that reports it and
/// the announcement of the next payload, but little of that payload.
const BEHIND: usize = 256;

/// A payload that is arriving.
#[derive(Debug)]
pub(super) struct Payload {
    frame: Frame,
    /// Offset of the next byte in the exposed memory.
    into: usize,
    /// Bytes still to come, at least 1.
    pub(super) left: usize,
}

impl<S: Stream> Channel<S> {
    /// Sends more of a frame and its payload, as [`bandgap_comm::Link::try_write`], and `then` with
    /// the last bytes, as [`bandgap_comm::Link::try_write_then`].
    pub(crate) fn try_write(
        &mut self,
        frame: &Frame,
        bytes: &[u8],
        done: &mut usize,
        then: Option<&Frame>,
    ) -> Result<Posted> {
        match self.writing {
            None if self.unfinished() => return Ok(Posted::Busy),
            None => {
                let (bytes, len) = frame.encode();
                self.output = bytes;
                (self.sent, self.to_send) = (0, len);
            }
            Some(kind) if kind != frame.kind => return Ok(Posted::Busy),
            Some(_) => {}
        }
        let (behind, len) = then.map_or(([0; MAX_FRAME], 0), Frame::encode);
        let mut budget = AT_MOST;
        loop {
            let head = &self.output[self.sent..self.to_send];
            let rest = bytes.get(*done..).unwrap_or_default();
            let piece = &rest[..rest.len().min(budget)];
            let offered = head.len() + piece.len();
            if offered == 0 {
                self.refused = !rest.is_empty();
                if self.refused {
                    return Ok(Posted::Busy);
                }
                self.writing = None;
                return then.map_or(Ok(Posted::Yes), |then| self.try_send(then));
            }
            let tail = if piece.len() == rest.len() { &behind[..len] } else { &[] };
            let taken = sent(self.peer, self.stream.send_parts([head, piece, tail]))?;
            let of_head = taken.min(head.len());
            let of_piece = (taken - of_head).min(piece.len());
            self.sent += of_head;
            *done += of_piece;
            budget -= of_piece;
            if taken > offered {
                self.output = behind;
                (self.sent, self.to_send) = (taken - offered, len);
                (self.writing, self.refused) = (None, false);
                return Ok(Posted::Yes);
            }
            if taken > 0 {
                self.writing = Some(frame.kind);
            } else if self.writing.is_none() {
                // Nothing was sent: another frame may come first.
                self.to_send = 0;
            }
            // A socket that takes only a part is full.
            if taken < offered {
                self.refused = true;
                return Ok(Posted::Busy);
            }
        }
    }

    /// Takes what has arrived of the payload of a frame just decoded. Returns whether it is
    /// complete.
    pub(super) fn begin_payload(&mut self, frame: Frame, exposed: &mut [u8]) -> Result<bool> {
        let target = frame.target(exposed.len()).map_err(|error| self.garbage(error))?;
        self.room = INPUT_AMID_PAYLOADS;
        let there = target.len().min(self.filled - self.taken);
        let into = target.start + there;
        let input = &self.input[self.taken..self.taken + there];
        exposed[target.start..into].copy_from_slice(input);
        self.taken += there;
        let left = target.end - into;
        self.arriving = (left > 0).then_some(Payload { frame, into, left });
        Ok(left == 0)
    }

    /// Reads once: the payload into the exposed memory, and what follows it into the input. Returns
    /// what was read into the input, and the number of frames delivered: 1 if the payload is
    /// complete.
    pub(super) fn receive_payload(
        &mut self,
        exposed: &mut [u8],
        deliver: &mut impl FnMut(Frame),
    ) -> (io::Result<Received>, usize) {
        let Some(Payload { frame, into, left }) = &mut self.arriving else {
            return (Ok(Received::Nothing), 0);
        };
        let piece = (*left).min(AT_MOST);
        let behind = if piece == *left { BEHIND } else { 0 };
        let first = &mut exposed[*into..*into + piece];
        let arrived = match self.stream.receive_both(first, &mut self.input[..behind]) {
            Ok(Received::Bytes(arrived)) => arrived,
            other => return (other, 0),
        };
        let of_payload = arrived.min(piece);
        *into += of_payload;
        *left -= of_payload;
        let whole = *left == 0;
        if whole {
            deliver(*frame);
            self.arriving = None;
        }
        (Ok(Received::Bytes(arrived - of_payload)), usize::from(whole))
    }
}
