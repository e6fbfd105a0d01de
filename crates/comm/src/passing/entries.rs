//! Messages on their way: sends, receives, and arrivals without a receive.

use crate::{CommError, Part, Rank, Result, Word};

/// Sender in bits 32..63 and tag below: what a receive matches.
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

    /// The error of a receive of `expected` bytes that took a message of `bytes` bytes.
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
    /// Length of the message.
    pub(super) bytes: usize,
    /// Bytes that requests have announced.
    pub(super) told: usize,
    /// Bytes that have been copied into the part.
    pub(super) copied: usize,
    /// Bytes of a message that no receive has taken yet, copied out of its slots so that its sender
    /// can continue. Memory, not the number of slots, limits how many such messages there are.
    pub(super) kept: Option<Vec<u8>>,
    pub(super) state: Taking,
}

/// State of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taking {
    /// No message has matched.
    Posted,
    /// Bytes are still to arrive.
    Coming,
    /// Bytes are to be read from the sender's memory.
    Reading {
        /// The sender's key of the send.
        send: u64,
        /// Address of the bytes at the sender.
        at: Word,
    },
    /// These words hold the bytes.
    Words([Word; 3]),
    /// All bytes have arrived.
    Done,
    /// The message is longer or shorter than the part.
    OtherLength,
}

impl Receive {
    pub(super) fn new(envelope: Envelope, into: Part) -> Self {
        let (bytes, told, copied, kept) = Default::default();
        Self { envelope, into, bytes, told, copied, kept, state: Taking::Posted }
    }

    /// A receive that keeps a message of `bytes` bytes that no receive has taken yet, of which
    /// `ahead` bytes will arrive.
    pub(super) fn untaken(envelope: Envelope, bytes: usize, ahead: usize) -> Self {
        let kept = Some(Vec::with_capacity(ahead));
        let into = Part::new(0, bytes);
        Self { bytes, kept, state: Taking::Coming, ..Self::new(envelope, into) }
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, Taking::Words(_) | Taking::Done | Taking::OtherLength)
    }

    /// Enters the state after a message has matched: `fitting`, or an error if the lengths differ.
    pub(super) fn arrived(&mut self, bytes: usize, fitting: Taking) {
        self.bytes = bytes;
        self.state = if bytes == self.into.len { fitting } else { Taking::OtherLength };
    }

    /// Memory for the bytes of a part: this receive's, or the rank's `memory`.
    ///
    /// # Errors
    /// The part is not in memory.
    pub(super) fn room<'a>(&'a mut self, part: Part, memory: &'a mut [u8]) -> Result<&'a mut [u8]> {
        let Some(kept) = &mut self.kept else { return part.of_mut(memory) };
        kept.resize(part.end(), 0);
        part.of_mut(kept)
    }

    /// Notes that `len` more bytes have arrived.
    pub(super) fn add(&mut self, len: usize) {
        self.copied += len;
        if self.copied == self.bytes {
            self.state = Taking::Done;
        }
    }

    /// Notes that `len` more bytes are on their way. Returns the part that they go to.
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
    /// Bytes of each piece.
    pub(super) piece: usize,
    /// Bytes that are sent in pieces before the receiver has answered; 0 if the message goes in
    /// words or is announced.
    pub(super) ahead: usize,
    /// Bytes that have been stored in slots.
    pub(super) stored: usize,
    pub(super) state: Giving,
}

/// State of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Giving {
    /// It waits behind others, or needs no answer from its receiver.
    Queued,
    /// The receiver knows of it and must answer.
    Announced,
    /// The receiver wants the bytes.
    Cleared {
        /// The receiver's key of the receive.
        receive: u64,
    },
    /// The receiver does not want it, but pieces that were begun are still on their way.
    Refused,
    /// It is over; the part may change.
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
    /// In pieces, which this receive keeps. If there is a `send`, its sender waits for an answer.
    Pieces {
        receive: usize,
        send: Option<u64>,
    },
    /// At its sender, at this address; if the address is 0, it will come in pieces.
    Announced {
        send: u64,
        at: Word,
    },
}

/// Work that a handler leaves: to copy bytes out of a slot from `from`.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyOut {
    pub(super) from: Rank,
    pub(super) slot: u16,
    pub(super) bytes: usize,
    /// The receive that wants the bytes, and their place; none if the message is refused.
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
