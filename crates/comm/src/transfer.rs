//! What the source of a rank program of bulk transfers may do.

use crate::{Am, CommError, Rank, Verb};

/// An [`Am`] whose ranks also store bytes to each other, and get them.
///
/// A rank has a region to send from and a region to receive into, each cut into blocks of the
/// length that a program uses; after the last block comes the first again. What the blocks hold is
/// no concern of the program: it says when they are to hold something new, and when what arrived is
/// to be looked at.
pub trait Transfer: Am {
    /// Stores `bytes` bytes of this rank's block `index` in the peer's, then sends a request as
    /// [`Am::request`] does: that its handler runs says that the bytes are there.
    ///
    /// # Errors
    /// A peer is gone, a deadline passed, or the region is shorter than the block.
    fn store(&mut self, peer: Rank, verb: Verb, index: u64, bytes: usize) -> Result<(), CommError>;
    /// Begins to get `bytes` bytes of the peer's block `index`; they are there when
    /// [`Am::await_replies`] returns.
    ///
    /// # Errors
    /// As [`Transfer::store`].
    fn get(&mut self, peer: Rank, index: u64, bytes: usize) -> Result<(), CommError>;
    /// Writes new bytes into the first `blocks` blocks that this rank sends from. Not to be timed.
    ///
    /// # Errors
    /// The region is shorter than a block.
    fn refresh(&mut self, blocks: u64, bytes: usize) -> Result<(), CommError>;
    /// Reads the first `blocks` blocks that arrived, and notes those that are not what the peer
    /// wrote last. Not to be timed.
    ///
    /// # Errors
    /// The region is shorter than a block.
    fn check(&mut self, blocks: u64, bytes: usize) -> Result<(), CommError>;
}
