//! One cache line of a ring: a message, and the number that says whose turn it is.
//!
//! ```text
//! header   bits 0..11   tag: the handler (8 bits), then the number of words (3 bits)
//!          bits 11..64  sequence: what it is (2 bits), then the number of the request (51 bits)
//! words    4 × 8 bytes
//! spare    3 × 8 bytes, which no message touches
//! ```
//!
//! The words are stored before the header, so the header proves that they are there. The 2 bits
//! mean: 1 a request of this ring; 2 its reply, in the same line; 3 a request of the other side,
//! which came back in this line instead. 0 means no message, so a line that was never written is
//! never taken for one.
//!
//! Successive messages in a line have increasing sequences. Numbers are exhausted after 2⁵¹
//! requests: with one request every 5 ns, after 130 days. Then follows an error, or a wait that
//! ends with the deadline.

use bandgap_comm::{MAX_WORDS, Message, NoHandler, Tag};

use crate::sync::{AtomicU64, Ordering};

/// Bytes of a slot: a cache line, the unit in which caches exchange memory.
pub(crate) const SLOT_BYTES: usize = 64;

/// Offsets of two words of a slot that no message uses.
pub(crate) const SPARE_IN_SLOT: [usize; 2] = [48, 56];
const _: () = assert!(SPARE_IN_SLOT[0] >= size_of::<u64>() * (1 + MAX_WORDS), "beyond the words");

/// A cache line that carries a request to its receiver, and the reply back.
#[repr(C, align(64))]
pub struct Slot {
    header: AtomicU64,
    words: [AtomicU64; MAX_WORDS],
}

/// A header, read once; its parts are checked when they are used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header(u64);

/// Something invalid that a peer wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Corrupt {
    /// A message with this many words.
    #[error("a message of {0} words")]
    Words(u32),
    /// A message in a slot that another message has not left yet.
    #[error("a message that overwrites another one")]
    TooEarly,
    /// More requests handled than were sent.
    #[error("{handled} requests handled, but only {sent} sent")]
    Handled {
        /// Number by the peer's count.
        handled: u64,
        /// Number by this side's count.
        sent: u64,
    },
    /// A message for a handler that this side does not have.
    #[error(transparent)]
    Handler(#[from] NoHandler),
}

/// The sequence of a message in its ring: its header, if its tag were 0. Each side keeps the
/// sequence of the message that it expects next, so one subtraction tells whether it has arrived,
/// and leaves its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence(u64);

/// Bits of a header below the sequence.
const TAG_BITS: u32 = 11;

/// The difference between the sequences of a request, of its reply, and of what is carried in the
/// request's slot.
const KIND: u64 = 1 << TAG_BITS;

/// The difference between the sequences of successive requests.
pub(crate) const STEP: u64 = 4 * KIND;

impl Sequence {
    /// The sequence of no message.
    pub(crate) const NONE: Self = Self(0);

    /// The sequence of request number `position`.
    #[inline(always)]
    pub(crate) fn request(position: u64) -> Self {
        Self(position.wrapping_mul(STEP).wrapping_add(KIND))
    }

    /// The number of the request.
    #[inline(always)]
    pub(crate) fn position(self) -> u64 {
        self.0 / STEP
    }

    /// The sequence of the next request, or of its reply.
    #[inline(always)]
    pub(crate) fn next(self) -> Self {
        Self(self.0.wrapping_add(STEP))
    }

    /// The sequence of the request before this one.
    #[inline(always)]
    pub(crate) fn before(self) -> Self {
        Self(self.0.wrapping_sub(STEP))
    }

    /// The sequence of the reply to this request.
    #[inline(always)]
    pub(crate) fn replied(self) -> Self {
        Self(self.0 + KIND)
    }

    /// The sequence of the other side's request in the line of this request, which has no reply.
    #[inline(always)]
    pub(crate) fn carried(self) -> Self {
        Self(self.0 + 2 * KIND)
    }

