//! The side of a ring that sends requests.

use bandgap_comm::{Message, NoHandler};

use super::{Cells, Corrupt};
use crate::slot::{STEP, Sequence};

/// The side that sends requests.
pub struct Sender<C: Cells> {
    cells: C,
    /// Sequence of the next request. All positions follow from the two sequences. Sending a request
    /// updates nothing else here: with four counters instead of one, measurements showed half the
    /// rate. These stores probably wait behind those to slots, whose lines are in another core's
    /// cache.
    next: Sequence,
    /// Sequence of the oldest request that has not completed; `next` if there is none.
    oldest: Sequence,
    /// Largest number of outstanding requests: the number of slots, or 0 if there is no peer.
    capacity: u64,
}

/// What has come back in the slot of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Back {
    /// Nothing, or nothing yet.
    Nothing,
    /// The reply.
    Reply,
    /// A request of the other side.
    Request,
}

impl<C: Cells> Sender<C> {
    /// The sender of a ring whose first `position` requests are complete; 0 for an unused ring.
    pub fn new(cells: C, position: u64) -> Self {
        let capacity = cells.slots();
        Self::with_capacity(cells, position, capacity)
    }

    /// A sender that never has room, as there is no peer.
    pub fn closed(cells: C) -> Self {
        Self::with_capacity(cells, 0, 0)
    }

    fn with_capacity(cells: C, position: u64, capacity: u64) -> Self {
        let next = Sequence::request(position);
        Self { cells, next, oldest: next, capacity }
    }

    /// Sends a request if there is room. Returns whether there was.
    #[inline(always)]
    pub fn push(&mut self, message: &Message) -> bool {
        if !self.has_room() {
            return false;
        }
        self.cells.slot(self.next).write(message, self.next);
        self.next = self.next.next();
        true
    }

    /// Whether there is room for a request.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        self.outstanding() != self.capacity
    }

    /// Counts a request as sent that travels in a slot of the other direction's ring.
    #[inline(always)]
    pub(super) fn skip(&mut self) {
        self.next = self.next.next();
    }

    /// Requests sent that have not completed.
    #[inline(always)]
    pub fn outstanding(&self) -> u64 {
        self.oldest.until(self.next)
    }

    /// Whether no request is outstanding.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.next == self.oldest
    }

    /// Checks whether the oldest request has completed. If its reply has arrived, passes it to
    /// `on_reply`; otherwise completes it and those after it that have no reply. Returns the number
    /// of completed requests.
    ///
    /// # Errors
    /// The receiver wrote something invalid.
    #[inline(always)]
    pub fn complete(
        &mut self,
        on_reply: impl FnOnce(Message) -> Result<(), NoHandler>,
    ) -> Result<usize, Corrupt> {
        if self.is_idle() {
            Ok(0)
        } else if self.take_reply(on_reply)? == Back::Reply {
            Ok(1)
        } else {
            self.complete_unreplied()
        }
    }

    /// Passes the reply to the oldest request to `on_reply` if it has arrived, and returns what is
    /// in the slot. Some request must be outstanding.
    ///
    /// # Errors
    /// The receiver wrote something invalid.
    #[inline(always)]
    pub(crate) fn take_reply(
        &mut self,
        on_reply: impl FnOnce(Message) -> Result<(), NoHandler>,
    ) -> Result<Back, Corrupt> {
        let slot = self.cells.slot(self.oldest);
        // Read only once: a waiting rank does this all the time.
        let Some(past) = slot.header().past(self.oldest.replied()) else {
            return Ok(Back::Nothing);
        };
        if let Some(tag) = past.tag() {
            on_reply(slot.read(tag))?;
            self.oldest = self.oldest.next();
            Ok(Back::Reply)
        } else if past.is_carried() {
            Ok(Back::Request)
        } else {
            Err(past.wrong())
        }
    }

    /// Whether the slot of the oldest request holds a request of the other side.
    #[inline]
    pub(super) fn is_carried(&self) -> bool {
        !self.is_idle() && self.cells.slot(self.oldest).header().is(self.oldest.carried())
    }

    /// Returns the carried request, and completes the request in whose slot it came.
    ///
    /// # Errors
    /// The receiver wrote something invalid.
    #[inline]
    pub(super) fn take_carried(&mut self) -> Result<Message, Corrupt> {
        let slot = self.cells.slot(self.oldest);
        let request = slot.read(slot.header().tag()?);
        self.oldest = self.oldest.next();
        Ok(request)
    }

    /// Whether the number of completed requests is a multiple of `turns`, a power of two.
    #[inline(always)]
    pub(crate) fn is_turn(&self, turns: u64) -> bool {
        self.oldest.is_multiple(turns)
    }

    /// Whether the receiver's counter says that the oldest request has been handled.
    #[inline(always)]
    pub(crate) fn is_counted(&self) -> bool {
        self.cells.handled().glance() > self.oldest.whole()
    }

    /// Completes the oldest requests that the receiver has counted as handled, up to the first that
    /// has an answer in its slot. Returns how many were completed.
    ///
    /// # Errors
    /// The receiver wrote something invalid.
    #[inline]
    pub(crate) fn complete_unreplied(&mut self) -> Result<usize, Corrupt> {
        let handled = self.cells.handled().read();
        if handled > self.next.whole() {
            let [handled, sent] = [handled / STEP, self.next.position()];
            return Err(Corrupt::Handled { handled, sent });
        }
        let mut completed = 0;
        // The counter is read first, the slots second. What comes back in a slot is written before
        // the counter passes its request. So if a slot now shows nothing, nothing comes back.
        while handled > self.oldest.whole() && !self.is_answered() {
            self.oldest = self.oldest.next();
            completed += 1;
        }
        Ok(completed)
    }

    /// Whether something has come back in the slot of the oldest request.
    #[inline]
    pub(super) fn is_answered(&self) -> bool {
        let header = self.cells.slot(self.oldest).header();
        header.past(self.oldest.replied()).is_some()
    }
}
