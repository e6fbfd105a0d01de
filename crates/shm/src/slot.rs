//! One cache line of a ring: a message and the number that says whose turn it is.
//!
//! ```text
//! header   bits 0..32   sequence
//!          bits 32..64  tag: the handler (8 bits), then the number of words
//! words    4 × 8 bytes
//! ```
//!
//! The words are stored before the header, and the header says that they are there. Request
//! number p of a ring has the sequence 4p + 4; what comes back in the same line has 4p + 5 where it
//! is its reply, and 4p + 6 where it is a request of the other side; all modulo 2³². A line that
//! was never written has the sequence 0, which stands for the request before the first one. The
//! sequence of p returns after 2³⁰ requests, when the line shows that of p − N.

use bandgap_comm::{MAX_WORDS, Message, Tag};

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
pub struct TooManyWords(pub u32);

/// The place of a message in its ring, before it is cut to 32 bits. Each side keeps that of the
/// next message that it expects, so that one comparison finds whether it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence(u64);

/// Between the sequences of two requests.
pub(crate) const STEP: u64 = 4;

impl Sequence {
    /// Of no message.
    pub(crate) const NONE: Self = Self(0);

    /// Of request number `position`.
    #[inline(always)]
    pub(crate) fn request(position: u64) -> Self {
        Self(position.wrapping_mul(STEP).wrapping_add(STEP))
    }

    /// Of the reply to request number `position`.
    #[inline(always)]
    pub(crate) fn reply(position: u64) -> Self {
        Self(position.wrapping_mul(STEP).wrapping_add(STEP + 1))
    }

    /// Number of the request.
    #[inline(always)]
    pub(crate) fn position(self) -> u64 {
        self.0 / STEP - 1
    }

    /// Of the next request, or its reply.
    #[inline(always)]
    pub(crate) fn next(self) -> Self {
        Self(self.0 + STEP)
    }

    /// Of the request before this one.
    #[inline(always)]
    pub(crate) fn before(self) -> Self {
        Self(self.0 - STEP)
    }

    /// Of the reply to this request.
    #[inline(always)]
    pub(crate) fn replied(self) -> Self {
        Self(self.0 + 1)
    }

    /// Of a request of the other side, in the line of this one, which has no reply.
    #[inline(always)]
    pub(crate) fn carried(self) -> Self {
        Self(self.0 + 2)
    }

    /// Requests from this one on, `later` excluded.
    #[inline(always)]
    pub(crate) fn until(self, later: Self) -> u64 {
        (later.0 - self.0) / STEP
    }

    /// All of it. A later message has a greater one.
    #[inline(always)]
    pub(crate) fn whole(self) -> u64 {
        self.0
    }

    /// What a header shows of it.
    #[inline(always)]
    pub(crate) fn shown(self) -> u32 {
        self.0 as u32
    }
}

const TAG_SHIFT: u32 = 32;

impl Header {
    /// Whether this is the message of that sequence.
    #[inline(always)]
    pub(crate) fn is(self, sequence: Sequence) -> bool {
        self.0 as u32 == sequence.shown()
    }
}

impl Slot {
    /// A slot never written (0), or last written with the sequence shown.
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
        let tag = Tag::from_bits((header.0 >> TAG_SHIFT) as u32).map_err(TooManyWords)?;
        // All four: a load costs less than finding out that it was not needed.
        let words = [
            self.words[0].load(Ordering::Relaxed),
            self.words[1].load(Ordering::Relaxed),
            self.words[2].load(Ordering::Relaxed),
            self.words[3].load(Ordering::Relaxed),
        ];
        Ok(Message::from_parts(tag, words))
    }

    /// Writes a message and hands the slot to the other side. For messages whose length is known
    /// when compiled: only the words sent are stored.
    #[inline(always)]
    pub(crate) fn write(&self, message: &Message, sequence: Sequence) {
        for i in 0..MAX_WORDS {
            if i < message.len() {
                self.words[i].store(message.all_words()[i], Ordering::Relaxed);
            }
        }
        self.announce(message.tag(), sequence);
    }

    /// Writes the words of a message of any length, to be announced: one branch, since most have
    /// one word, and four stores cost less than to branch further.
    #[inline(always)]
    pub(crate) fn write_words(&self, message: &Message) {
        let words = message.all_words();
        self.words[0].store(words[0], Ordering::Relaxed);
        if message.len() > 1 {
            self.words[1].store(words[1], Ordering::Relaxed);
            self.words[2].store(words[2], Ordering::Relaxed);
            self.words[3].store(words[3], Ordering::Relaxed);
        }
    }

    /// Writes what no well-behaved peer would.
    #[cfg(test)]
    pub(crate) fn forge(&self, header: u64) {
        self.header.store(header, Ordering::Relaxed);
    }

    /// Hands the slot, whose words have been written, to the other side.
    #[inline(always)]
    pub(crate) fn announce(&self, tag: Tag, sequence: Sequence) {
        let header = u64::from(sequence.shown()) | u64::from(tag.bits()) << TAG_SHIFT;
        // Release: pairs with the acquire in `header`.
        self.header.store(header, Ordering::Release);
    }
}
