//! The unit that a [`crate::Link`] moves, and its encoding.
//!
//! ```text
//! 0      1      2        3      4        6         8
//! magic  kind   handler  words  credits  reserved  words × 8 bytes, little endian
//! ```
//!
//! Three kinds are for transfers, and have no handler. The words of a get are the offset to read
//! from, the offset to write to, and the length. The words of a frame with a payload are the offset
//! to write to and the length; the payload follows the frame. The first word of a frame with bytes
//! of the request before it is their length.

use std::ops::Range;

use crate::{HandlerId, MAX_WORDS, Message, Tag};

/// Bytes before the words.
const FRAME_HEADER: usize = 8;
/// Bytes of the longest frame.
pub const MAX_FRAME: usize = FRAME_HEADER + 8 * MAX_WORDS;

/// Bytes of a request of three or four words and the frame that announces its bytes.
pub const CARRYING: usize = 64;

const MAGIC: u8 = 0xB6;

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// A request. Takes one credit.
    Request = 1,
    /// A reply. Returns the credit of its request.
    Reply = 2,
    /// Returns credits of requests that had no reply. The message is empty.
    Credit = 3,
    /// Asks for bytes of the receiver's exposed memory. Takes one credit.
    Get = 4,
    /// Announces a payload that is stored.
    Stored = 5,
    /// Announces a payload that was asked for. Returns the credit of its get.
    Got = 6,
    /// Announces bytes that belong to the request before.
    Carried = 7,
}

/// A message, and the flow control that travels with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Kind of the frame.
    pub kind: FrameKind,
    /// Credits returned for requests that had no reply. They count before the frame itself.
    pub credits: u16,
    /// The message; empty for [`FrameKind::Credit`].
    pub message: Message,
}

/// Why bytes are not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The first byte is wrong.
    #[error("a frame begins with byte {0:#04x}, not {MAGIC:#04x}")]
    Magic(u8),
    /// The kind is unknown.
    #[error("a frame has the unknown kind {0}")]
    Kind(u8),
    /// There are more words than a message may have.
    #[error("a frame announces {0} words (limit {MAX_WORDS})")]
    Length(u8),
    /// Reserved bytes are not zero.
    #[error("a frame has reserved bytes that are not zero")]
    Reserved,
    /// A frame with a payload lacks the payload's offset or length.
    #[error("a frame announces a payload with {0} words; it needs an offset and a length")]
    Announcement(usize),
    /// A payload is for memory that is not exposed.
    #[error("a frame announces {len} bytes for offset {into}; only {exposed} bytes are exposed")]
    Outside {
        /// Offset of the first byte.
        into: u64,
        /// Number of bytes.
        len: u64,
        /// Bytes that are exposed.
        exposed: usize,
    },
}

impl Frame {
    /// A frame that announces `len` bytes for offset `into` of the receiver's exposed memory.
    #[inline]
    pub fn announcing(kind: FrameKind, into: usize, len: usize) -> Self {
        let message = Message::new(HandlerId(0), [into as u64, len as u64]);
        Self { kind, credits: 0, message }
    }

    /// The frame between `request` and its `len` bytes. Words of 0 fill both frames up to
    /// [`CARRYING`] bytes if the request has three or four words: the system copies bytes fastest if
    /// they keep their alignment.
    #[inline]
    pub fn carrying(request: &Message, len: usize) -> Self {
        let message = match request.len() {
            MAX_WORDS => Message::new(HandlerId(0), [len as u64, 0]),
            _ => Message::new(HandlerId(0), [len as u64, 0, 0]),
        };
        Self { kind: FrameKind::Carried, credits: 0, message }
    }

    /// Whether a payload follows the frame.
    #[inline]
    pub fn has_payload(&self) -> bool {
        self.kind as u8 >= FrameKind::Stored as u8
    }

    /// Where the payload goes in `exposed` bytes of exposed memory.
    ///
    /// # Errors
    /// The frame does not say, or the payload ends beyond that memory.
    pub fn target(&self, exposed: usize) -> Result<Range<usize>, FrameError> {
        let &[into, len] = self.message.words() else {
            return Err(FrameError::Announcement(self.message.len()));
        };
        match into.checked_add(len) {
            Some(end) if end <= exposed as u64 => Ok(into as usize..end as usize),
            _ => Err(FrameError::Outside { into, len, exposed }),
        }
    }

    /// The encoded frame, and its length.
    #[inline]
    pub fn encode(&self) -> ([u8; MAX_FRAME], usize) {
        let mut bytes = [0; MAX_FRAME];
        bytes[0] = MAGIC;
        bytes[1] = self.kind as u8;
        bytes[2] = self.message.handler().0;
        bytes[3] = self.message.len() as u8;
        bytes[4..6].copy_from_slice(&self.credits.to_le_bytes());
        for (room, word) in bytes[FRAME_HEADER..].chunks_exact_mut(8).zip(self.message.all_words())
        {
            room.copy_from_slice(&word.to_le_bytes());
        }
        (bytes, FRAME_HEADER + 8 * self.message.len())
    }

    /// The first frame in `bytes`, and its length; `None` while bytes of it are missing.
    ///
    /// # Errors
    /// The bytes do not begin with a frame.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Result<Option<(Self, usize)>, FrameError> {
        let Some(&magic) = bytes.first() else { return Ok(None) };
        if magic != MAGIC {
            return Err(FrameError::Magic(magic));
        }
        if bytes.len() < FRAME_HEADER {
            return Ok(None);
        }
        let kind = match bytes[1] {
            1 => FrameKind::Request,
            2 => FrameKind::Reply,
            3 => FrameKind::Credit,
            4 => FrameKind::Get,
            5 => FrameKind::Stored,
            6 => FrameKind::Got,
            7 => FrameKind::Carried,
            other => return Err(FrameError::Kind(other)),
        };
        let Ok(tag) = Tag::from_bits(u32::from(u16::from_le_bytes([bytes[2], bytes[3]]))) else {
            return Err(FrameError::Length(bytes[3]));
        };
        if bytes[6] != 0 || bytes[7] != 0 {
            return Err(FrameError::Reserved);
        }
        let total = FRAME_HEADER + 8 * tag.len();
        if bytes.len() < total {
            return Ok(None);
        }
        let mut words = [0; MAX_WORDS];
        for (word, room) in words.iter_mut().zip(bytes[FRAME_HEADER..total].as_chunks().0) {
            *word = u64::from_le_bytes(*room);
        }
        let message = Message::from_parts(tag, words);
        let credits = u16::from_le_bytes([bytes[4], bytes[5]]);
        Ok(Some((Self { kind, credits, message }, total)))
    }
}

#[cfg(test)]
mod tests;
