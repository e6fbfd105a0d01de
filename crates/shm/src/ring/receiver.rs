//! The side of a ring that handles requests.

use core::borrow::Borrow;

use bandgap_comm::{Message, NoHandler, Tag};

use super::{Cells, Corrupt};
use crate::slot::{STEP, Sequence, Slot};

/// Number of calls that find nothing before the counter is published. A receiver that keeps up with
/// a stream finds nothing between two requests. If it published the counter each time, the
/// counter's line would travel with every message.
#[cfg(not(loom))]
pub(super) const PATIENCE: u32 = 64;
/// The model checker explores each call.
#[cfg(loom)]
pub(super) const PATIENCE: u32 = 1;

/// The side that handles requests.
pub struct Receiver<C: Cells> {
    cells: C,
    /// Sequence of the next request.
    expected: Sequence,
    /// Sequence of the oldest request whose completion the sender may not know of; `expected` if
    /// there is none.
    unknown: Sequence,
    /// Calls that have found nothing since the counter fell behind.
    waited: u32,
    /// The counter is published when a sequence has no bit in common with this mask: every quarter
    /// of the ring.
    milestone: u64,
    /// Sequence of the request after the last one that was carried in the other direction's ring.
    after_carried: Sequence,
}

impl<C: Cells> Receiver<C> {
    /// The receiver of a ring whose first `position` requests are complete; 0 for an unused ring.
    pub fn new(cells: C, position: u64) -> Self {
        let expected = Sequence::request(position);
        let milestone = STEP * ((cells.slots() / 4).max(1) - 1);
        Self {
            cells,
            expected,
            unknown: expected,
            waited: 0,
            milestone,
            after_carried: Sequence::NONE,
        }
    }

    /// The slot of the next request.
    #[inline(always)]
    fn slot(&self) -> &Slot {
        self.cells.slot(self.expected)
    }

    /// Handled requests whose completion the sender may not know yet.
    #[inline(always)]
    pub fn unpublished(&self) -> u64 {
        self.unknown.until(self.expected)
    }

    /// Whether the next request has arrived.
    #[inline(always)]
    pub(crate) fn has_arrived(&self) -> bool {
        self.slot().header().past(self.expected).is_some()
    }

    /// Handles the next request if it has arrived. Returns how many were handled, 0 or 1.
    ///
    /// # Errors
    /// The sender wrote something invalid.
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

    /// The next request, if it has arrived. Complete it with [`Receiver::reply`] or
    /// [`Receiver::done`].
    #[inline(always)]
    pub(crate) fn arrived(&self) -> Result<Option<Message>, Corrupt> {
        let slot = self.slot();
        let Some(past) = slot.header().past(self.expected) else { return Ok(None) };
        match past.tag() {
            Some(tag) => Ok(Some(slot.read(tag))),
            None => Err(past.wrong()),
        }
    }

    /// Notes that no request has arrived. If the counter is behind, it is published by the
    /// [`PATIENCE`]-th such call.
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

    /// As [`Receiver::done`], for a request that was carried in a slot of the other direction's
    /// ring.
    #[inline(always)]
    pub(super) fn done_elsewhere(&mut self) {
        self.after_carried = self.expected.next();
        self.done();
    }

    /// Whether the slot of the request handled last may carry a request of this side. It may if
    /// that request came in this ring, had no reply, and the sender does not know that it is
    /// complete.
    #[inline(always)]
    pub(super) fn can_carry(&self) -> bool {
        self.unknown != self.expected && self.after_carried != self.expected
    }

    /// Sends a request of this side in the slot of the request handled last, which completes that
    /// request.
    #[inline(always)]
    pub(super) fn carry(&mut self, message: &Message) {
        let last = self.expected.before();
        let slot = self.cells.slot(last);
        slot.write_words(message);
        if self.unknown != last {
            // Nothing comes back for the requests before it, and the sender completes in order.
            self.cells.handled().publish(last);
        }
        slot.announce(message.tag(), last.carried());
        self.unknown = self.expected;
        self.waited = 0;
    }

    #[inline(always)]
    fn announce(&mut self, tag: Tag) {
        self.slot().announce(tag, self.expected.replied());
    }

    /// The requests before it get no reply, and the sender completes in order.
    #[cold]
    #[inline(never)]
    fn publish_and_announce(&mut self, tag: Tag) {
        self.publish();
        self.announce(tag);
    }

    /// Publishes that all requests before the next one have been handled.
    #[cold]
    #[inline(never)]
    fn publish(&mut self) {
        self.unknown = self.expected;
        self.waited = 0;
        self.cells.handled().publish(self.expected);
    }
}

impl<C: Cells> Drop for Receiver<C> {
    fn drop(&mut self) {
        if self.unknown != self.expected {
            self.publish();
        }
    }
}
