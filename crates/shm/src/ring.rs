//! The protocol of one ring: requests from one rank to one other, and their replies.
//!
//! Request number p, from 0, travels in slot p mod N. The receiver runs its handler and either
//! writes the reply into the same slot, or lets the ring's counter of handled requests pass p.
//! Either way the request is complete and the slot is the sender's again: completion is the flow
//! control. Handlers run in order, so requests complete in order.
//!
//! A stream of requests without replies costs the receiver no store to a slot: the counter is
//! published after a quarter of the ring, or when a call of [`Receiver::serve`] finds nothing to
//! do, or before a reply is written, or when the receiver is dropped. The sender reads the
//! counter's line only when its oldest request shows no reply.
//!
//! A request without reply and one with, handled after it, could be mistaken for each other where
//! the counter lags. Two orders rule this out: the receiver writes a reply before the counter
//! passes its request, and the sender reads the counter before the slots that it decides on. So a
//! request that the counter passed, and whose slot then shows no reply, has none. The model checker
//! runs this file (`tests/loom.rs`).
//!
//! Each side keeps its own positions to itself and believes of the other's only what it checks:
//! a sequence other than the expected one is "nothing yet", a length is at most four words, the
//! counter is at most the number of requests sent. Whatever a peer writes, the worst is a wrong
//! message or an error.

use core::fmt;
use std::sync::Arc;

use bandgap_comm::Message;

use crate::slot::{Slot, TooManyWords, reply_sequence, request_sequence};
use crate::sync::{AtomicU64, Ordering};

/// The memory of a ring: `slots()` lines, a power of two, and the receiver's counter.
pub trait Cells {
    /// Number of slots, a power of two.
    fn slots(&self) -> u64;
    /// The slot of request number `position`.
    fn slot(&self, position: u64) -> &Slot;
    /// The counter that the receiver publishes.
    fn handled(&self) -> &Counter;
}

/// The number of requests handled, on a line of its own, written by the receiver only.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }
}

/// What a peer wrote and may not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corrupt {
    /// A message of this many words.
    Words(u64),
    /// More requests handled than were sent.
    Handled {
        /// As the peer says.
        handled: u64,
        /// As this side knows.
        sent: u64,
    },
}

impl From<TooManyWords> for Corrupt {
    fn from(TooManyWords(words): TooManyWords) -> Self {
        Self::Words(words)
    }
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => write!(f, "a message of {words} words"),
            Self::Handled { handled, sent } => {
                write!(f, "{handled} requests handled of {sent} sent")
            }
        }
    }
}

/// The side that sends requests.
#[derive(Debug)]
pub struct Sender<C> {
    cells: C,
    /// Requests that may be outstanding: the slots, or none where there is no peer.
    capacity: u64,
    /// Number of the next request.
    head: u64,
    /// Number of the oldest request that has not completed; `head - tail <= capacity`.
    tail: u64,
}

impl<C: Cells> Sender<C> {
    /// The sender of a ring whose first `position` requests are complete; 0 for an unused ring.
    pub fn new(cells: C, position: u64) -> Self {
        let capacity = cells.slots();
        Self { cells, capacity, head: position, tail: position }
    }

    /// A sender that never has room.
    #[cfg(not(loom))]
    pub(crate) fn closed(cells: C) -> Self {
        Self { cells, capacity: 0, head: 0, tail: 0 }
    }

    /// Sends a request if there is room, and says whether there was.
    #[inline(always)]
    pub fn push(&mut self, message: &Message) -> bool {
        let head = self.head;
        if head - self.tail == self.capacity {
            return false;
        }
        self.cells.slot(head).write(message, request_sequence(head));
        self.head = head + 1;
        true
    }

    /// Requests sent that have not completed.
    #[inline(always)]
    pub fn outstanding(&self) -> u64 {
        self.head - self.tail
    }

    /// Looks whether the oldest request has completed: hands out its reply, or completes it and
    /// those after it that have no replies. Returns how many requests completed; none, when none
    /// is outstanding.
    ///
    /// # Errors
    /// The receiver wrote what it may not write.
    #[inline(always)]
    pub fn complete(&mut self, on_reply: impl FnOnce(Message)) -> Result<usize, Corrupt> {
        let tail = self.tail;
        if tail == self.head {
            return Ok(0);
        }
        let slot = self.cells.slot(tail);
        let header = slot.header();
        if header.sequence() != reply_sequence(tail) {
            // Acquire: pairs with the release in `Receiver::publish`. The replies to the requests
            // counted were written before, and the receiver has read those requests.
            let handled = self.cells.handled().0.load(Ordering::Acquire);
            return if handled <= tail { Ok(0) } else { self.complete_unreplied(handled) };
        }
        let message = slot.read(header)?;
        self.tail = tail + 1;
        on_reply(message);
        Ok(1)
    }

