//! Lanes: the connection of this rank with one peer.

use std::collections::VecDeque;
use std::ops::Range;

use super::slots::Slots;
use super::tuning::SlotAddress;
use crate::Message;

/// Messages that wait to be sent to the peer, and the slots in both directions.
///
/// Order of sending:
/// 1. A store that was begun: the transport takes nothing else until it has ended.
/// 2. Answers, returned slots and barriers: the peer waits for these. They need no slot; otherwise
///    two ranks could wait for each other.
/// 3. Messages, in the order of their sends.
/// 4. Pieces of messages that the peer has taken.
#[derive(Debug)]
pub(super) struct Lane {
    /// Whether `Mail::active` holds this peer: something waits to be sent.
    pub(super) listed: bool,
    pub(super) storing: Option<Storing>,
    pub(super) control: VecDeque<Message>,
    /// Sends that are not yet announced to the peer, or whose pieces before an answer are not all
    /// sent.
    pub(super) queued: VecDeque<usize>,
    /// Sends that the peer accepted, to go out in pieces.
    pub(super) cleared: VecDeque<usize>,
    pub(super) slots: Slots,
    /// The message whose pieces the peer sends without an answer of this rank.
    pub(super) coming: Option<Coming>,
    /// Bytes that the peer's last request carries, until they have all arrived.
    pub(super) carried: Option<Coming>,
}

/// Bytes that a peer has said it sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coming {
    /// The receive that wants them; none if the message is refused.
    pub(super) receive: Option<usize>,
    /// Bytes that are still to arrive in this way.
    pub(super) left: usize,
}

/// A store that was begun.
#[derive(Debug)]
pub(super) struct Storing {
    pub(super) send: usize,
    /// Range of the message's bytes.
    pub(super) bytes: Range<usize>,
    /// Slot that they go to; none if the request carries them.
    pub(super) into: Option<SlotAddress>,
    /// Number of bytes that the transport has taken.
    pub(super) done: usize,
    /// The request that tells the peer about them.
    pub(super) notice: Message,
}

impl Lane {
    pub(super) fn new(slots: Slots) -> Self {
        let (control, queued, cleared) = Default::default();
        let (storing, coming, carried) = Default::default();
        Self { listed: false, storing, control, queued, cleared, slots, coming, carried }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.storing.is_none()
            && self.control.is_empty()
            && self.queued.is_empty()
            && self.cleared.is_empty()
    }
}
