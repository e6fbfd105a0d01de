//! What the source of a rank program may do with bulk transfers.

use crate::{Am, CommError, Rank, Verb};

/// An [`Am`] whose ranks also store bytes to each other, and get them.
///
/// A rank has a region to send from and a region to receive into. Each is cut into blocks of the
/// length that a program uses; behind the last block comes the first again. A program does not know
/// what the blocks hold: it says when new bytes are due, and when arrived bytes must be checked.
pub trait Transfer: Am {
    /// Stores `bytes` bytes of this rank's block `index` in the peer's, then sends a request as
    /// [`Am::request`] does. When its handler runs, the bytes are there.
    ///
    /// # Errors
    /// A peer is gone, a deadline passed, or the region is shorter than the block.
    fn store(&mut self, peer: Rank, verb: Verb, index: u64, bytes: usize) -> Result<(), CommError>;
    /// Begins to get `bytes` bytes of the peer's block `index`. They are there when
    /// [`Am::await_replies`] returns.
    ///
    /// # Errors
    /// As [`Transfer::store`].
    fn get(&mut self, peer: Rank, index: u64, bytes: usize) -> Result<(), CommError>;
    /// Writes new bytes into the first `blocks` blocks that this rank sends from. Not timed.
    ///
    /// # Errors
    /// The region is shorter than a block.
    fn refresh(&mut self, blocks: u64, bytes: usize) -> Result<(), CommError>;
    /// Reads the first `blocks` blocks that arrived, and notes those that differ from what the peer
    /// wrote last. Not timed.
    ///
    /// # Errors
    /// The region is shorter than a block.
    fn check(&mut self, blocks: u64, bytes: usize) -> Result<(), CommError>;
}
