//! One cache line of a ring: a message, and the number that says whose turn it is.
//!
//! ```text
//! header   bits 0..32   sequence
//!          bits 32..64  tag: the handler (8 bits), then the number of words
//! words    4 × 8 bytes
//! spare    3 × 8 bytes, which no message touches
//! ```
//!
//! The words are stored before the header, so the header says that they are there. Request number p
//! of a ring has the sequence 4p + 4. What comes back in the same line has the sequence 4p + 5 if
//! it is the reply, or 4p + 6 if it is a request of the other side. All sequences are modulo 2³².
//! A line that was never written has the sequence 0, as if for the request before the first one.
//! The sequence of p repeats after 2³⁰ requests; by then the line shows that of p − N.

use bandgap_comm::{MAX_WORDS, Message, Tag};

use crate::sync::{AtomicU64, Ordering};

/// Bytes of a slot: a cache line, the unit in which caches exchange memory.
pub(crate) const SLOT_BYTES: usize = 64;

/// Where two words of a slot lie that no message touches.
pub(crate) const SPARE_IN_SLOT: [usize; 2] = [48, 56];
const _: () = assert!(SPARE_IN_SLOT[0] >= size_of::<u64>() * (1 + MAX_WORDS), "beyond the words");

/// A cache line that carries a request to its receiver, and the reply back.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Slot {
    header: AtomicU64,
    words: [AtomicU64; MAX_WORDS],
}

/// A header, read once; its parts are checked when they are used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header(u64);

/// A header announces more words than a message may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyWords(pub(crate) u32);

/// The sequence of a message in its ring, in full: a header shows only 32 bits of it. Each side
/// keeps the sequence of the next message it expects, so one comparison tells whether it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence(u64);

/// The difference between the sequences of successive requests.
pub(crate) const STEP: u64 = 4;

impl Sequence {
    /// The sequence of no message.
    pub(crate) const NONE: Self = Self(0);

    /// The sequence of request number `position`.
    #[inline(always)]
    pub(crate) fn request(position: u64) -> Self {
        Self(position.wrapping_mul(STEP).wrapping_add(STEP))
    }

    /// The number of the request.
    #[inline(always)]
    pub(crate) fn position(self) -> u64 {
        self.0 / STEP - 1
    }

    /// The sequence of the next request, or of its reply.
    #[inline(always)]
    pub(crate) fn next(self) -> Self {
        Self(self.0 + STEP)
    }

    /// The sequence of the request before this one.
    #[inline(always)]
    pub(crate) fn before(self) -> Self {
        Self(self.0 - STEP)
    }

    /// The sequence of the reply to this request.
    #[inline(always)]
    pub(crate) fn replied(self) -> Self {
        Self(self.0 + 1)
    }

    /// The sequence of the other side's request in the line of this request, which has no reply.
    #[inline(always)]
    pub(crate) fn carried(self) -> Self {
        Self(self.0 + 2)
    }

    /// The number of requests from this one up to `later`, not counting `later`.
    #[inline(always)]
    pub(crate) fn until(self, later: Self) -> u64 {
        (later.0 - self.0) / STEP
    }

    /// The full sequence. A later message has a greater one.
    #[inline(always)]
    pub(crate) fn whole(self) -> u64 {
        self.0
    }

    /// The part that a header shows.
    #[inline(always)]
    pub(crate) fn shown(self) -> u32 {
        self.0 as u32
    }
}

const TAG_SHIFT: u32 = 32;

impl Header {
    /// Whether this is the header of the message with that sequence.
    #[inline(always)]
    pub(crate) fn is(self, sequence: Sequence) -> bool {
        self.0 as u32 == sequence.shown()
    }
}

impl Slot {
    /// A slot that was last written with this sequence, or never (0).
    pub(crate) fn new(sequence: u32) -> Self {
        Self {
            header: AtomicU64::new(u64::from(sequence)),
            words: core::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Reads the header, to see whose turn it is.
    #[inline(always)]
    pub(crate) fn header(&self) -> Header {
        // Acquire: pairs with the release in `announce`. So this side sees the words of the
        // message, and what it writes to the slot comes after the other side's reads.
        Header(self.header.load(Ordering::Acquire))
    }

    /// The message that `header` announced. It is this side's turn, so nobody else writes here.
    #[inline(always)]
    pub(crate) fn read(&self, header: Header) -> Result<Message, TooManyWords> {
        let tag = Tag::from_bits((header.0 >> TAG_SHIFT) as u32).map_err(TooManyWords)?;
        // All four words: a load costs less than finding out that it is not needed.
        let words = [
            self.words[0].load(Ordering::Relaxed),
            self.words[1].load(Ordering::Relaxed),
            self.words[2].load(Ordering::Relaxed),
            self.words[3].load(Ordering::Relaxed),
        ];
        Ok(Message::from_parts(tag, words))
    }

    /// Writes a message and hands the slot to the other side. For messages whose length is known at
    /// compile time: only the words sent are stored.
    #[inline(always)]
    pub(crate) fn write(&self, message: &Message, sequence: Sequence) {
        for i in 0..MAX_WORDS {
            if i < message.len() {
                self.words[i].store(message.all_words()[i], Ordering::Relaxed);
            }
        }
        self.announce(message.tag(), sequence);
    }

    /// Writes the words of a message of any length, without announcing it. There is only one
    /// branch: most messages have one word, and four stores cost less than more branches.
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

    /// Writes a header that no correct peer would write.
    #[cfg(test)]
    pub(crate) fn forge(&self, header: u64) {
        self.header.store(header, Ordering::Relaxed);
    }

    /// Hands the slot to the other side. Its words have been written.
    #[inline(always)]
    pub(crate) fn announce(&self, tag: Tag, sequence: Sequence) {
        let header = u64::from(sequence.shown()) | u64::from(tag.bits()) << TAG_SHIFT;
        // Release: pairs with the acquire in `header`.
        self.header.store(header, Ordering::Release);
    }
}
