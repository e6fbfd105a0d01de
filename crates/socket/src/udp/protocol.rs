//! The protocol at one end of a pair: bytes in, datagrams out, and the other way round. It does no
//! input or output and reads no clock.
//!
//! # Sending again
//! Datagrams are numbered, and the receiver takes them only in order. It drops a datagram that
//! arrives early and says so; the sender then goes back and sends again from there. On one machine
//! nothing is reordered, and only a full buffer loses anything, so code to keep early datagrams
//! would never run. A receiver that hears nothing cannot complain. So after a while the sender
//! repeats its oldest datagram and asks what has arrived; the waits double. It goes back if the
//! answer shows that something is missing.
//!
//! # Flow control
//! A sender has no more datagrams under way than fit into the socket's buffer at the receiver; the
//! receiver says how much that is. It acknowledges what it has taken out of the buffer: with the
//! next datagram that goes back, or separately when half of the buffer has been used, or after a
//! while.

use std::time::Duration;

use super::header::{Flags, HEADER, Header, Key};
use super::inbox::{Inbox, Place};
use super::outbox::Outbox;
use super::{LEAST_ROOM, MAX_ROOM, Mishaps};

/// One end of a pair.
#[cfg_attr(test, derive(Clone, PartialEq))]
pub(super) struct Protocol {
    /// The key of datagrams that arrive.
    theirs: Key,
    /// The key of datagrams that are sent.
    ours: Key,
    pub(super) outbox: Outbox,
    inbox: Inbox,
    /// The last separate acknowledgement.
    answer: [u8; HEADER],
    pub(super) mishaps: Mishaps,
}

impl Protocol {
    /// An end whose socket holds `room`. The numbers of both ends start at `first`.
    pub(super) fn new(ours: Key, theirs: Key, first: u32, room: u32) -> Self {
        let outbox = Outbox::new(first, LEAST_ROOM);
        let inbox = Inbox::new(first, room.clamp(LEAST_ROOM, MAX_ROOM));
        let (answer, mishaps) = ([0; HEADER], Mishaps::default());
        Self { theirs, ours, outbox, inbox, answer, mishaps }
    }

    /// Takes bytes to send, part after part. Returns how many: 0 if there is no room.
    #[inline]
    pub(super) fn push(&mut self, parts: [&[u8]; 3]) -> usize {
        self.outbox.push(parts)
    }

    /// Whether there is a [next][Self::next] datagram.
    #[inline]
    pub(super) fn restless(&self) -> bool {
        self.outbox.pending() || self.inbox.due()
    }

    /// The next datagram: one with a payload, or a separate acknowledgement if one is due. It stays
    /// the next one until [`Protocol::gave`].
    #[inline]
    pub(super) fn next(&mut self) -> Option<&[u8]> {
        if self.outbox.pending() {
            let (number, flags, datagram) = self.outbox.next();
            let (ack, room) = (self.inbox.expected, self.inbox.room);
            self.ours.seal(datagram, &Header { number, ack, room, flags });
            Some(datagram)
        } else if self.inbox.due() {
            self.answer = self.bare(self.inbox.flags());
            Some(&self.answer)
        } else {
            None
        }
    }

    /// Notes that the next datagram was sent.
    #[inline]
    pub(super) fn gave(&mut self) {
        if self.outbox.pending() {
            self.outbox.gave(&mut self.mishaps);
            self.inbox.told();
        } else {
            self.inbox.told_all();
        }
    }

    /// The datagram that says that this end closes. Nothing is repeated afterwards.
    pub(super) fn farewell(&self) -> [u8; HEADER] {
        self.bare(Flags::CLOSE)
    }

    fn bare(&self, flags: Flags) -> [u8; HEADER] {
        let mut datagram = [0; HEADER];
        let (number, ack, room) = (self.outbox.sent, self.inbox.expected, self.inbox.room);
        self.ours.seal(&mut datagram, &Header { number, ack, room, flags });
        datagram
    }

    /// Takes a datagram that arrived. Returns its payload if that comes next. A refused datagram
    /// changes nothing except the count.
    #[inline]
    pub(super) fn accept<'d>(&mut self, datagram: &'d [u8]) -> Option<&'d [u8]> {
        let Some((header, place, covered, payload)) = self.examine(datagram) else {
            self.mishaps.refused += 1;
            return None;
        };
        self.outbox.acknowledge(covered);
        self.outbox.room = header.room;
        if !payload.is_empty() {
            self.inbox.arrived(place, datagram.len(), &mut self.mishaps);
        }
        if header.flags != Flags::NONE {
            self.heed(&header, place);
        }
        (place == Place::Next && !payload.is_empty()).then_some(payload)
    }

    /// The datagram's fields, its place, and how many datagrams it acknowledges.
    #[inline]
    fn examine<'d>(&self, datagram: &'d [u8]) -> Option<(Header, Place, u32, &'d [u8])> {
        let (header, payload) = self.theirs.open(datagram)?;
        let place = self.inbox.place(header.number)?;
        let covered = self.outbox.covered(header.ack)?;
        let known = (LEAST_ROOM..=MAX_ROOM).contains(&header.room);
        let sound = known && (payload.is_empty() || !header.flags.has(Flags::CLOSE));
        sound.then_some((header, place, covered, payload))
    }

    #[cold]
    fn heed(&mut self, header: &Header, place: Place) {
        if header.flags.has(Flags::ASK) {
            self.inbox.asked();
        }
        if header.flags.has(Flags::LOST) {
            self.outbox.rewind(header.ack);
        }
        if header.flags.has(Flags::CLOSE) {
            self.inbox.closes(header.number, place);
        }
    }

    /// Whether the peer has closed, and everything that it sent has been taken.
    #[inline]
    pub(super) fn finished(&self) -> bool {
        self.inbox.finished()
    }

    /// Checks whether acknowledgements are late on either side. Call this now and then.
    pub(super) fn tend(&mut self, now: impl FnOnce() -> Duration) {
        self.inbox.tend();
        self.outbox.tend(now);
    }

    /// Call this before this end sleeps: what it owes is due. It must wake up after the time
    /// returned.
    pub(super) fn rest(&mut self, now: Duration) -> Option<Duration> {
        self.inbox.hurry();
        self.outbox.look(now)
    }

    /// Datagrams that may not have arrived, and acknowledgements owed.
    pub(super) fn unsettled(&self) -> usize {
        self.outbox.unsettled() + usize::from(self.inbox.owes())
    }
}

#[cfg(test)]
mod tests;
