//! Short messages: a handler and up to four words.

/// Number of a process of a run, from 0.
pub type Rank = usize;

/// One argument of an Active Message.
pub type Word = u64;

/// Largest number of words in a short message: four, as in Generic Active Messages.
pub const MAX_WORDS: usize = 4;

/// Index of a handler in the receiver's table. The receiver checks it, since a peer may send any
/// value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HandlerId(pub u8);

/// A message names a handler that its receiver does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this rank has no handler {}", .0.0)]
pub struct NoHandler(pub HandlerId);

/// A short Active Message: the handler to run, and its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    tag: Tag,
    words: [Word; MAX_WORDS],
}

/// Handler in bits 0..8, number of words above. They form one value, so that both are passed and
/// checked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(u32);

#[expect(clippy::len_without_is_empty, reason = "nobody asks")]
impl Tag {
    const LEN_SHIFT: u32 = 8;

    /// The tag of a message of `N` words. The compiler checks that `N` is at most [`MAX_WORDS`].
    #[inline(always)]
    pub fn new<const N: usize>(handler: HandlerId) -> Self {
        const { assert!(N <= MAX_WORDS) };
        Self((N as u32) << Self::LEN_SHIFT | u32::from(handler.0))
    }

    /// Decodes a tag that came from a peer.
    ///
    /// # Errors
    /// The number of words is above [`MAX_WORDS`]; the error is that number.
    #[inline(always)]
    pub fn from_bits(bits: u32) -> Result<Self, u32> {
        if bits < (MAX_WORDS as u32 + 1) << Self::LEN_SHIFT {
            Ok(Self(bits))
        } else {
            Err(bits >> Self::LEN_SHIFT)
        }
    }

    /// The value that [`Tag::from_bits`] takes.
    #[inline(always)]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// The handler.
    #[inline(always)]
    pub fn handler(self) -> HandlerId {
        HandlerId(self.0 as u8)
    }

    /// Number of words, at most [`MAX_WORDS`].
    #[inline(always)]
    pub fn len(self) -> usize {
        (self.0 >> Self::LEN_SHIFT) as usize
    }
}

#[expect(clippy::len_without_is_empty, reason = "nobody asks")]
impl Message {
    /// A message of `N` words. The compiler checks that `N` is at most [`MAX_WORDS`].
    #[inline(always)]
    pub fn new<const N: usize>(handler: HandlerId, words: [Word; N]) -> Self {
        let mut all = [0; MAX_WORDS];
        let mut i = 0;
        while i < N {
            all[i] = words[i];
            i += 1;
        }
        Self { tag: Tag::new::<N>(handler), words: all }
    }

    /// A message with this tag. Words past the tag's length are ignored.
    #[inline(always)]
    pub fn from_parts(tag: Tag, words: [Word; MAX_WORDS]) -> Self {
        Self { tag, words }
    }

    /// Replaces the first words without changing the tag.
    #[inline(always)]
    pub(crate) fn set_words<const N: usize>(&mut self, words: [Word; N]) {
        let mut i = 0;
        while i < N {
            self.words[i] = words[i];
            i += 1;
        }
    }

    #[inline(always)]
    pub(crate) fn set_tag(&mut self, tag: Tag) {
        self.tag = tag;
    }

    /// Handler and number of words.
    #[inline(always)]
    pub fn tag(&self) -> Tag {
        self.tag
    }

    /// The handler to run at the receiver.
    #[inline(always)]
    pub fn handler(&self) -> HandlerId {
        self.tag.handler()
    }

    /// The words that were sent.
    #[inline(always)]
    pub fn words(&self) -> &[Word] {
        &self.words[..self.len().min(MAX_WORDS)]
    }

    /// All four words; those past [`Message::len`] are unspecified.
    #[inline(always)]
    pub fn all_words(&self) -> &[Word; MAX_WORDS] {
        &self.words
    }

    /// Number of words that were sent.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.tag.len()
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.handler() == other.handler() && self.words() == other.words()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_of_a_peer_has_at_most_four_words() {
        // Handler in the lowest byte, number of words above: 0x4FF is handler 255 with 4 words.
        let most = Tag::from_bits(0x4FF).unwrap();
        assert_eq!((most.handler(), most.len()), (HandlerId(255), 4));
        assert_eq!(most, Tag::new::<4>(HandlerId(255)));
        assert_eq!(Tag::from_bits(0x500), Err(5));
        assert_eq!(Tag::from_bits(u32::MAX), Err(0xFF_FFFF));
    }
}
