//! Payloads: bytes that go from their source straight to the socket, and from the socket straight
//! to their place in memory.

use std::io;
use std::ops::Range;

use bandgap_comm::{
    AHEAD, CARRYING, CommError, Frame, FrameKind, Frames, MAX_FRAME, Posted, Rank, Result,
};

use super::{Channel, INPUT, INPUT_AMID_PAYLOADS, sent};
use crate::{Received, Stream};

/// Most bytes that one call moves in either direction. Between two calls, the other direction and
/// the other peers have their turn. Sockets rarely have room for more, and a system call costs
/// little compared with copying this many bytes.
const AT_MOST: usize = 4 << 20;

/// Bytes after a payload that its last call also reads. They hold the request that reports it and
/// the announcement of the next payload, but little of that payload.
const BEHIND: usize = 256;

/// A payload that is arriving.
#[derive(Debug)]
pub(super) struct Payload {
    frame: Frame,
    /// Its place in the exposed memory, or 0 and its length if it is carried.
    target: Range<usize>,
    done: usize,
    /// Bytes still to come, at least 1.
    pub(super) left: usize,
}

impl Payload {
    /// Memory for the bytes still to come, with carried ones where `to` wants them.
    fn room<'a>(
        &self,
        from: Rank,
        exposed: &'a mut [u8],
        to: &'a mut impl Frames,
    ) -> Result<&'a mut [u8]> {
        if self.frame.kind != FrameKind::Carried {
            return Ok(&mut exposed[self.target.clone()][self.done..]);
        }
        let room = to.room(from, self.done).filter(|room| room.len() == self.left);
        room.ok_or_else(|| CommError::Garbage {
            peer: from,
            what: format!("{} bytes that no request announced", self.target.len()),
        })
    }
}

impl<S: Stream> Channel<S> {
    /// As [`bandgap_comm::Link::try_write`]; `then` goes with the last bytes.
    pub(crate) fn try_write(
        &mut self,
        frames: &[&Frame],
        bytes: &[u8],
        done: &mut usize,
        then: Option<&Frame>,
    ) -> Result<Posted> {
        let kind = frames.last().map(|frame| frame.kind);
        match self.writing {
            None if self.unfinished() => return Ok(Posted::Busy),
            None => self.keep(frames),
            writing if writing != kind => return Ok(Posted::Busy),
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
                self.output[..MAX_FRAME].copy_from_slice(&behind);
                (self.sent, self.to_send) = (taken - offered, len);
                (self.writing, self.refused) = (None, false);
                return Ok(Posted::Yes);
            }
            if taken > 0 {
                self.writing = kind;
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
    #[inline(never)]
    pub(super) fn begin_payload(
        &mut self,
        frame: Frame,
        exposed: &mut [u8],
        to: &mut impl Frames,
    ) -> Result<bool> {
        let target = match (frame.kind, frame.message.words()) {
            (FrameKind::Carried, &[len, ..]) => 0..len as usize,
            _ => frame.target(exposed.len()).map_err(|error| self.garbage(error))?,
        };
        self.room = INPUT_AMID_PAYLOADS;
        if self.ahead > 0 && to.room(self.peer, AHEAD).is_some() {
            self.filled += self.take_back(to)?;
        }
        let there = target.len().min(self.filled - self.taken);
        let mut payload = Payload { frame, done: 0, left: target.len(), target };
        payload.room(self.peer, exposed, to)?[..there]
            .copy_from_slice(&self.input[self.taken..self.taken + there]);
        self.taken += there;
        payload.done = there + std::mem::take(&mut self.ahead);
        payload.left -= payload.done;
        self.arriving = Some(payload).filter(|payload| payload.left > 0);
        Ok(self.arriving.is_none())
    }

    /// Reads once. Amid payloads, a request and the announcement of its bytes go to the input, and
    /// the bytes to where they probably belong, so that they need not be copied.
    #[inline(never)]
    pub(super) fn receive_ahead(&mut self, to: &mut impl Frames) -> Result<io::Result<Received>> {
        let room = to.room(self.peer, AHEAD).filter(|_| self.filled == 0);
        let Some(room) = room else { return Ok(self.receive_input()) };
        let most = room.len().min(INPUT);
        let both = self.stream.receive_both(&mut self.input[..CARRYING], &mut room[..most]);
        let Ok(Received::Bytes(arrived)) = both else { return Ok(both) };
        self.ahead = arrived.saturating_sub(CARRYING);
        let of_input = arrived - self.ahead;
        let others = if self.is_carrying() { 0 } else { self.take_back(to)? };
        Ok(Ok(Received::Bytes(of_input + others)))
    }

    /// Whether the input is a request and the announcement of all bytes ahead.
    fn is_carrying(&self) -> bool {
        let input = &self.input[..CARRYING];
        let Ok(Some((_, len))) = Frame::decode(input) else { return false };
        let Ok(Some((frame, rest))) = Frame::decode(&input[len..]) else { return false };
        let [bytes, ..] = *frame.message.all_words();
        let whole = frame.kind == FrameKind::Carried && len + rest == CARRYING;
        whole && bytes >= self.ahead as u64
    }

    /// Moves the bytes ahead, which are others, behind the input. Returns their number.
    fn take_back(&mut self, to: &mut impl Frames) -> Result<usize> {
        let ahead = std::mem::take(&mut self.ahead);
        if ahead > 0 {
            let room = to.room(self.peer, AHEAD).and_then(|room| room.get(..ahead));
            let behind = &mut self.input[CARRYING..CARRYING + ahead];
            behind.copy_from_slice(room.ok_or(CommError::Stopped)?);
        }
        Ok(ahead)
    }

    /// Reads once: the payload into its place, and what follows it into the input. Returns
    /// what was read into the input, and the number of frames delivered: 1 if the payload is
    /// complete.
    #[inline(never)]
    pub(super) fn receive_payload(
        &mut self,
        exposed: &mut [u8],
        to: &mut impl Frames,
    ) -> Result<(io::Result<Received>, usize)> {
        let Some(payload) = &mut self.arriving else {
            return Ok((Ok(Received::Nothing), 0));
        };
        let piece = payload.left.min(AT_MOST);
        let behind = if piece == payload.left { BEHIND } else { 0 };
        let first = &mut payload.room(self.peer, exposed, to)?[..piece];
        let arrived = match self.stream.receive_both(first, &mut self.input[..behind]) {
            Ok(Received::Bytes(arrived)) => arrived,
            other => return Ok((other, 0)),
        };
        let of_payload = arrived.min(piece);
        payload.done += of_payload;
        payload.left -= of_payload;
        let whole = payload.left == 0;
        if whole {
            to.frame(self.peer, payload.frame);
            self.arriving = None;
        }
        Ok((Ok(Received::Bytes(arrived - of_payload)), usize::from(whole)))
    }
}
