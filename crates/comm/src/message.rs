//! The short message: a handler and up to four words.

/// A process of a run, numbered from 0.
pub type Rank = usize;

/// One argument of an Active Message.
pub type Word = u64;

/// Words that a short message carries at most: the four of Generic Active Messages.
pub const MAX_WORDS: usize = 4;

/// Index of a handler in the receiver's table. Checked there: a peer may send any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HandlerId(pub u8);

/// A short Active Message: which handler shall run, and its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// The handler to run at the receiver.
    pub handler: HandlerId,
    len: u8,
    words: [Word; MAX_WORDS],
}

impl Message {
    /// A message of `N` words, `N` at most [`MAX_WORDS`] (checked when compiled).
    #[inline(always)]
    pub fn new<const N: usize>(handler: HandlerId, words: [Word; N]) -> Self {
        const { assert!(N <= MAX_WORDS) };
        let mut all = [0; MAX_WORDS];
        let mut i = 0;
        while i < N {
            all[i] = words[i];
            i += 1;
        }
        Self { handler, len: N as u8, words: all }
    }

    /// A message as it came from a peer; `None` when `len` is more than [`MAX_WORDS`].
    #[inline(always)]
    pub fn from_parts(handler: HandlerId, len: usize, words: [Word; MAX_WORDS]) -> Option<Self> {
        if len > MAX_WORDS {
            return None;
        }
        Some(Self { handler, len: len as u8, words })
    }

    /// The words sent.
    #[inline(always)]
    pub fn words(&self) -> &[Word] {
        &self.words[..usize::from(self.len).min(MAX_WORDS)]
    }

    /// All four words; those past [`Message::len`] are unspecified.
    #[inline(always)]
    pub fn all_words(&self) -> &[Word; MAX_WORDS] {
        &self.words
    }

    /// Number of words sent.
    #[inline(always)]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether no word was sent.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.handler == other.handler && self.words() == other.words()
    }
}
