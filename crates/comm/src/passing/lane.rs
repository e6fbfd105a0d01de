//! What is between this rank and one peer.

use std::collections::VecDeque;
use std::ops::Range;

use crate::Message;

/// Toward the peer: what waits to be sent, in this order of precedence. From it: slots.
///
/// A store that was begun comes first, since the transport takes nothing else until it is finished.
/// Then what peers wait for: answers and slots given back; were these to wait for slots, two ranks
/// could wait for each other. Then messages in the order of their sends, then pieces of messages
/// that the peer has taken.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// Whether it is among those toward which something waits.
    pub(super) listed: bool,
    pub(super) storing: Option<Storing>,
    pub(super) control: VecDeque<Message>,
    /// Sends of which the peer does not know.
    pub(super) queued: VecDeque<usize>,
    /// Sends that the peer takes, in pieces.
    pub(super) cleared: VecDeque<usize>,
    /// Chunks stored or begun at the peer.
    pub(super) stored: u64,
    /// Of these, chunks whose slots came back.
    pub(super) freed: u64,
    /// Chunks of which the peer has told.
    pub(super) filled: u64,
    /// Of these, chunks that were copied out.
    pub(super) emptied: u64,
    /// Of these, chunks whose slots were given back.
    pub(super) given_back: u64,
}

/// A store that was begun.
#[derive(Debug)]
pub(super) struct Storing {
    pub(super) send: usize,
    /// Which bytes of the message.
    pub(super) bytes: Range<usize>,
    /// Where they go in the peer's memory.
    pub(super) into: usize,
    /// How many the transport has taken.
    pub(super) done: usize,
    /// Whether it has taken all.
    pub(super) whole: bool,
    /// What tells the peer of them.
    pub(super) notice: Message,
}

impl Lane {
    pub(super) fn is_idle(&self) -> bool {
        self.storing.is_none()
            && self.control.is_empty()
            && self.queued.is_empty()
            && self.cleared.is_empty()
    }
}
