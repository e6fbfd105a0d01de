//! Errors of this crate.

use std::io;

use bandgap_comm::{CommError, Rank};

use crate::limits::{MAX_EXPOSED, MAX_RANKS, MAX_SLOTS, MIN_SLOTS};

/// Result of shared-memory operations.
pub(crate) type Result<T, E = ShmError> = std::result::Result<T, E>;

/// Errors of shared memory and of its floors.
#[derive(Debug, thiserror::Error)]
pub enum ShmError {
    /// A run has too few or too many ranks.
    #[error("create shared memory for {} ranks: the number must be from 1 to {}", .0, MAX_RANKS)]
    Size(usize),
    /// The number of slots of a ring is not a power of two, or is out of range.
    #[error(
        "create rings of {} slots: the number must be a power of two from {} to {}",
        .0,
        MIN_SLOTS,
        MAX_SLOTS
    )]
    Slots(usize),
    /// The exposed memory of a rank is too large, or not a whole number of pages.
    #[error(
        "expose {} bytes of each rank: the number must be a multiple of 4096 up to {}",
        .0,
        MAX_EXPOSED
    )]
    Exposed(usize),
    /// The rank is not part of the run.
    #[error("attach rank {rank} to shared memory of {size} ranks: no such rank")]
    NoSuchRank {
        /// The rank.
        rank: Rank,
        /// Number of ranks.
        size: usize,
    },
    /// The memory belongs to a run with another number of ranks.
    #[error("attach to shared memory of {segment} ranks in a run of {size} ranks")]
    OtherSize {
        /// Number of ranks in the run.
        size: usize,
        /// Number of ranks in the segment.
        segment: usize,
    },
    /// The rank has attached before. Each rank can attach to a segment only once.
    #[error("attach rank {0} to shared memory: it has attached before")]
    Attached(Rank),
    /// A file descriptor does not belong to the expected kind of shared memory.
    #[error("use a file descriptor as {what}: {reason}")]
    NotOurs {
        /// Expected kind.
        what: &'static str,
        /// Why it does not.
        reason: String,
    },
    /// The other side of a floor did not answer within the caller's time limit.
    #[error("measure the floor {0}: the other side did not answer")]
    GaveUp(&'static str),
    /// A copy differs from what was written.
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
        /// What was attempted.
        operation: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

impl ShmError {
    /// Checks that a run can have this many ranks.
    pub(crate) fn check_size(size: usize) -> Result<(), Self> {
        if (1..=MAX_RANKS).contains(&size) { Ok(()) } else { Err(Self::Size(size)) }
    }

    /// Wraps an error of the operating system.
    pub(crate) fn system<E: Into<io::Error>>(operation: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { operation, source: source.into() }
    }
}

impl From<ShmError> for CommError {
    fn from(error: ShmError) -> Self {
        Self::SetUp(Box::new(error))
    }
}
