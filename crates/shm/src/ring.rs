//! The protocol of one ring: requests from one rank to one other, and their replies.
//!
//! Request number p, from 0, travels in slot p mod N. The receiver runs its handler and either
//! writes the reply into the same slot, or lets the ring's counter of handled requests pass p.
//! Either way the request is complete and the slot is the sender's again: completion is the flow
//! control. Handlers run in order, so requests complete in order.
//!
//! A stream of requests without replies costs the receiver no store to a slot: the counter is
//! published after a quarter of the ring, or when calls of [`Receiver::serve`] have found nothing
//! to do for a while, or before a reply is written, or when the receiver is dropped. The sender reads the
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

use core::borrow::Borrow;
use core::fmt;

use bandgap_comm::{Message, NoHandler, Tag};

use crate::slot::{Sequence, Slot, TooManyWords};
use crate::sync::{AtomicU64, Ordering};

mod local;

pub use local::LocalCells;

/// The memory of a ring: `slots()` lines, a power of two, and the receiver's counter.
pub trait Cells {
    /// Number of slots, a power of two.
    fn slots(&self) -> u64;
    /// The slot of a request and of its reply: number half the sequence, round and round.
    fn slot(&self, sequence: Sequence) -> &Slot;
    /// The counter that the receiver publishes.
    fn handled(&self) -> &Counter;
}

/// How many requests have been handled, on a line of its own, written by the receiver only: the
/// sequence of the first that has not, or 0 at the beginning.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn new(next: Sequence) -> Self {
        Self(AtomicU64::new(next.whole()))
    }
}

/// What a peer wrote and may not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corrupt {
    /// A message of this many words.
    Words(u32),
    /// More requests handled than were sent.
    Handled {
        /// As the peer says.
        handled: u64,
        /// As this side knows.
        sent: u64,
    },
    /// A message for a handler that this side does not have.
    Handler(NoHandler),
}

impl From<NoHandler> for Corrupt {
    fn from(handler: NoHandler) -> Self {
        Self::Handler(handler)
    }
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
            Self::Handler(handler) => write!(f, "{handler}"),
        }
    }
}

/// The side that sends requests.
#[derive(Debug)]
pub struct Sender<C: Cells> {
    cells: C,
    /// Sequence of the next request. All positions follow from the two sequences: a request stores
    /// nothing else of its own, since four counters in place of one were measured to halve the
    /// stream: stores probably wait behind those to slots, whose lines come from afar.
    next: Sequence,
    /// Sequence of the oldest request that has not completed; `next` when there is none.
    oldest: Sequence,
    /// Requests that may be outstanding: the slots, or none where there is no peer.
    capacity: u64,
}

impl<C: Cells> Sender<C> {
    /// The sender of a ring whose first `position` requests are complete; 0 for an unused ring.
    pub fn new(cells: C, position: u64) -> Self {
        let capacity = cells.slots();
        Self::with_capacity(cells, position, capacity)
    }

    /// A sender that never has room.
    #[cfg(not(loom))]
    pub(crate) fn closed(cells: C) -> Self {
        Self::with_capacity(cells, 0, 0)
    }

    fn with_capacity(cells: C, position: u64, capacity: u64) -> Self {
        let next = Sequence::request(position);
        Self { cells, next, oldest: next, capacity }
    }

    /// Sends a request if there is room, and says whether there was.
    #[inline(always)]
    pub fn push(&mut self, message: &Message) -> bool {
        if self.outstanding() == self.capacity {
            return false;
        }
        self.cells.slot(self.next).write(message, self.next);
        self.next = self.next.next();
        true
    }

    /// Requests sent that have not completed.
    #[inline(always)]
    pub fn outstanding(&self) -> u64 {
        // 2h + 2 and 2t + 2.
        (self.next.whole() - self.oldest.whole()) / 2
    }

    /// Whether none is outstanding.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.next == self.oldest
    }

    /// Looks whether the oldest request has completed: hands out its reply, or completes it and
    /// those after it that have no replies. Returns how many requests completed; none, when none
    /// is outstanding.
    ///
    /// # Errors
    /// The receiver wrote what it may not write.
    #[inline(always)]
    pub fn complete(
        &mut self,
        on_reply: impl FnOnce(Message) -> Result<(), NoHandler>,
    ) -> Result<usize, Corrupt> {
        if self.is_idle() {
            Ok(0)
        } else if self.take_reply(on_reply)? {
            Ok(1)
        } else {
            self.complete_unreplied()
        }
    }

    /// Hands out the reply to the oldest request if it is there, and says whether it was. There is
    /// an oldest request: some are outstanding.
    ///
    /// # Errors
    /// The receiver wrote what it may not write.
    #[inline(always)]
    pub(crate) fn take_reply(
        &mut self,
        on_reply: impl FnOnce(Message) -> Result<(), NoHandler>,
    ) -> Result<bool, Corrupt> {
        let slot = self.cells.slot(self.oldest);
        let header = slot.header();
        if !header.is(self.oldest.replied()) {
            return Ok(false);
        }
        on_reply(slot.read(header)?)?;
        self.oldest = self.oldest.next();
        Ok(true)
    }

    /// Whether requests have been completed a multiple of `turns` times, a power of two.
    #[cfg(not(loom))]
    #[inline(always)]
    pub(crate) fn is_turn(&self, turns: u64) -> bool {
        self.oldest.whole() & (2 * turns - 1) == 0
    }

    /// Whether the receiver says that it handled the oldest request.
    #[cfg(not(loom))]
    #[inline(always)]
    pub(crate) fn is_counted(&self) -> bool {
        self.cells.handled().0.load(Ordering::Relaxed) > self.oldest.whole()
    }

    /// Completes the oldest of the requests that the receiver says it handled, as far as they have
    /// no replies, and returns how many these were.
    ///
    /// # Errors
    /// The receiver wrote what it may not write.
    #[inline]
    pub(crate) fn complete_unreplied(&mut self) -> Result<usize, Corrupt> {
        // Acquire: pairs with the release in `Receiver::publish`. The replies to the requests
        // counted were written before, and the receiver has read those requests.
        let handled = self.cells.handled().0.load(Ordering::Acquire);
        if handled > self.next.whole() {
            let [handled, sent] = [handled / 2 - 1, self.next.position()];
            return Err(Corrupt::Handled { handled, sent });
        }
        let mut completed = 0;
        // The counter was read first, the slots are looked at second: a reply is written before
        // the counter passes its request, so where none is seen now, there is none.
        while handled > self.oldest.whole()
            && !self.cells.slot(self.oldest).header().is(self.oldest.replied())
        {
            self.oldest = self.oldest.next();
            completed += 1;
        }
        Ok(completed)
    }
}

