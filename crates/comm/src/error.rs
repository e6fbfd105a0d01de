//! What can go wrong between ranks.

use std::time::Duration;

use crate::Rank;

/// Failures of communication. [`crate::Posted::Busy`] is not among them: it is an answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommError {
    /// A peer's process ended, or its connection closed, before the run was over.
    #[error("reach rank {peer}: its process ended or its connection closed{detail}")]
    PeerGone {
        /// The peer.
        peer: Rank,
        /// How it was noticed, starting with a separator, or empty.
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
    /// The operating system refused an operation.
    #[error("{operation}: {source}")]
    System {
        /// What was tried.
        operation: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Bytes outside of what ranks expose to one another.
    #[error("reach {len} bytes from offset {at} on: each rank exposes {exposed} bytes")]
    NotExposed {
        /// Offset of the first byte.
        at: usize,
        /// Number of bytes.
        len: usize,
        /// Bytes that are exposed.
        exposed: usize,
    },
    /// A message is longer than the buffer of the receive that took it. The message is lost, its
    /// sender knows nothing of that, and message passing goes on.
    #[error("receive {bytes} bytes from rank {from}, tag {tag}, in a buffer of {room} bytes")]
    TooLong {
        /// Who sent it.
        from: Rank,
        /// Its tag.
        tag: u32,
        /// Its length.
        bytes: usize,
        /// Length of the buffer.
        room: usize,
    },
    /// A rank that is not part of the run, or this rank itself, was named as a peer.
    #[error("address rank {peer}: peers are the other ranks below {size}")]
    NoSuchPeer {
        /// The rank named.
        peer: Rank,
        /// Number of ranks.
        size: usize,
    },
}
