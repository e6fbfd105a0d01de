//! Letters: bytes that ranks send each other outside of measurements, such as orders and results.
//!
//! They travel in the words of Active Messages, so they need no exposed memory. The first word of
//! the first request is the number of bytes. The bytes follow, eight in a word, four words in a
//! request. Words behind the last byte are 0.

use std::collections::VecDeque;

use bandgap_comm::{
    ActiveMessages, CommError, Endpoint, HandlerId, MAX_WORDS, Rank, Result, Watch, Word,
};

/// The handler that takes the mailbox's words.
pub(crate) const MAIL: HandlerId = HandlerId(2);
/// Longest letter, in bytes.
pub const LONGEST: usize = 1 << 20;
/// Largest number of letters from one sender that can wait.
const MOST_WAITING: usize = 64;

const WORD: usize = size_of::<Word>();

/// Letters that have arrived at a rank, by sender.
#[derive(Debug)]
pub struct Mailbox {
    boxes: Vec<Inbox>,
}

#[derive(Debug, Default)]
struct Inbox {
    letters: VecDeque<Vec<u8>>,
    /// Bytes of the letter that is arriving.
    bytes: Vec<u8>,
    /// Number of its bytes that are missing.
    missing: usize,
    /// What the sender did wrong.
    fault: Option<String>,
}

impl Mailbox {
    /// The mailbox of a rank in a run of `size` ranks.
    pub fn new(size: usize) -> Self {
        Self { boxes: (0..size).map(|_| Inbox::default()).collect() }
    }

    /// Takes the oldest letter from `from`, if one has arrived.
    ///
    /// # Errors
    /// `from` sent words that are not a letter.
    pub fn take(&mut self, from: Rank) -> Result<Option<Vec<u8>>> {
        let size = self.boxes.len();
        let inbox = self.boxes.get_mut(from).ok_or(CommError::NoSuchPeer { peer: from, size })?;
        match (inbox.letters.pop_front(), &inbox.fault) {
            (Some(letter), _) => Ok(Some(letter)),
            (None, Some(what)) => Err(CommError::Garbage { peer: from, what: what.clone() }),
            (None, None) => Ok(None),
        }
    }

    /// Whether [`Mailbox::take`] would return a letter or an error.
    pub fn has(&self, from: Rank) -> bool {
        self.boxes.get(from).is_none_or(|inbox| !inbox.letters.is_empty() || inbox.fault.is_some())
    }

    /// Takes the words of one request from `from`.
    pub fn receive(&mut self, from: Rank, words: &[Word]) {
        if let Some(inbox) = self.boxes.get_mut(from).filter(|inbox| inbox.fault.is_none()) {
            inbox.fault = inbox.add(words).err();
        }
    }
}

impl Inbox {
    /// Adds the words of one request.
    fn add(&mut self, mut words: &[Word]) -> Result<(), String> {
        if words.len() != MAX_WORDS {
            return Err(format!("{} words in a request, not {MAX_WORDS}", words.len()));
        }
        if self.missing == 0 {
            let (bytes, waiting) = (words[0], self.letters.len());
            if bytes > LONGEST as Word || waiting >= MOST_WAITING {
                return Err(format!(
                    "a letter of {bytes} bytes behind {waiting} unread letters (limits \
                     {LONGEST} bytes and {MOST_WAITING} letters)"
                ));
            }
            self.missing = bytes as usize;
            self.bytes = Vec::with_capacity(self.missing);
            words = &words[1..];
        }
        for word in words {
            let len = self.missing.min(WORD);
            if len == 0 && *word != 0 {
                return Err("a letter with words behind its last byte".into());
            }
            self.bytes.extend_from_slice(&word.to_le_bytes()[..len]);
            self.missing -= len;
        }
        if self.missing == 0 {
            self.letters.push_back(std::mem::take(&mut self.bytes));
        }
        Ok(())
    }
}

/// Sends `bytes` to the mailbox of rank `to`, and returns when they have arrived.
///
/// # Errors
/// `bytes` is longer than [`LONGEST`], `to` is not another rank, a peer is gone, or a deadline
/// passed.
pub(crate) fn post<E: Endpoint, S, W: Watch>(
    am: &mut ActiveMessages<E, S, W>,
    to: Rank,
    bytes: &[u8],
) -> Result<()> {
    if bytes.len() > LONGEST {
        let what = format!("{} bytes are too long for a letter (limit {LONGEST})", bytes.len());
        let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, what);
        return Err(CommError::System { operation: "post a letter", source });
    }
    let (first, rest) = bytes.split_at(bytes.len().min((MAX_WORDS - 1) * WORD));
    let [a, b, c] = words(first);
    am.request(to, MAIL, [bytes.len() as Word, a, b, c])?;
    for piece in rest.chunks(MAX_WORDS * WORD) {
        am.request(to, MAIL, words::<MAX_WORDS>(piece))?;
    }
    am.await_replies()
}

/// The first `N` words of these bytes, filled up with 0.
fn words<const N: usize>(bytes: &[u8]) -> [Word; N] {
    let mut words = [[0; WORD]; N];
    words.as_flattened_mut()[..bytes.len()].copy_from_slice(bytes);
    words.map(Word::from_le_bytes)
}

#[cfg(test)]
mod tests;
