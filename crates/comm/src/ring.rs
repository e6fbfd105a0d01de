//! Ranks in a ring.

use crate::Rank;

/// The rank `distance` after `rank`, among `ranks` ranks. The distance is at most `ranks`.
#[inline(always)]
pub(crate) fn after(rank: Rank, distance: usize, ranks: usize) -> Rank {
    let after = rank + distance;
    after.checked_sub(ranks).unwrap_or(after)
}

/// The rank `distance` before `rank`, among `ranks` ranks. The distance is at most `ranks`.
#[inline(always)]
pub(crate) fn before(rank: Rank, distance: usize, ranks: usize) -> Rank {
    rank.checked_sub(distance).unwrap_or(rank + ranks - distance)
}

/// Number of doublings from one rank to `ranks` ranks: ⌈log₂ ranks⌉.
#[inline(always)]
pub(crate) fn rounds(ranks: usize) -> u32 {
    ranks.next_power_of_two().trailing_zeros()
}