/// Calls that find nothing before the counter is published. A receiver that keeps up with a stream
/// finds nothing between any two requests; were the counter published each time, its line would
/// travel with every message.
#[cfg(not(loom))]
const PATIENCE: u32 = 64;
/// The model checker explores every call.
#[cfg(loom)]
const PATIENCE: u32 = 1;

/// The side that handles requests.
#[derive(Debug)]
pub struct Receiver<C: Cells> {
    cells: C,
    /// Sequence of the next request.
    expected: Sequence,
    /// Sequence of the oldest request whose completion the sender may not know; `expected` when
    /// there is none.
    unknown: Sequence,
    /// Calls that found nothing while the counter was behind, since it was published.
    waited: u32,
    /// The counter is published where a sequence and this have no bit in common: each quarter of
    /// the ring.
    milestone: u64,
}

impl<C: Cells> Receiver<C> {
    /// The receiver of a ring whose first `position` requests are complete; 0 for an unused ring.
    pub fn new(cells: C, position: u64) -> Self {
        let expected = Sequence::request(position);
        let milestone = 2 * (cells.slots() / 4).max(1) - 1;
        Self { cells, expected, unknown: expected, milestone, waited: 0 }
    }

    /// The slot of the next request.
    #[inline(always)]
    fn slot(&self) -> &Slot {
        self.cells.slot(self.expected)
    }

    /// Requests handled of whose completion the sender may not know yet.
    #[inline(always)]
    pub fn unpublished(&self) -> u64 {
        self.expected.position() - self.unknown.position()
    }

    /// Whether the next request has arrived.
    #[cfg(not(loom))]
    #[inline(always)]
    pub(crate) fn has_arrived(&self) -> bool {
        self.slot().header().is(self.expected)
    }

    /// Handles the next request if it has arrived, and returns how many requests that was.
    ///
    /// # Errors
    /// The sender wrote what it may not write.
    #[inline(always)]
    pub fn serve<M: Borrow<Message>>(
        &mut self,
        on_request: impl FnOnce(Message) -> Result<Option<M>, NoHandler>,
    ) -> Result<usize, Corrupt> {
        let Some(request) = self.arrived()? else {
            self.idle();
            return Ok(0);
        };
        match on_request(request)? {
            Some(reply) => self.reply(reply.borrow()),
            None => self.done(),
        }
        Ok(1)
    }

    /// The next request, if it has arrived. It is handled by [`Receiver::reply`] or
    /// [`Receiver::done`].
    #[inline(always)]
    pub(crate) fn arrived(&self) -> Result<Option<Message>, Corrupt> {
        let slot = self.slot();
        let header = slot.header();
        if header.is(self.expected) { Ok(Some(slot.read(header)?)) } else { Ok(None) }
    }

    /// When no request has arrived: makes known how many were handled, the [`PATIENCE`]-th time.
    #[inline(always)]
    pub(crate) fn idle(&mut self) {
        if self.unknown != self.expected {
            self.idle_owing();
        }
    }

    #[cold]
    #[inline(never)]
    fn idle_owing(&mut self) {
        self.waited += 1;
        if self.waited >= PATIENCE {
            self.publish();
        }
    }

    /// Replies to the request that has arrived.
    #[inline(always)]
    pub(crate) fn reply(&mut self, reply: &Message) {
        self.slot().write_words(reply);
        if self.unknown == self.expected {
            self.announce(reply.tag());
        } else {
            self.publish_and_announce(reply.tag());
        }
        self.expected = self.expected.next();
        self.unknown = self.expected;
    }

    /// Counts the request that has arrived as handled without a reply.
    #[inline(always)]
    pub(crate) fn done(&mut self) {
        self.expected = self.expected.next();
        if self.expected.whole() & self.milestone == 0 {
            self.publish();
        }
    }

    #[inline(always)]
    fn announce(&mut self, tag: Tag) {
        self.slot().announce(tag, self.expected.replied());
    }

    /// Those before a reply get none, and the sender completes in order.
    #[cold]
    #[inline(never)]
    fn publish_and_announce(&mut self, tag: Tag) {
        self.publish();
        self.announce(tag);
    }

    /// Makes known that the requests before the next are handled.
    #[cold]
    #[inline(never)]
    fn publish(&mut self) {
        self.unknown = self.expected;
        self.waited = 0;
        // Release: pairs with the acquire in `Sender::complete_unreplied`. The replies to the
        // requests counted come before, and so do the reads of these requests, whose slots the
        // sender may now overwrite.
        self.cells.handled().0.store(self.expected.whole(), Ordering::Release);
    }
}

impl<C: Cells> Drop for Receiver<C> {
    fn drop(&mut self) {
        if self.unknown != self.expected {
            self.publish();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
