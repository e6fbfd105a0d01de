//! Both rings between this rank and one peer.
//!
//! If the last message from the peer was a request without a reply, the next request of this rank
//! travels in that request's slot, in place of a reply: it is "carried". The line is already in
//! this core's cache, and the peer checks it for completion anyway. That needs one transfer of the
//! line, while a slot of this rank's own ring needs two.
//!
//! In its own ring a carried request counts as sent, and its slot stays empty. So both directions
//! keep their order: a rank that finds a carried request first handles what is in the ring.

use bandgap_comm::{CommError, Deliver, Message, Rank, Result};

use super::{Back, Cells, Corrupt, Receiver, Sender};

/// A peer, and the ring in each direction.
#[repr(align(128))]
pub struct Lane<C: Cells> {
    peer: Rank,
    requests: Sender<C>,
    incoming: Receiver<C>,
}

/// Result of a call of [`Lane::progress`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Number of this rank's requests that completed.
    pub completed: usize,
    /// Number of the peer's requests that were handled.
    pub served: usize,
}

impl<C: Cells> Lane<C> {
    /// The rings to and from `peer`.
    pub fn new(peer: Rank, requests: Sender<C>, incoming: Receiver<C>) -> Self {
        Self { peer, requests, incoming }
    }

    /// Sends a request, carried if possible, if there is room. Returns whether there was.
    #[inline(always)]
    pub fn send(&mut self, message: &Message) -> bool {
        if self.can_carry() { self.carry(message) } else { self.push(message) }
    }

    /// Whether the next request can be carried in the slot of the peer's last one. If so, send it
    /// with [`Lane::carry`], otherwise with [`Lane::push`].
    #[inline(always)]
    pub fn can_carry(&self) -> bool {
        self.incoming.can_carry()
    }

    /// Sends a request in the ring if there is room. Returns whether there was.
    #[inline(always)]
    pub fn push(&mut self, message: &Message) -> bool {
        debug_assert!(!self.can_carry(), "the next request is carried");
        self.requests.push(message)
    }

    /// Sends a request in the slot of the peer's last one, if the ring has room for it. Returns
    /// whether it had.
    #[inline(always)]
    pub fn carry(&mut self, message: &Message) -> bool {
        debug_assert!(self.can_carry(), "the next request goes into the ring");
        let room = self.requests.has_room();
        if room {
            self.requests.skip();
            self.incoming.carry(message);
        }
        room
    }

    /// Requests sent that have not completed.
    #[inline(always)]
    pub fn outstanding(&self) -> usize {
        self.requests.outstanding() as usize
    }

    /// Handled requests whose completion the peer may not know yet.
    pub fn unpublished(&self) -> usize {
        self.incoming.unpublished() as usize
    }

    /// Delivers what has arrived: the completion of one request, or of several without replies, and
    /// one request of the peer.
    ///
    /// # Errors
    /// The peer wrote something invalid.
    #[inline]
    pub fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<Delivered> {
        if self.requests.is_carried() && self.take_carried(deliver)? {
            return Ok(Delivered { completed: 1, served: 1 });
        }
        let Self { peer, requests, .. } = self;
        let completed = requests
            .complete(|message| deliver.reply(*peer, message))
            .map_err(|corrupt| garbage(*peer, corrupt))?;
        Ok(Delivered { completed, served: self.serve(deliver)? })
    }

    /// Delivers the request that is carried in the slot of the oldest one, unless the ring holds
    /// requests that were sent before it. Returns whether it did.
    ///
    /// # Errors
    /// The peer wrote something invalid.
    #[inline(always)]
    pub(crate) fn take_carried<D: Deliver>(&mut self, deliver: &mut D) -> Result<bool> {
        let Self { peer, requests, incoming } = self;
        if incoming.has_arrived() {
            return Ok(false);
        }
        let request = requests.take_carried().map_err(|corrupt| garbage(*peer, corrupt))?;
        match deliver.request(*peer, request) {
            Ok(Some(reply)) => incoming.reply(reply),
            Ok(None) => incoming.done_elsewhere(),
            Err(unknown) => return Err(garbage(*peer, unknown.into())),
        }
        Ok(true)
    }

    /// Delivers a request from the ring if one has arrived. Returns how many, 0 or 1.
    ///
    /// # Errors
    /// The peer wrote something invalid.
    #[inline(always)]
    pub fn serve<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize> {
        let Self { peer, incoming, .. } = self;
        incoming
            .serve(|message| deliver.request(*peer, message))
            .map_err(|corrupt| garbage(*peer, corrupt))
    }

    /// Whether none of this rank's requests is outstanding.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.requests.is_idle()
    }

    /// Delivers the reply to the oldest request if it has arrived, and returns what is in the slot.
    /// Some request must be outstanding.
    ///
    /// # Errors
    /// The peer wrote something invalid.
    #[inline(always)]
    pub(crate) fn take_reply<D: Deliver>(&mut self, deliver: &mut D) -> Result<Back> {
        let Self { peer, requests, .. } = self;
        requests
            .take_reply(|reply| deliver.reply(*peer, reply))
            .map_err(|corrupt| garbage(*peer, corrupt))
    }

    /// Whether the counter has passed the oldest request; [`Lane::progress`] then completes it.
    #[inline(always)]
    pub(crate) fn is_counted(&self) -> bool {
        self.requests.is_counted()
    }

    /// Whether a request of the peer waits and it is that request's turn, which comes every `turns`
    /// completions, a power of two.
    #[inline(always)]
    pub(crate) fn is_turn(&self, turns: u64) -> bool {
        self.requests.is_turn(turns) && self.incoming.has_arrived()
    }

    /// The peer, and the ring from it. For the only lane between two ranks: with the code inlined
    /// there, the compiler keeps more in registers than in [`Lane::serve`].
    #[inline(always)]
    pub(crate) fn incoming(&mut self) -> (Rank, &mut Receiver<C>) {
        (self.peer, &mut self.incoming)
    }
}

/// The error for a peer that wrote something invalid.
#[cold]
#[inline(never)]
pub(crate) fn garbage(peer: Rank, corrupt: Corrupt) -> CommError {
    CommError::Garbage { peer, what: corrupt.to_string() }
}

#[cfg(all(test, not(loom)))]
mod tests;
