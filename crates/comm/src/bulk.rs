//! Bytes beyond the four words: memory that peers can write and read.

use std::ops::Range;

use crate::{CommError, Endpoint, Message, Posted, Rank, Result, Word};

/// Where the bytes of a transfer come from.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// Memory of the caller.
    Bytes(&'a [u8]),
    /// This rank's exposed memory, from here on, so many bytes.
    Exposed {
        /// Offset of the first byte.
        at: usize,
        /// Number of bytes.
        len: usize,
    },
}

#[expect(clippy::len_without_is_empty, reason = "nobody asks")]
impl Source<'_> {
    /// Number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        match *self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Exposed { len, .. } => len,
        }
    }
}

impl<'a> Source<'a> {
    /// The bytes themselves, where `exposed` is what this rank exposes.
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

/// Answer to an attempt to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Begun {
    /// The bytes are there.
    Done,
    /// They are on their way; the get is outstanding.
    Yes,
    /// No room for that peer: make progress, then try again. Nothing was begun.
    Busy,
}

/// A transport that also moves bytes between the memories that its ranks expose to one another.
///
/// Each rank exposes the same number of bytes, addressed by their offset. Nothing guards them: a
/// peer may write any of them at any time. So ranks agree by messages on who writes where. A read
/// without such agreement yields a mixture of old and new bytes, and does no other harm.
///
/// Guarantees: when the handler of a request runs, all bytes are there that its sender stored
/// before. A get counts among [`Endpoint::outstanding`] until its bytes are there.
pub trait Bulk: Endpoint {
    /// Bytes that each rank exposes.
    fn exposed(&self) -> usize;

    /// Copies out of this rank's exposed memory, from offset `at` on.
    ///
    /// # Errors
    /// The range is not exposed.
    fn read_exposed(&self, at: usize, into: &mut [u8]) -> Result<()>;

    /// Copies into this rank's exposed memory, from offset `at` on.
    ///
    /// # Errors
    /// The range is not exposed.
    fn write_exposed(&mut self, at: usize, from: &[u8]) -> Result<()>;

    /// Moves a store on: copies `from` into the exposed memory of `peer` from offset `into` on, as
    /// far as there is room, and adds the number of bytes taken to `done`. [`Posted::Yes`] when all
    /// bytes are taken and the source may change, and not before. After [`Posted::Busy`] the caller makes progress
    /// and repeats the call with the same arguments. Between the calls of one store it sends no
    /// request to that peer: there is no room for it.
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

    /// Moves on a store, and after it a request: as [`Bulk::try_store`] and then
    /// [`Endpoint::try_request`], of which a transport may make one call of the system.
    /// [`Posted::Yes`] when both are taken. After [`Posted::Busy`] the caller makes progress and
    /// repeats the call with the same arguments. Once `done` is the number of bytes, only the request
    /// is missing.
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

    /// Begins a get: copies `len` bytes of the exposed memory of `peer` from offset `at` on into
    /// this rank's exposed memory from offset `into` on. When they are there, `message` is
    /// delivered as if the peer had sent it as a reply; but not after [`Begun::Done`], which says
    /// that they are there already.
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

    /// Whether a rank reads the exposed memory of its peers by itself, as its own
    /// ([`Bulk::read_peer`]): the same on every rank.
    fn shares(&self) -> bool {
        false
    }

    /// Copies out of the exposed memory of `peer`, from offset `at` on, into memory of the caller.
    /// Only where [`Bulk::shares`]. What the peer wrote before it sent a request is there once the
    /// request's handler has run.
    ///
    /// # Errors
    /// The range is not exposed, there is no such peer, or memory is not shared.
    fn read_peer(&self, _peer: Rank, at: usize, into: &mut [u8]) -> Result<()> {
        Err(CommError::NotExposed { at, len: into.len(), exposed: 0 })
    }

    /// Whether this rank reads memory of its peers that they do not expose
    /// ([`Bulk::read_private`]).
    ///
    /// # Errors
    /// It cannot, for this reason. It was tried when the ranks were connected.
    fn single_copy(&self) -> Result<(), &str> {
        Err("the transport has no way to a peer's private memory")
    }

    /// Where these bytes are, for [`Bulk::read_private`] of a peer. The caller neither moves nor
    /// changes them while a peer may read. 0 where no peer can.
    fn address(&self, _bytes: &[u8]) -> Word {
        0
    }

    /// Fills `into` with the bytes at an address that `peer` told. A wrong address is an error, and
    /// does no other harm than to bring wrong bytes of that peer.
    ///
    /// # Errors
    /// [`CommError::SingleCopy`]; `peer` is gone or has no such memory, or the operating system
    /// refused.
    fn read_private(&self, _peer: Rank, _at: Word, _into: &mut [u8]) -> Result<()> {
        let reason = self.single_copy().err().unwrap_or_default().to_owned();
        Err(CommError::SingleCopy { reason })
    }
}

/// The range of `len` bytes from `at` on.
///
/// # Errors
/// [`CommError::NotExposed`]: it ends beyond `exposed` bytes.
#[inline]
pub fn exposed_range(exposed: usize, at: usize, len: usize) -> Result<Range<usize>> {
    match at.checked_add(len) {
        Some(end) if end <= exposed => Ok(at..end),
        _ => Err(CommError::NotExposed { at, len, exposed }),
    }
}
