//! Rank programs over Active Messages.

use super::Processor;
use crate::{CommError, HandlerId, Rank, Word};

/// A kind of request: a handler that all ranks have, and whether it replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verb {
    /// The handler that runs at the peer.
    pub handler: HandlerId,
    /// Whether that handler replies. Only the simulator needs this.
    pub replies: bool,
}

/// What a rank program may do with Active Messages.
pub trait Am: Processor {
    /// Sends a request of one word. While there is no room, waits and handles what arrives. Replies
    /// that have arrived are handled here too.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn request(&mut self, peer: Rank, verb: Verb, word: Word) -> Result<(), CommError>;
    /// Waits until every request of this rank has completed.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn await_replies(&mut self) -> Result<(), CommError>;
    /// Waits until this many requests have been handled since the program began, or since the last
    /// call of `serve` ended.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn serve(&mut self, requests: u64) -> Result<(), CommError>;
}
