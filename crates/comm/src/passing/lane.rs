//! What is between this rank and one peer.

use std::collections::VecDeque;
use std::ops::Range;

use super::slots::Slots;
use super::tuning::Place;
use crate::Message;

/// What waits to be sent to the peer, and the slots in both directions.
///
/// Order of sending:
/// 1. A store that was begun: the transport takes nothing else until it is finished.
/// 2. Answers, slots given back, barriers: the peer waits for these. They need no slot; if they
///    did, two ranks could wait for each other.
/// 3. Messages in the order of their sends.
/// 4. Pieces of messages that the peer has taken.
#[derive(Debug)]
pub(super) struct Lane {
    /// Whether `Mail::active` has this peer: something waits to be sent.
    pub(super) listed: bool,
    pub(super) storing: Option<Storing>,
    pub(super) control: VecDeque<Message>,
    /// Sends that the peer does not know of, or not of all of their pieces that go without an answer.
    pub(super) queued: VecDeque<usize>,
    /// Sends that the peer has taken, and that go in pieces.
    pub(super) cleared: VecDeque<usize>,
    pub(super) slots: Slots,
    /// The message of which the peer sends pieces.
    pub(super) coming: Option<Coming>,
}

/// A message of which pieces are to come, before or without an answer of this rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coming {
    /// The receive that wants them; of a message that is refused none does.
    pub(super) receive: Option<usize>,
    /// Bytes that are to come so.
    pub(super) left: usize,
}

/// A store that was begun.
#[derive(Debug)]
pub(super) struct Storing {
    pub(super) send: usize,
    /// Which bytes of the message.
    pub(super) bytes: Range<usize>,
    /// Where they go.
    pub(super) into: Place,
    /// How many of them the transport has taken.
    pub(super) done: usize,
    /// The request that tells the peer of them.
    pub(super) notice: Message,
}

impl Lane {
    pub(super) fn new(slots: Slots) -> Self {
        let (control, queued, cleared) = Default::default();
        Self { listed: false, storing: None, control, queued, cleared, slots, coming: None }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.storing.is_none()
            && self.control.is_empty()
            && self.queued.is_empty()
            && self.cleared.is_empty()
    }
}
