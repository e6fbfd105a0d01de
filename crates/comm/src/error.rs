//! What can go wrong between ranks.

use std::time::Duration;

use crate::{Part, Rank};

/// What communication gives, or why it failed.
pub type Result<T, E = CommError> = std::result::Result<T, E>;

/// Failures of communication. [`crate::Posted::Busy`] is an answer, not a failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommError {
    /// A peer's process ended, or its connection closed, before the run was over.
    #[error("reach rank {peer}: its process ended or its connection closed{detail}")]
    PeerGone {
        /// The peer.
        peer: Rank,
        /// How this was noticed, with a separator before it; or empty.
        detail: String,
    },
    /// A peer sent bytes that no peer may send.
    #[error("read what rank {peer} sent: {what}")]
    Garbage {
        /// The peer.
        peer: Rank,
        /// What was wrong, with the offending number.
        what: String,
    },
    /// Nothing arrived for as long as the run allows.
    #[error("hear from any peer for {waited:?} while waiting for {waiting_for}")]
    Deadline {
        /// How long the wait lasted.
        waited: Duration,
        /// What was waited for.
        waiting_for: &'static str,
    },
    /// The run was stopped by its launcher.
    #[error("go on: the run was stopped")]
    Stopped,
    /// Messages cannot be copied out of the memory of their senders here.
    #[error("pass messages with a single copy: {reason}")]
    SingleCopy {
        /// Why not.
        reason: String,
    },
    /// The operating system refused an operation.
    #[error("{operation}: {source}")]
    System {
        /// What was tried.
        operation: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The machine did not give what a transport needs.
    #[error(transparent)]
    SetUp(Box<dyn std::error::Error + Send + Sync>),
    /// Ranks could not be connected, or a floor between them could not be measured.
    #[error(transparent)]
    Connect(Box<dyn std::error::Error + Send + Sync>),
    /// Bytes outside the memory that ranks expose to one another.
    #[error("reach {len} bytes from offset {at} on: each rank exposes {exposed} bytes")]
    NotExposed {
        /// Offset of the first byte.
        at: usize,
        /// Number of bytes.
        len: usize,
        /// Bytes that are exposed.
        exposed: usize,
    },
    /// A message has another length than the receive that took it. The message is lost, its sender
    /// does not learn of that, and message passing goes on.
    #[error(
        "receive {expected} bytes from rank {from}, tag {tag}: the message has {bytes} bytes; send \
         and receive the same length"
    )]
    OtherLength {
        /// Who sent it.
        from: Rank,
        /// Its tag.
        tag: u32,
        /// Its length.
        bytes: usize,
        /// Length of the receive.
        expected: usize,
    },
    /// A part is not within the rank's memory.
    #[error("use bytes {part} of this rank's memory, which has {memory} bytes")]
    NotInMemory {
        /// The part.
        part: Part,
        /// Length of the memory.
        memory: usize,
    },
    /// Two parts of memory share bytes where they must not.
    #[error("use bytes {first} and {second} of this rank's memory together: they overlap")]
    Overlap {
        /// One part.
        first: Part,
        /// The other part.
        second: Part,
    },
    /// Parts have lengths that do not belong together.
    #[error(
        "use bytes {} of this rank's memory together: a copy needs equal lengths, a sum equal \
         multiples of 8",
        listed(.parts)
    )]
    Lengths {
        /// The parts.
        parts: Box<[Part]>,
    },
    /// Views have other numbers of rows or columns.
    #[error(
        "copy {} x {} elements of this rank's memory to {} x {}: a copy needs as many rows and \
         columns",
        from.0, from.1, into.0, into.1
    )]
    Shapes {
        /// Rows and columns of the one.
        from: (usize, usize),
        /// Rows and columns of the other.
        into: (usize, usize),
    },
    /// A rank that is not in the run, or this rank itself, was named as a peer.
    #[error("address rank {peer}: peers are the other ranks below {size}")]
    NoSuchPeer {
        /// The rank named.
        peer: Rank,
        /// Number of ranks.
        size: usize,
    },
}

/// Checks that `peer` is another rank than `rank` of `size`.
///
/// # Errors
/// [`CommError::NoSuchPeer`].
#[inline(always)]
pub fn check_peer(peer: Rank, rank: Rank, size: usize) -> Result<()> {
    if peer < size && peer != rank { Ok(()) } else { Err(CommError::NoSuchPeer { peer, size }) }
}

fn listed(parts: &[Part]) -> String {
    parts.iter().map(Part::to_string).collect::<Vec<_>>().join(", ")
}