    /// Number of requests from this one up to `later`, excluding `later`.
    #[inline(always)]
    pub(crate) fn until(self, later: Self) -> u64 {
        later.0.wrapping_sub(self.0) / STEP
    }

    /// Whether the request's number is a multiple of `count`, a power of two.
    #[inline(always)]
    pub(crate) fn is_multiple(self, count: u64) -> bool {
        self.0 & (STEP * (count - 1)) == 0
    }

    /// The sequence as a number. The counter holds it, and slots follow from it.
    #[inline(always)]
    pub(crate) fn whole(self) -> u64 {
        self.0
    }
}

impl Header {
    /// How far the header is past the first one of this sequence, which is the tag of its message.
    /// `None` if that message has not arrived: the header is then that of an earlier one, or 0.
    #[inline(always)]
    pub(crate) fn past(self, sequence: Sequence) -> Option<Past> {
        self.0.checked_sub(sequence.0).map(Past)
    }

    /// Whether the message with this sequence has arrived.
    #[inline(always)]
    pub(crate) fn is(self, sequence: Sequence) -> bool {
        self.past(sequence).is_some_and(|past| past.0 < KIND)
    }

    /// The tag of the message that has arrived.
    ///
    /// # Errors
    /// It announces more words than a message may have.
    #[inline(always)]
    pub(crate) fn tag(self) -> Result<Tag, Corrupt> {
        let past = Past(self.0 & (KIND - 1));
        past.tag().ok_or_else(|| past.wrong())
    }
}

/// How far a header is past the first one of a sequence.
#[derive(Clone, Copy)]
pub(crate) struct Past(u64);

impl Past {
    /// The tag, if it is one.
    #[inline(always)]
    pub(crate) fn tag(self) -> Option<Tag> {
        u32::try_from(self.0).ok().and_then(|bits| Tag::from_bits(bits).ok())
    }

    /// Whether it is past a reply: the header of a message that is carried in place of the reply.
    #[inline(always)]
    pub(crate) fn is_carried(self) -> bool {
        self.0 / KIND == 1
    }

    /// Why it is not a tag.
    #[cold]
    #[inline(never)]
    pub(crate) fn wrong(self) -> Corrupt {
        match Tag::from_bits(self.0 as u32) {
            Err(words) if self.0 < KIND => Corrupt::Words(words),
            _ => Corrupt::TooEarly,
        }
    }
}

impl Slot {
    /// A slot that was last written with this sequence, or never ([`Sequence::NONE`]).
    #[cfg(any(test, loom))]
    pub(crate) fn new(sequence: Sequence) -> Self {
        Self {
            header: AtomicU64::new(sequence.whole()),
            words: core::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Reads the header, which says whose turn it is.
    #[inline(always)]
    pub(crate) fn header(&self) -> Header {
        // Acquire: pairs with the release in `announce`. So this side sees the words of the
        // message, and what it writes to the slot comes after the other side's reads.
        Header(self.header.load(Ordering::Acquire))
    }

    /// The message whose header had this tag. It is this side's turn, so the other side does not
    /// write here.
    #[inline(always)]
    pub(crate) fn read(&self, tag: Tag) -> Message {
        // All four words: a load costs less than finding out that it is not needed.
        let words = [
            self.words[0].load(Ordering::Relaxed),
            self.words[1].load(Ordering::Relaxed),
            self.words[2].load(Ordering::Relaxed),
            self.words[3].load(Ordering::Relaxed),
        ];
        Message::from_parts(tag, words)
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

    /// Hands the slot to the other side. Its words have been written.
    #[inline(always)]
    pub(crate) fn announce(&self, tag: Tag, sequence: Sequence) {
        let header = sequence.0 | u64::from(tag.bits());
        // Release: pairs with the acquire in `header`.
        self.header.store(header, Ordering::Release);
    }

    /// Writes a header that no correct peer would write.
    #[cfg(test)]
    pub(crate) fn forge(&self, header: u64) {
        self.header.store(header, Ordering::Relaxed);
    }
}
