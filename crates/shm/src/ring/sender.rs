//! The side of a ring that sends requests.

use bandgap_comm::{Message, NoHandler};

use super::{Cells, Corrupt};
use crate::slot::{STEP, Sequence};

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

/// What came back in the slot of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Back {
    /// Nothing yet, or nothing at all.
    Nothing,
    /// Its reply.
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
        if !self.has_room() {
            return false;
        }
        self.cells.slot(self.next).write(message, self.next);
        self.next = self.next.next();
        true
    }

    /// Whether a request has room.
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

    /// Whether none is outstanding.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.next == self.oldest
    }

    /// Looks whether the oldest request has completed: hands out its reply, or completes it and
    /// those after it that nothing comes back for. Returns how many requests completed; none, when none
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
        } else if self.take_reply(on_reply)? == Back::Reply {
            Ok(1)
        } else {
            self.complete_unreplied()
        }
    }

    /// Hands out the reply to the oldest request, of which there is one, if it is there, and says
    /// what is.
    ///
    /// # Errors
    /// The receiver wrote what it may not write.
    #[inline(always)]
    pub(crate) fn take_reply(
        &mut self,
        on_reply: impl FnOnce(Message) -> Result<(), NoHandler>,
    ) -> Result<Back, Corrupt> {
        let slot = self.cells.slot(self.oldest);
        // Read once: whoever waits does this all the time.
        let header = slot.header();
        if header.is(self.oldest.replied()) {
            on_reply(slot.read(header)?)?;
            self.oldest = self.oldest.next();
            Ok(Back::Reply)
        } else if header.is(self.oldest.carried()) {
            Ok(Back::Request)
        } else {
            Ok(Back::Nothing)
        }
    }

    /// Whether the slot of the oldest request holds a request of the other side.
    #[inline]
    pub(super) fn is_carried(&self) -> bool {
        !self.is_idle() && self.cells.slot(self.oldest).header().is(self.oldest.carried())
    }

    /// Hands out that request, and completes the one in whose slot it came.
    ///
    /// # Errors
    /// The receiver wrote what it may not write.
    #[inline]
    pub(super) fn take_carried(&mut self) -> Result<Message, Corrupt> {
        let slot = self.cells.slot(self.oldest);
        let request = slot.read(slot.header())?;
        self.oldest = self.oldest.next();
        Ok(request)
    }

    /// Whether requests have been completed a multiple of `turns` times, a power of two.
    #[cfg(not(loom))]
    #[inline(always)]
    pub(crate) fn is_turn(&self, turns: u64) -> bool {
        self.oldest.whole() & (STEP * turns - 1) == 0
    }

    /// Whether the receiver says that it handled the oldest request.
    #[cfg(not(loom))]
    #[inline(always)]
    pub(crate) fn is_counted(&self) -> bool {
        self.cells.handled().glance() > self.oldest.whole()
    }

    /// Completes the oldest of the requests that the receiver says it handled, as far as they have
    /// no replies, and returns how many these were.
    ///
    /// # Errors
    /// The receiver wrote what it may not write.
    #[inline]
    pub(crate) fn complete_unreplied(&mut self) -> Result<usize, Corrupt> {
        let handled = self.cells.handled().read();
        if handled > self.next.whole() {
            let [handled, sent] = [handled / STEP - 1, self.next.position()];
            return Err(Corrupt::Handled { handled, sent });
        }
        let mut completed = 0;
        // The counter was read first, the slots are looked at second: what comes back in a slot is
        // written before the counter passes its request, so where nothing is seen now, there is
        // nothing.
        while handled > self.oldest.whole() && !self.is_answered() {
            self.oldest = self.oldest.next();
            completed += 1;
        }
        Ok(completed)
    }

    /// Whether something came back in the slot of the oldest request.
    #[inline]
    fn is_answered(&self) -> bool {
        let header = self.cells.slot(self.oldest).header();
        header.is(self.oldest.replied()) || header.is(self.oldest.carried())
    }
}
