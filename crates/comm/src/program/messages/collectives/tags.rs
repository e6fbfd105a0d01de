//! The tags of the operations.

/// Tags from here on belong to the operations of all ranks.
const COLLECTIVE: u32 = 1 << 31;
/// Messages of a broadcast.
pub(super) const BROADCAST: u32 = COLLECTIVE;
/// Messages of a sum.
pub(super) const SUM: u32 = COLLECTIVE + 1;
/// Messages of the second tree of a sum along two.
pub(super) const SECOND_TREE: u32 = COLLECTIVE + 2;
/// Messages whose blocks are given to ranks as they are.
pub(super) const BLOCKS: u32 = COLLECTIVE + 3;
/// The first tag by which ranks tell each other that they have come to a barrier. All later tags
/// are those of barriers too: BARRIER + k of round k of a dissemination barrier.
pub const BARRIER: u32 = COLLECTIVE + 4;
/// Messages of a tree barrier. A dissemination barrier has fewer rounds than this leaves tags.
pub(super) const TREE_BARRIER: u32 = BARRIER + usize::BITS;
