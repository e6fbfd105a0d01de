//! What the source of a rank program may do.

use crate::{CommError, HandlerId, Rank, Word};

/// A controlled amount of computation: the Δ of the LogP signature.
///
/// Both faces are kept: the iterations of the calibrated loop that a processor executes, and the
/// time that they stand for, which is what the simulator lets pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delay {
    /// Rounds of [`crate::Timer::work`].
    pub iterations: u32,
    /// Their time in picoseconds, by calibration.
    pub picoseconds: u64,
}

impl Delay {
    /// No computation.
    pub const NONE: Self = Self { iterations: 0, picoseconds: 0 };
}

/// A request that a rank program may make: a handler that its peers have, and whether it replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verb {
    /// The handler that runs at the peer.
    pub handler: HandlerId,
    /// Whether that handler replies. The simulator needs to know; transports see for themselves.
    pub replies: bool,
}

/// What one rank of a program may do: the same source runs on a transport and is recorded for the
/// simulator.
///
/// Rules that make this possible: a stamp is opaque ([`Am::mark`] returns nothing), control flow
/// never depends on payload or on time, and repetition is decided by who calls the program.
pub trait Am {
    /// This rank.
    fn rank(&self) -> Rank;
    /// Number of ranks.
    fn size(&self) -> usize;
    /// Sends a request of one word; waits, handling what arrives, while there is no room. Replies
    /// that have arrived are handled here ("Issue Request implicitly handles replies").
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn request(&mut self, peer: Rank, verb: Verb, word: Word) -> Result<(), CommError>;
    /// Waits until every request of this rank has completed.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn await_replies(&mut self) -> Result<(), CommError>;
    /// Waits until this many further requests have been handled since the program began or the
    /// last call of `serve` ended.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn serve(&mut self, requests: u64) -> Result<(), CommError>;
    /// Computes for a controlled time, handling nothing.
    fn compute(&mut self, delay: Delay);
    /// Takes a time stamp.
    fn mark(&mut self);
}

/// What one rank of a program over message passing may do: the same source runs on a transport and
/// is recorded for the simulator.
///
/// A program says who sends how many bytes to whom. What the bytes are, and where, is no concern of
/// it: the executor has them ready before, and checks them after, so that no bytes can steer it. The
/// other rules are those of [`Am`]: a stamp is opaque, and repetition is decided by who calls the
/// program. Senders are always named: with any-source receives, which message is taken would depend
/// on time.
pub trait Comm {
    /// This rank.
    fn rank(&self) -> Rank;
    /// Number of ranks.
    fn size(&self) -> usize;
    /// Sends a message of `bytes` bytes to `peer`, and waits until its memory may change.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn send(&mut self, peer: Rank, tag: u32, bytes: usize) -> Result<(), CommError>;
    /// Waits for the message of this tag, of `bytes` bytes, of `peer`.
    ///
    /// # Errors
    /// As [`Comm::send`]; or the message has another length.
    fn recv(&mut self, peer: Rank, tag: u32, bytes: usize) -> Result<(), CommError>;
    /// Sends a message of `bytes` bytes to `peer` and waits for one of the same tag and length from
    /// it, both at once.
    ///
    /// # Errors
    /// As [`Comm::recv`].
    fn exchange(&mut self, peer: Rank, tag: u32, bytes: usize) -> Result<(), CommError>;
    /// Waits until every rank has come to its barrier.
    ///
    /// # Errors
    /// As [`Comm::send`].
    fn barrier(&mut self) -> Result<(), CommError>;
    /// Takes a time stamp.
    fn mark(&mut self);
}
