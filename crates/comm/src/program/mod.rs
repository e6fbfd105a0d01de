//! Interfaces of rank programs.
//!
//! The same source runs on a transport, can run on a library's own message passing, and is recorded
//! for the simulator. Three rules make this possible. Time stamps are opaque: [`Processor::mark`]
//! returns nothing. Control flow depends neither on payload nor on time. The caller of a program
//! decides how often it repeats.

mod memory;
mod messages;
mod part;
mod view;

pub use messages::collectives::BARRIER;
pub use messages::{Comm, Pending, collectives};
pub use part::{DOUBLE, Part};
pub use view::View;

use bandgap_units::Delay;
use serde::{Deserialize, Serialize};

use crate::{HandlerId, Rank, Result, Word};

/// A rank: its number, its clock, and its arithmetic.
pub trait Processor {
    /// This rank.
    fn rank(&self) -> Rank;
    /// Number of ranks.
    fn size(&self) -> usize;
    /// Takes a time stamp.
    fn mark(&mut self);
    /// Computes for a controlled time. Messages are not handled meanwhile.
    fn compute(&mut self, work: Work);
}

/// A computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Iterations of [`crate::Timer::work`]: a chain of dependent arithmetic that touches no
    /// memory.
    Chain(Delay),
    /// y ← a·x + y over vectors of doubles, one iteration for each element (CoMet, section 3.1.2,
    /// overlap).
    Daxpy(Delay),
}

impl Work {
    /// Iterations and their time.
    pub fn delay(self) -> Delay {
        match self {
            Self::Chain(delay) | Self::Daxpy(delay) => delay,
        }
    }
}

/// A kind of request: a handler that all ranks have, and whether it replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verb {
    /// The handler that runs at the peer.
    pub handler: HandlerId,
    /// Whether that handler replies. Only the simulator needs this.
    pub replies: bool,
}

/// What a rank program can do with Active Messages.
pub trait Am: Processor {
    /// Sends a request of one word. If there is no room, waits and handles arrivals. Replies that
    /// have arrived are handled here too.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn request(&mut self, peer: Rank, verb: Verb, word: Word) -> Result<()>;
    /// Waits until every request of this rank has completed.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn await_replies(&mut self) -> Result<()>;
    /// Waits until this many requests have been handled since the program began, or since the last
    /// call of `serve` ended.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn serve(&mut self, requests: u64) -> Result<()>;
}

/// An [`Am`] whose ranks also store bytes to each other, and get them.
///
/// A rank has a region to send from and a region to receive into. Each is divided into blocks of
/// the length that the program uses; the first block follows the last. A program does not know what
/// the blocks hold: it says when new bytes are due, and when arrived bytes must be checked.
pub trait Transfer: Am {
    /// Stores `bytes` bytes of this rank's block `index` at the peer, then sends a request as
    /// [`Am::request`] does. The bytes are there when its handler runs.
    ///
    /// # Errors
    /// A peer is gone, a deadline passed, or the region is shorter than the block.
    fn store(&mut self, peer: Rank, verb: Verb, index: u64, bytes: usize) -> Result<()>;
    /// Begins to get `bytes` bytes of the peer's block `index`. They have arrived when
    /// [`Am::await_replies`] returns.
    ///
    /// # Errors
    /// As [`Transfer::store`].
    fn get(&mut self, peer: Rank, index: u64, bytes: usize) -> Result<()>;
    /// Writes new bytes into the first `blocks` blocks that this rank sends from. Not timed.
    ///
    /// # Errors
    /// The region is shorter than a block.
    fn refresh(&mut self, blocks: u64, bytes: usize) -> Result<()>;
    /// Reads the first `blocks` blocks that arrived, and notes those that differ from what the peer
    /// wrote last. Not timed.
    ///
    /// # Errors
    /// The region is shorter than a block.
    fn check(&mut self, blocks: u64, bytes: usize) -> Result<()>;
}
