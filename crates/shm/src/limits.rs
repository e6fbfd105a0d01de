//! How much shared memory a run may ask for.

/// Slots of a ring by default.
pub const DEFAULT_SLOTS: usize = 128;
/// Smallest number of slots of a ring.
pub const MIN_SLOTS: usize = 2;
/// Largest number of slots of a ring.
pub const MAX_SLOTS: usize = 1 << 16;
/// Largest number of ranks of a segment.
pub const MAX_RANKS: usize = 256;
/// Largest number of bytes that each rank can expose: two blocks of 1 GiB.
pub const MAX_EXPOSED: usize = 2 << 30;
