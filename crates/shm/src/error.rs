//! What can go wrong with shared memory.

use std::io;

use bandgap_comm::Rank;

/// Failures of setting up shared memory, and of the raw floors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShmError {
    /// A run has too few or too many ranks.
    #[error("lay out shared memory for {size} ranks: {} to {} are possible", 1, crate::MAX_RANKS)]
    Size {
        /// Number of ranks asked for.
        size: usize,
    },
    /// The number of slots of a ring is no power of two, or out of range.
    #[error(
        "lay out rings of {slots} slots: a power of two from {} to {} is possible",
        crate::MIN_SLOTS,
        crate::MAX_SLOTS
    )]
    Slots {
        /// Number of slots asked for.
        slots: usize,
    },
    /// Ranks were to expose too much, or no whole pages.
    #[error(
        "expose {bytes} bytes of each rank: a multiple of 4096 up to {} is possible",
        crate::MAX_EXPOSED
    )]
    Exposed {
        /// Number of bytes asked for.
        bytes: usize,
    },
    /// A rank outside the run.
    #[error("attach rank {rank} to shared memory of {size} ranks")]
    NoSuchRank {
        /// The rank.
        rank: Rank,
        /// Number of ranks.
        size: usize,
    },
    /// A run of one number of ranks was given the memory of another's.
    #[error("attach to shared memory of {segment} ranks in a run of {size}")]
    OtherSize {
        /// Number of ranks of the run.
        size: usize,
        /// Number of ranks of the segment.
        segment: usize,
    },
    /// Somebody attached as this rank before. A segment serves each rank once.
    #[error("attach rank {rank} to shared memory: that rank was attached before")]
    Attached {
        /// The rank.
        rank: Rank,
    },
    /// A file descriptor is not the shared memory it should be.
    #[error("use a file descriptor as {what}: {reason}")]
    NotOurs {
        /// What it should be.
        what: &'static str,
        /// What was found.
        reason: String,
    },
    /// The other side of a floor did not answer for as long as the caller would wait.
    #[error("measure the floor {floor}: the other side did not answer")]
    GaveUp {
        /// The floor.
        floor: &'static str,
    },
    /// A copy did not have the bytes that were written.
    #[error("verify the floor {floor}: byte {at} of the copy is wrong")]
    WrongData {
        /// The floor.
        floor: &'static str,
        /// Index of the first wrong byte.
        at: usize,
    },
    /// The operating system refused an operation.
    #[error("{operation}: {source}")]
    System {
        /// What was tried.
        operation: &'static str,
        /// The system's answer.
        source: io::Error,
    },
}

impl ShmError {
    /// Wraps a refusal of the operating system.
    pub(crate) fn system<E: Into<io::Error>>(operation: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { operation, source: source.into() }
    }
}
