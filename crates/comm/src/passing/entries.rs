//! Messages on their way: sends, receives, and what arrived before its receive.

use super::matching::{Envelope, Filter};
use crate::{Rank, Word};

/// Where the bytes of a message are, or are to be.
#[derive(Debug)]
pub(super) enum Memory {
    /// In a vector handed over.
    Owned(Vec<u8>),
    /// So many bytes, in what the caller of the operation in progress lent.
    Lent(usize),
}

impl Memory {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Owned(bytes) => bytes.len(),
            Self::Lent(len) => *len,
        }
    }

    /// The memory of a receive.
    pub(super) fn room<'a>(&'a mut self, lent: &'a mut Lent<'_>) -> &'a mut [u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Lent(_) => lent.recv,
        }
    }
}

/// Memory that the caller of the operation in progress lends.
#[derive(Debug, Default)]
pub(super) struct Lent<'a> {
    pub(super) send: &'a [u8],
    pub(super) recv: &'a mut [u8],
}

impl<'a> Lent<'a> {
    pub(super) fn receiving(recv: &'a mut [u8]) -> Self {
        Self { send: &[], recv }
    }
}

#[derive(Debug)]
pub(super) struct Receive {
    pub(super) filter: Filter,
    pub(super) memory: Memory,
    pub(super) envelope: Envelope,
    /// Length of the message.
    pub(super) bytes: usize,
    /// Bytes of which requests have told.
    pub(super) told: usize,
    /// Bytes that are in the memory.
    pub(super) copied: usize,
    pub(super) state: Taking,
}

/// How far a receive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taking {
    /// No message has matched.
    Posted,
    /// The message is announced, and its sender has not been answered.
    Announced {
        /// Its sender's number of the send.
        send: u64,
        /// Where its sender has the bytes.
        address: u64,
    },
    /// Bytes are to come.
    Coming,
    /// The bytes are these words.
    Words([Word; 3]),
    /// All bytes are there.
    Done,
    /// The message is longer than the buffer.
    TooLong,
}

impl Receive {
    pub(super) fn new(filter: Filter, memory: Memory) -> Self {
        let state = Taking::Posted;
        let envelope = Envelope::new(0, 0);
        Self { filter, memory, envelope, bytes: 0, told: 0, copied: 0, state }
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, Taking::Words(_) | Taking::Done | Taking::TooLong)
    }

    /// Takes `len` further bytes by requests; returns where they go.
    pub(super) fn expect(&mut self, len: usize) -> usize {
        self.told += len;
        self.told - len
    }
}

#[derive(Debug)]
pub(super) struct Send {
    pub(super) envelope: Envelope,
    pub(super) memory: Memory,
    pub(super) state: Giving,
}

/// How far a send is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Giving {
    /// It waits behind others.
    Queued,
    /// Its receiver knows of it.
    Announced,
    /// Its receiver has room.
    Cleared {
        /// The receiver's number of the receive.
        receive: u64,
        /// Bytes on their way.
        stored: usize,
    },
    /// The memory may change.
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
    /// Copied out of its slot, so that its sender can go on: such messages are bounded by memory
    /// only, as MPI's users expect, not by slots.
    Bytes(Vec<u8>),
    /// At its sender.
    Announced {
        send: u64,
        address: u64,
    },
}

/// What a handler leaves to be done with the endpoint.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// Copies bytes out of the next slot of `from`.
    Copy { from: Rank, slot: u64, bytes: usize, into: Into },
    /// Answers the announcement that a receive has taken.
    Answer { receive: usize },
}

/// Where bytes are copied to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Into {
    Receive { receive: usize, at: usize },
    Arrival { index: usize },
    Nowhere,
}
