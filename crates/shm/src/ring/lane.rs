//! Both rings between this rank and one peer.
//!
//! Where the last thing that came from the peer was a request without reply, a request of this rank
//! goes back in its slot, in place of a reply: the line is in this core's cache already, and
//! the peer, which looks there for completion, gets it with one exchange of the line where a
//! slot of this rank's own ring takes two. In its own ring that request counts as sent, and its slot stays
//! empty; so both directions keep their order, and whoever finds it handles what lies in the ring
//! first.

use bandgap_comm::{CommError, Deliver, Message, Rank};

#[cfg(not(loom))]
use super::Back;
use super::{Cells, Corrupt, Receiver, Sender};

/// One peer, and the ring each way.
#[derive(Debug)]
#[repr(align(128))]
pub struct Lane<C: Cells> {
    peer: Rank,
    requests: Sender<C>,
    incoming: Receiver<C>,
}

/// What a call of [`Lane::progress`] delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Requests of this rank that completed.
    pub completed: usize,
    /// Requests of the peer that were handled.
    pub served: usize,
}

impl<C: Cells> Lane<C> {
    /// The rings to and from `peer`.
    pub fn new(peer: Rank, requests: Sender<C>, incoming: Receiver<C>) -> Self {
        Self { peer, requests, incoming }
    }

    /// The peer.
    #[inline(always)]
    pub fn peer(&self) -> Rank {
        self.peer
    }

    /// Sends a request the better way, if there is room, and says whether there was.
    #[inline(always)]
    pub fn send(&mut self, message: &Message) -> bool {
        if self.can_carry() { self.carry(message) } else { self.push(message) }
    }

    /// Whether the next request goes back in the slot of the peer's last one: then it is for
    /// [`Lane::carry`], else for [`Lane::push`].
    #[inline(always)]
    pub fn can_carry(&self) -> bool {
        self.incoming.can_carry()
    }

    /// Sends a request in the ring if there is room, and says whether there was.
    #[inline(always)]
    pub fn push(&mut self, message: &Message) -> bool {
        debug_assert!(!self.can_carry(), "the next request is carried");
        self.requests.push(message)
    }

    /// Sends a request in the slot of the peer's last one if there is room for it in the ring, and
    /// says whether there was.
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

    /// Requests handled of whose completion the peer may not know yet.
    pub fn unpublished(&self) -> usize {
        self.incoming.unpublished() as usize
    }

    /// Delivers what has come: a completion, or those of several requests without replies, and a
    /// request.
    ///
    /// # Errors
    /// The peer wrote what it may not write.
    #[inline]
    pub fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<Delivered, CommError> {
        if self.requests.is_carried() && self.take_carried(deliver)? {
            return Ok(Delivered { completed: 1, served: 1 });
        }
        let Self { peer, requests, .. } = self;
        let completed = requests
            .complete(|message| deliver.reply(*peer, message))
            .map_err(|corrupt| garbage(*peer, corrupt))?;
        Ok(Delivered { completed, served: self.serve(deliver)? })
    }

    /// Delivers the request that the slot of the oldest one carries, unless some in the ring were
    /// sent before it, which a look at the ring then shows. Says whether it did.
    ///
    /// # Errors
    /// The peer wrote what it may not write.
    #[inline(always)]
    pub(crate) fn take_carried<D: Deliver>(&mut self, deliver: &mut D) -> Result<bool, CommError> {
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

    /// Delivers a request from the ring if one has arrived.
    ///
    /// # Errors
    /// The peer wrote what it may not write.
    #[inline(always)]
    pub fn serve<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize, CommError> {
        let Self { peer, incoming, .. } = self;
        incoming
            .serve(|message| deliver.request(*peer, message))
            .map_err(|corrupt| garbage(*peer, corrupt))
    }
}

/// What a peer did that it may not do.
#[cold]
#[inline(never)]
pub(crate) fn garbage(peer: Rank, corrupt: Corrupt) -> CommError {
    CommError::Garbage { peer, what: corrupt.to_string() }
}

#[cfg(not(loom))]
impl<C: Cells> Lane<C> {
    /// Whether none of this rank's requests is outstanding.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.requests.is_idle()
    }

    /// Delivers the reply to the oldest request if it is there, and says what is; some request is
    /// outstanding.
    ///
    /// # Errors
    /// The peer wrote what it may not write.
    #[inline(always)]
    pub(crate) fn take_reply<D: Deliver>(&mut self, deliver: &mut D) -> Result<Back, CommError> {
        let Self { peer, requests, .. } = self;
        requests
            .take_reply(|reply| deliver.reply(*peer, reply))
            .map_err(|corrupt| garbage(*peer, corrupt))
    }

    /// Whether the oldest request is complete without reply: [`Lane::progress`] sees to that.
    #[inline(always)]
    pub(crate) fn is_counted(&self) -> bool {
        self.requests.is_counted()
    }

    /// Whether a request waits, and it is its turn, which it is each `turns` completions, a power
    /// of two.
    #[inline(always)]
    pub(crate) fn is_turn(&self, turns: u64) -> bool {
        self.requests.is_turn(turns) && self.incoming.has_arrived()
    }

    /// The peer, and the ring from it, for the one lane between two ranks: with the code in place
    /// the compiler keeps more in registers than it does in [`Lane::serve`].
    #[inline(always)]
    pub(crate) fn incoming(&mut self) -> (Rank, &mut Receiver<C>) {
        (self.peer, &mut self.incoming)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
