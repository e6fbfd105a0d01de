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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_is_that_of_one_sender_and_tag() {
        let most = (1 << 31) - 1;
        let all = [(0, 0), (0, 7), (1, 0), (1, 7), (1, u32::MAX), (most, 7)];
        let envelopes = all.map(|(peer, tag)| Envelope::new(peer, tag));
        for ((peer, tag), envelope) in all.into_iter().zip(envelopes) {
            assert_eq!((envelope.peer(), envelope.tag()), (peer, tag));
            assert_eq!(envelopes.iter().filter(|other| **other == envelope).count(), 1);
        }
    }
}
