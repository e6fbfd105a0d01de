//! Bulk transfers: stores to and gets from memory that ranks expose.

use std::ops::Range;

use crate::{CommError, Endpoint, Message, Posted, Rank, Result, Word};

/// Source of a transfer's bytes.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// Memory of the caller.
    Bytes(&'a [u8]),
    /// `len` bytes of this rank's exposed memory, from offset `at` on.
    Exposed {
        /// Offset of the first byte.
        at: usize,
        /// Number of bytes.
        len: usize,
    },
}

#[expect(clippy::len_without_is_empty, reason = "nobody asks")]
impl<'a> Source<'a> {
    /// Number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        match *self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Exposed { len, .. } => len,
        }
    }

    /// The bytes, if `exposed` is this rank's exposed memory.
    ///
    /// # Errors
    /// The range is not exposed.
    #[inline]
    pub fn within(self, exposed: &'a [u8]) -> Result<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Exposed { at, len } => Ok(&exposed[exposed_range(exposed.len(), at, len)?]),
        }
    }
}

/// Answer to an attempt to begin a get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Begun {
    /// The bytes have arrived.
    Done,
    /// The bytes are on their way; the get is outstanding.
    Yes,
    /// There is no room for that peer: make progress, then try again. Nothing was begun.
    Busy,
}

/// A transport that also moves bytes between the memories that ranks expose to one another.
///
/// Each rank exposes the same number of bytes, addressed by offset. They are not protected: a peer
/// may write any of them at any time. Ranks must therefore agree by messages on who writes where. A
/// read without such agreement returns a mixture of old and new bytes, and does no other harm.
///
/// Guarantees: when the handler of a request runs, all bytes that its sender stored before are
/// there. A get counts among [`Endpoint::outstanding`] until its bytes have arrived.
pub trait Bulk: Endpoint {
    /// Number of bytes that each rank exposes.
    fn exposed(&self) -> usize;

    /// Copies from this rank's exposed memory, from offset `at` on.
    ///
    /// # Errors
    /// The range is not exposed.
    fn read_exposed(&self, at: usize, into: &mut [u8]) -> Result<()>;

    /// Copies into this rank's exposed memory, from offset `at` on.
    ///
    /// # Errors
    /// The range is not exposed.
    fn write_exposed(&mut self, at: usize, from: &[u8]) -> Result<()>;

    /// Continues a store: copies `from` to the exposed memory of `peer` from offset `into` on, as
    /// far as there is room, and adds the number of bytes taken to `done`. Returns [`Posted::Yes`]
    /// only when all bytes are taken and the source may change. After [`Posted::Busy`] the caller
    /// makes progress and repeats the call with the same arguments. Until the store has ended it
    /// must not send requests to that peer.
    ///
    /// # Errors
    /// A range is not exposed, there is no such peer, or its connection is gone.
    fn try_store(
        &mut self,
        peer: Rank,
        into: usize,
        from: Source<'_>,
        done: &mut usize,
    ) -> Result<Posted>;

    /// Continues a store that a request follows: as [`Bulk::try_store`] and then
    /// [`Endpoint::try_request`], but a transport may use a single system call for both. Returns
    /// [`Posted::Yes`] when both are taken. After [`Posted::Busy`] the caller makes progress and
    /// repeats the call with the same arguments. If `done` is the number of bytes, only the request
    /// remains.
    ///
    /// # Errors
    /// As [`Bulk::try_store`].
    #[inline(always)]
    fn try_store_then(
        &mut self,
        peer: Rank,
        into: usize,
        from: Source<'_>,
        done: &mut usize,
        message: Message,
    ) -> Result<Posted> {
        let whole = *done > 0 && *done == from.len();
        if !whole && self.try_store(peer, into, from, done)? == Posted::Busy {
            return Ok(Posted::Busy);
        }
        self.try_request(peer, message)
    }

    /// Continues to send a request and bytes that belong to it, and adds the number of bytes taken
    /// to `done`. At the receiver the request's handler runs first; then the bytes go where
    /// [`crate::Deliver::room`] wants them, without another copy.
    /// Returns as [`Bulk::try_store`].
    ///
    /// # Errors
    /// As [`Endpoint::try_request`]; or the transport's requests cannot carry bytes.
    fn try_carry(
        &mut self,
        _peer: Rank,
        _message: Message,
        _bytes: &[u8],
        _done: &mut usize,
    ) -> Result<Posted> {
        Err(CommError::Stopped)
    }

    /// Begins a get: copies `len` bytes of `peer`'s exposed memory from offset `at` on to this
    /// rank's exposed memory from offset `into` on. When they have arrived, `message` is delivered
    /// as if the peer had sent it as a reply. It is not delivered after [`Begun::Done`]: the bytes
    /// are then already there.
    ///
    /// # Errors
    /// A range is not exposed, there is no such peer, or its connection is gone.
    fn try_get(
        &mut self,
        peer: Rank,
        at: usize,
        into: usize,
        len: usize,
        message: Message,
    ) -> Result<Begun>;

    /// Whether a rank can read its peers' exposed memory directly ([`Bulk::read_peer`]); the same
    /// on every rank.
    fn shares(&self) -> bool {
        false
    }

    /// Copies from `peer`'s exposed memory, from offset `at` on, to memory of the caller. Requires
    /// [`Bulk::shares`]. What the peer wrote before it sent a request is visible once the request's
    /// handler has run.
    ///
    /// # Errors
    /// The range is not exposed, there is no such peer, or memory is not shared.
    fn read_peer(&self, _peer: Rank, at: usize, into: &mut [u8]) -> Result<()> {
        Err(CommError::NotExposed { at, len: into.len(), exposed: 0 })
    }

    /// Checks that this rank can read memory that its peers do not expose ([`Bulk::read_private`]).
    ///
    /// # Errors
    /// It cannot; the error is the reason, found when the ranks were connected.
    fn single_copy(&self) -> Result<(), &str> {
        Err("the transport cannot read a peer's private memory")
    }

    /// Address of these bytes, for a peer's [`Bulk::read_private`]; 0 if no peer can read them. The
    /// caller must neither move nor change them while a peer may read.
    fn address(&self, _bytes: &[u8]) -> Word {
        0
    }

    /// Fills `into` with the bytes at an address that `peer` sent. A wrong address is an error or
    /// yields wrong bytes of that peer, and does no other harm.
    ///
    /// # Errors
    /// [`CommError::SingleCopy`]; `peer` is gone or has no such memory, or the operating system
    /// refused.
    fn read_private(&self, _peer: Rank, _at: Word, _into: &mut [u8]) -> Result<()> {
        let reason = self.single_copy().err().unwrap_or_default().to_owned();
        Err(CommError::SingleCopy { reason })
    }
}

/// The range of `len` bytes from offset `at` on.
///
/// # Errors
/// [`CommError::NotExposed`]: the range ends beyond `exposed` bytes.
#[inline]
pub fn exposed_range(exposed: usize, at: usize, len: usize) -> Result<Range<usize>> {
    match at.checked_add(len) {
        Some(end) if end <= exposed => Ok(at..end),
        _ => Err(CommError::NotExposed { at, len, exposed }),
    }
}
