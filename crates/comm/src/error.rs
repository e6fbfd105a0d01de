//! Errors of communication.

use std::time::Duration;

use crate::{Part, Rank};

/// Result of communication.
pub type Result<T, E = CommError> = std::result::Result<T, E>;

/// Errors of communication. [`crate::Posted::Busy`] is an answer, not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommError {
    /// A peer's process ended, or its connection closed, before the run was over.
    #[error("reach rank {peer}: its process ended or its connection closed{detail}")]
    PeerGone {
        /// The peer.
        peer: Rank,
        /// How this was noticed, with a leading separator; or empty.
        detail: String,
    },
    /// A peer sent bytes that no peer may send.
    #[error("read what rank {peer} sent: {what}")]
    Garbage {
        /// The peer.
        peer: Rank,
        /// What is wrong, with the number that is wrong.
        what: String,
    },
    /// Nothing arrived within the run's deadline.
    #[error("communicate: nothing arrived for {waited:.1?} while waiting for {waiting_for}")]
    Deadline {
        /// Length of the wait.
        waited: Duration,
        /// What was waited for.
        waiting_for: &'static str,
    },
    /// The launcher stopped the run.
    #[error("continue: the run was stopped")]
    Stopped,
    /// Messages cannot be copied from their senders' memory here.
    #[error("pass messages with a single copy: {reason}")]
    SingleCopy {
        /// Reason.
        reason: String,
    },
    /// The operating system refused an operation.
    #[error("{operation}: {source}")]
    System {
        /// What was attempted.
        operation: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The machine lacks something that a transport needs.
    #[error(transparent)]
    SetUp(Box<dyn std::error::Error + Send + Sync>),
    /// A library that a transport needs is missing, or cannot be used.
    #[error(transparent)]
    Missing(Box<dyn std::error::Error + Send + Sync>),
    /// A transport does not have here what the user named.
    #[error(transparent)]
    Usage(Box<dyn std::error::Error + Send + Sync>),
    /// Ranks could not be connected, only short messages pass, or a floor could not be measured.
    #[error(transparent)]
    Connect(Box<dyn std::error::Error + Send + Sync>),
    /// This machine does not allow a floor.
    #[error("measure a floor: not available on this machine: {reason}")]
    Unavailable {
        /// Why not.
        reason: String,
    },
    /// Bytes are outside the memory that ranks expose to one another.
    #[error("access {len} bytes from offset {at} on: each rank exposes {exposed} bytes")]
    NotExposed {
        /// Offset of the first byte.
        at: usize,
        /// Number of bytes.
        len: usize,
        /// Bytes that are exposed.
        exposed: usize,
    },
    /// A message and the receive that took it differ in length. The message is lost, its sender
    /// does not learn of it, and message passing continues.
    #[error(
        "receive {expected} bytes from rank {from}, tag {tag}: the message has {bytes} bytes; send \
         and receive the same length"
    )]
    OtherLength {
        /// The sender.
        from: Rank,
        /// Tag of the message.
        tag: u32,
        /// Length of the message, in bytes.
        bytes: usize,
        /// Length of the receive, in bytes.
        expected: usize,
    },
    /// A part is not within the rank's memory.
    #[error("use bytes {part} of this rank's memory, which has {memory} bytes")]
    NotInMemory {
        /// The part.
        part: Part,
        /// Length of the memory, in bytes.
        memory: usize,
    },
    /// Two parts of memory overlap where they must not.
    #[error("use bytes {first} and {second} of this rank's memory together: they overlap")]
    Overlap {
        /// One part.
        first: Part,
        /// The other part.
        second: Part,
    },
    /// Parts have lengths that do not fit together.
    #[error(
        "use bytes {} of this rank's memory together: lengths must be equal, and for a sum \
         multiples of 8",
        listed(.parts)
    )]
    Lengths {
        /// The parts.
        parts: Box<[Part]>,
    },
    /// Views differ in their numbers of rows or columns.
    #[error(
        "copy {} x {} elements of this rank's memory to {} x {}: rows and columns must be \
         equal",
        from.0, from.1, into.0, into.1
    )]
    Shapes {
        /// Rows and columns of the source.
        from: (usize, usize),
        /// Rows and columns of the target.
        into: (usize, usize),
    },
    /// A peer is not in the run, or is this rank itself.
    #[error("address rank {peer}: a peer must be another rank below {size}")]
    NoSuchPeer {
        /// The named rank.
        peer: Rank,
        /// Number of ranks.
        size: usize,
    },
}

/// Checks that `peer` is a rank of `size` other than `rank`.
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
