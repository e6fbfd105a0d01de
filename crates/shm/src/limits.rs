//! Limits of a run's shared memory.

/// Default number of slots in a ring.
pub const DEFAULT_SLOTS: usize = 128;
/// Smallest number of slots in a ring.
pub const MIN_SLOTS: usize = 2;
/// Largest number of slots in a ring.
pub const MAX_SLOTS: usize = 1 << 16;
/// Largest number of ranks in a segment.
pub const MAX_RANKS: usize = 256;
/// Largest number of bytes that each rank can expose: two blocks of 1 GiB.
pub const MAX_EXPOSED: usize = 2 << 30;
