//! Messages on their way: sends, receives, and what arrived before its receive.

use crate::{CommError, Part, Rank, Word};

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

#[derive(Debug)]
pub(super) struct Receive {
    pub(super) envelope: Envelope,
    pub(super) into: Part,
    /// Length of the message that was taken.
    pub(super) bytes: usize,
    /// Bytes that requests have announced.
    pub(super) told: usize,
    /// Bytes that are in the part.
    pub(super) copied: usize,
    /// What the part is of, of a message that no receive has taken: copied out of its slots, so that its sender can go
    /// on. Memory limits how many such messages there are, not the number of slots.
    pub(super) kept: Option<Vec<u8>>,
    pub(super) state: Taking,
}

/// How far a receive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taking {
    /// No message has matched.
    Posted,
    /// Bytes are to come.
    Coming,
    /// The bytes are to be read out of the sender's memory.
    Reading {
        /// The sender's number of the send.
        send: u64,
        /// Their address there.
        at: Word,
    },
    /// The bytes are these words.
    Words([Word; 3]),
    /// All bytes are there.
    Done,
    /// The message is longer or shorter than the part.
    OtherLength,
}

impl Receive {
    pub(super) fn new(envelope: Envelope, into: Part) -> Self {
        let (bytes, told, copied, kept) = Default::default();
        Self { envelope, into, bytes, told, copied, kept, state: Taking::Posted }
    }

    /// Of a message of so many bytes that no receive has taken, of which `ahead` bytes come.
    pub(super) fn untaken(envelope: Envelope, bytes: usize, ahead: usize) -> Self {
        let kept = Some(Vec::with_capacity(ahead));
        let into = Part::new(0, bytes);
        Self { bytes, kept, state: Taking::Coming, ..Self::new(envelope, into) }
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, Taking::Words(_) | Taking::Done | Taking::OtherLength)
    }

    /// The state of a receive that has taken a message that has arrived: `fitting`, or an error.
    pub(super) fn arrived(&mut self, bytes: usize, fitting: Taking) {
        self.bytes = bytes;
        self.state = if bytes == self.into.len { fitting } else { Taking::OtherLength };
    }

    /// Notes that `len` further bytes are on their way. Returns where in the part they go.
    pub(super) fn expect(&mut self, len: usize) -> Part {
        let part = Part::new(self.into.at + self.told, len);
        self.told += len;
        part
    }
}

#[derive(Debug)]
pub(super) struct Send {
    pub(super) envelope: Envelope,
    pub(super) from: Part,
    /// Bytes of its pieces.
    pub(super) piece: usize,
    /// Bytes that go in pieces before the receiver has answered: none of a message in words, or that is announced.
    pub(super) ahead: usize,
    /// Bytes that are in slots.
    pub(super) stored: usize,
    pub(super) state: Giving,
}

/// How far a send is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Giving {
    /// It waits behind others, or its receiver need not answer.
    Queued,
    /// Its receiver knows of it, and is to answer.
    Announced,
    /// Its receiver waits for the bytes.
    Cleared {
        /// The receiver's number of the receive.
        receive: u64,
    },
    /// Its receiver does not want it; pieces that were begun are still on their way.
    Refused,
    /// The part may change.
    Done,
}

/// A message that no receive has taken.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) envelope: Envelope,
    pub(super) bytes: usize,
    pub(super) body: Body,
}

#[derive(Debug)]
pub(super) enum Body {
    Words([Word; 3]),
    /// In pieces: this receive has those that have come. Its sender waits for an answer about a send, if there is one.
    Pieces {
        receive: usize,
        send: Option<u64>,
    },
    /// At its sender, at this address or, where that is 0, to go in pieces.
    Announced {
        send: u64,
        at: Word,
    },
}

/// What a handler leaves to do: to copy bytes out of the next slot of `from`.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyOut {
    pub(super) from: Rank,
    pub(super) slot: u16,
    pub(super) bytes: usize,
    /// Which receive wants them, and where; of a message that is refused none does.
    pub(super) into: Option<(usize, Part)>,
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
