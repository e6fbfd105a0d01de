//! Tags of the collective operations.

/// First tag that belongs to collective operations.
const COLLECTIVE: u32 = 1 << 31;
/// Messages of a broadcast.
pub(super) const BROADCAST: u32 = COLLECTIVE;
/// Messages of a sum.
pub(super) const SUM: u32 = COLLECTIVE + 1;
/// Messages of the second tree of [`Sum::DoubleTree`](super::Sum::DoubleTree).
pub(super) const SECOND_TREE: u32 = COLLECTIVE + 2;
/// Messages of operations that distribute blocks without summing.
pub(super) const BLOCKS: u32 = COLLECTIVE + 3;
/// First tag of barrier messages; all later tags are those of barriers too. BARRIER + k is the tag
/// of round k of a dissemination barrier.
pub const BARRIER: u32 = COLLECTIVE + 4;
/// Messages of a tree barrier. A dissemination barrier has too few rounds to reach this tag.
pub(super) const TREE_BARRIER: u32 = BARRIER + usize::BITS;