    /// Completes the oldest of the `handled` requests, as far as they have no replies.
    #[inline(never)]
    fn complete_unreplied(&mut self, handled: u64) -> Result<usize, Corrupt> {
        if handled > self.head {
            return Err(Corrupt::Handled { handled, sent: self.head });
        }
        let first = self.tail;
        // The counter was read first, the slots are looked at second: a reply is written before
        // the counter passes its request, so where none is seen now, there is none.
        while self.tail < handled
            && self.cells.slot(self.tail).header().sequence() != reply_sequence(self.tail)
        {
            self.tail += 1;
        }
        Ok((self.tail - first) as usize)
    }
}

/// The side that handles requests.
#[derive(Debug)]
pub struct Receiver<C: Cells> {
    cells: C,
    /// Number of the next request.
    next: u64,
    /// Requests handled without a reply since the counter was last published.
    unpublished: u64,
}

impl<C: Cells> Receiver<C> {
    /// The receiver of a ring whose first `position` requests are complete; 0 for an unused ring.
    pub fn new(cells: C, position: u64) -> Self {
        Self { cells, next: position, unpublished: 0 }
    }

    /// Requests handled of whose completion the sender may not know yet.
    #[inline(always)]
    pub fn unpublished(&self) -> u64 {
        self.unpublished
    }

    /// Handles the next request if it has arrived, and returns how many requests that was.
    ///
    /// # Errors
    /// The sender wrote what it may not write.
    #[inline(always)]
    pub fn serve(
        &mut self,
        on_request: impl FnOnce(Message) -> Option<Message>,
    ) -> Result<usize, Corrupt> {
        let next = self.next;
        let slot = self.cells.slot(next);
        let header = slot.header();
        if header.sequence() != request_sequence(next) {
            if self.unpublished != 0 {
                self.publish(next);
            }
            return Ok(0);
        }
        match on_request(slot.read(header)?) {
            Some(reply) => {
                // Those before get no reply, and the sender completes in order.
                if self.unpublished != 0 {
                    self.publish(next);
                }
                self.cells.slot(next).write_all(&reply, reply_sequence(next));
            }
            None => {
                self.unpublished += 1;
                if self.unpublished >= self.cells.slots() / 4 {
                    self.publish(next + 1);
                }
            }
        }
        self.next = next + 1;
        Ok(1)
    }

    /// Makes known that the requests before `handled` are.
    #[inline(always)]
    fn publish(&mut self, handled: u64) {
        self.unpublished = 0;
        // Release: pairs with the acquire in `Sender::complete`. The replies to the requests
        // counted come before, and so do the reads of these requests, whose slots the sender may
        // now overwrite.
        self.cells.handled().0.store(handled, Ordering::Release);
    }
}

impl<C: Cells> Drop for Receiver<C> {
    fn drop(&mut self) {
        if self.unpublished != 0 {
            self.publish(self.next);
        }
    }
}

/// A ring in the memory of one process, for the model checker and for tests.
#[derive(Debug)]
pub struct LocalCells {
    slots: Box<[Slot]>,
    handled: Counter,
}

impl LocalCells {
    /// A ring of `slots` slots whose first `position` requests got replies.
    ///
    /// # Panics
    /// `slots` is no power of two.
    pub fn new(slots: u64, position: u64) -> Arc<Self> {
        assert!(slots.is_power_of_two(), "the number of slots is a power of two");
        let last_sequence = |slot: u64| {
            // The latest request before `position` in this slot, if there was one.
            let back = position.wrapping_sub(slot + 1) % slots + 1;
            position.checked_sub(back).map_or(0, reply_sequence)
        };
        let slots = (0..slots).map(|slot| Slot::new(last_sequence(slot))).collect();
        Arc::new(Self { slots, handled: Counter::new(position) })
    }
}

impl Cells for Arc<LocalCells> {
    fn slots(&self) -> u64 {
        self.slots.len() as u64
    }

    fn slot(&self, position: u64) -> &Slot {
        &self.slots[position as usize & (self.slots.len() - 1)]
    }

    fn handled(&self) -> &Counter {
        &self.handled
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
