//! Which receive takes a message.

use crate::{CommError, Rank};

/// Sender in bits 32..63 and tag below: what receives choose by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Envelope(u64);

impl Envelope {
    #[inline(always)]
    pub(super) fn new(peer: Rank, tag: u32) -> Self {
        Self((peer as u64) << 32 | u64::from(tag))
    }

    /// The rank at the other end.
    #[inline(always)]
    pub(super) fn peer(self) -> Rank {
        (self.0 >> 32) as usize
    }

    #[inline(always)]
    pub(super) fn tag(self) -> u32 {
        self.0 as u32
    }

    /// The error of a receive of `expected` bytes that took a message of `bytes`.
    #[cold]
    #[inline(never)]
    pub(super) fn other_length(self, bytes: usize, expected: usize) -> CommError {
        CommError::OtherLength { from: self.peer(), tag: self.tag(), bytes, expected }
    }
}

/// The message that a rank waits for by itself, until it is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited(u64);

/// Set in no envelope.
const TAKEN: u64 = 1 << 63;
const ASIDE: u64 = TAKEN | 1;

impl Default for Awaited {
    /// No message.
    fn default() -> Self {
        Self(TAKEN)
    }
}

impl Awaited {
    #[inline(always)]
    pub(super) fn new(envelope: Envelope) -> Self {
        Self(envelope.0)
    }

    /// The message was taken, and is beside this.
    #[inline(always)]
    pub(super) fn take(&mut self) {
        self.0 = TAKEN;
    }

    /// The message was taken, and is elsewhere.
    #[inline(always)]
    pub(super) fn take_aside(&mut self) {
        self.0 = ASIDE;
    }

    /// Whether no message is waited for any more.
    #[inline(always)]
    pub(super) fn is_taken(self) -> bool {
        self.0 & TAKEN != 0
    }

    /// Whether that is by [`Awaited::take_aside`].
    #[inline(always)]
    pub(super) fn is_aside(self) -> bool {
        self.0 == ASIDE
    }

    /// Whether this is the message.
    #[inline(always)]
    pub(super) fn is(self, envelope: Envelope) -> bool {
        self.0 == envelope.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_is_awaited_and_none_once_it_is_taken() {
        let most = (1 << 31) - 1;
        let envelopes = [(0, 0), (0, 7), (1, 0), (1, 7), (1, u32::MAX), (most, 7)]
            .map(|(peer, tag)| (peer, tag, Envelope::new(peer, tag)));
        for (peer, tag, envelope) in envelopes {
            assert_eq!((envelope.peer(), envelope.tag()), (peer, tag));
            let mut awaited = Awaited::new(envelope);
            assert!(!awaited.is_taken());
            assert_eq!(envelopes.iter().filter(|other| awaited.is(other.2)).count(), 1);
            let is_none = |awaited: Awaited| !envelopes.iter().any(|other| awaited.is(other.2));
            awaited.take();
            assert!(awaited.is_taken() && !awaited.is_aside() && is_none(awaited));
            awaited.take_aside();
            assert!(awaited.is_taken() && awaited.is_aside() && is_none(awaited));
            assert!(Awaited::default().is_taken() && is_none(Awaited::default()));
        }
    }
}
