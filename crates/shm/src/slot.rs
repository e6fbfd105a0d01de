//! One cache line of a ring: a message and the number that says whose turn it is.
//!
//! ```text
//! header   bits 0..32   sequence
//!          bits 32..40  handler
//!          bits 40..64  number of words
//! words    4 × 8 bytes
//! ```
//!
//! The words are stored before the header, and the header says that they are there. Request
//! number p of a ring has the sequence 2p + 2 and its reply, in the same line, 2p + 3, both modulo
//! 2³². A line that was never written has the sequence 0, which stands for the request before the
//! first one. The sequence of p returns after 2³¹ requests, when the line shows that of p − N.

use bandgap_comm::{HandlerId, MAX_WORDS, Message};

use crate::sync::{AtomicU64, Ordering};

/// Bytes of a slot: the unit in which caches exchange memory.
pub const SLOT_BYTES: usize = 64;

/// A cache line that carries a request to its receiver, and the reply back.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Slot {
    header: AtomicU64,
    words: [AtomicU64; MAX_WORDS],
}

/// A header as it was read once; its parts are checked when they are used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header(u64);

/// A header announced more words than a message may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyWords(pub u64);

/// The sequence of request number `position`.
#[inline(always)]
pub(crate) fn request_sequence(position: u64) -> u32 {
    (position as u32).wrapping_mul(2).wrapping_add(2)
}

/// The sequence of the reply to request number `position`.
#[inline(always)]
pub(crate) fn reply_sequence(position: u64) -> u32 {
    (position as u32).wrapping_mul(2).wrapping_add(3)
}

const HANDLER_SHIFT: u32 = 32;
const WORDS_SHIFT: u32 = 40;

impl Header {
    #[inline(always)]
    pub(crate) fn sequence(self) -> u32 {
        self.0 as u32
    }
}

impl Slot {
    /// A slot never written, or last written with `sequence`.
    pub(crate) fn new(sequence: u32) -> Self {
        Self {
            header: AtomicU64::new(u64::from(sequence)),
            words: core::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Looks whose turn it is.
    #[inline(always)]
    pub(crate) fn header(&self) -> Header {
        // Acquire: pairs with the release in `announce`, so that the words of that message are seen,
        // and so that what is written to this slot next comes after its former writer's reads.
        Header(self.header.load(Ordering::Acquire))
    }

    /// The message that `header` announced. It is this side's turn: nobody else writes here.
    #[inline(always)]
    pub(crate) fn read(&self, header: Header) -> Result<Message, TooManyWords> {
        // All four: a load costs less than finding out that it was not needed.
        let words = [
            self.words[0].load(Ordering::Relaxed),
            self.words[1].load(Ordering::Relaxed),
            self.words[2].load(Ordering::Relaxed),
            self.words[3].load(Ordering::Relaxed),
        ];
        let handler = HandlerId((header.0 >> HANDLER_SHIFT) as u8);
        let len = header.0 >> WORDS_SHIFT;
        Message::from_parts(handler, len as usize, words).ok_or(TooManyWords(len))
    }

    /// Writes a message and hands the slot to the other side. For messages whose length is known
    /// when compiled: only the words sent are stored.
    #[inline(always)]
    pub(crate) fn write(&self, message: &Message, sequence: u32) {
        for i in 0..MAX_WORDS {
            if i < message.len() {
                self.words[i].store(message.all_words()[i], Ordering::Relaxed);
            }
        }
        self.announce(message, sequence);
    }

    /// As [`Slot::write`], for messages of any length: four stores cost less than to branch.
    #[inline(always)]
    pub(crate) fn write_all(&self, message: &Message, sequence: u32) {
        for (cell, word) in self.words.iter().zip(message.all_words()) {
            cell.store(*word, Ordering::Relaxed);
        }
        self.announce(message, sequence);
    }

    /// Writes what no well-behaved peer would.
    #[cfg(test)]
    pub(crate) fn forge(&self, header: u64) {
        self.header.store(header, Ordering::Relaxed);
    }

    #[inline(always)]
    fn announce(&self, message: &Message, sequence: u32) {
        let header = u64::from(sequence)
            | u64::from(message.handler.0) << HANDLER_SHIFT
            | (message.len() as u64) << WORDS_SHIFT;
        // Release: pairs with the acquire in `header`.
        self.header.store(header, Ordering::Release);
    }
}
