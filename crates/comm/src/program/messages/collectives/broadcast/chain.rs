//! Broadcast from rank to rank, in segments.

use super::super::blocks::Blocks;
use super::super::tags::BROADCAST;
use super::from_root::FromRoot;
use crate::{Comm, CommError, Part, Rank};

/// n½ in the rule of [`segments`], in bytes: a usual one where ranks share memory. A constant, as
/// all ranks must come to the same number, and none knows the machine.
const HALF_LENGTH: usize = 4096;

/// In how many segments a chain of so many ranks passes so many bytes on.
///
/// *Formula*: ⌈n / s⌉ with s = √(n·n½ / (P − 2)), and at least one: the s for which
/// (P − 1 + n/s − 1)(t₀ + s/r∞) is least, with n½ = t₀·r∞ = 4096 bytes. With up to two ranks there is
/// nobody to pass on to, and one segment is best.
/// *Source*: Pješivac-Grbović, Angskun, Bosilca, Fagg, Gabriel, Dongarra, "Performance Analysis of MPI
/// Collective Operations", Cluster Computing 10, 2007, for the time of a pipeline.
pub fn segments(ranks: usize, bytes: usize) -> usize {
    let Some(passed_on) = ranks.checked_sub(2).filter(|&hops| hops > 0) else { return 1 };
    let square = bytes.saturating_mul(HALF_LENGTH) / passed_on;
    bytes.div_ceil(square.isqrt().max(1)).max(1)
}

/// A rank gets each segment from the rank before it, and passes it on to the next one while it waits
/// for the segment behind.
#[inline]
pub(super) fn chain<C: Comm>(comm: &mut C, from: FromRoot, part: Part) -> Result<(), CommError> {
    let (number, size) = (from.number(comm.rank()), from.size);
    let count = segments(size, part.len);
    let blocks = Blocks::of(part, 1, count);
    let (first, last) = (number == 0, number + 1 == size);
    let (next, previous) = (from.rank(number + 1), from.rank(number + size - 1));
    match (first, last) {
        (true, true) => Ok(()),
        (true, false) => {
            (0..count).try_for_each(|segment| comm.send(next, BROADCAST, blocks.one(segment)))
        }
        (false, true) => {
            (0..count).try_for_each(|segment| comm.recv(previous, BROADCAST, blocks.one(segment)))
        }
        (false, false) => {
            comm.recv(previous, BROADCAST, blocks.one(0))?;
            for segment in 1..count {
                let receive = comm.irecv(previous, BROADCAST, blocks.one(segment))?;
                comm.send(next, BROADCAST, blocks.one(segment - 1))?;
                comm.wait(receive)?;
            }
            comm.send(next, BROADCAST, blocks.one(count - 1))
        }
    }
}

/// Each segment once, unless it is the root.
pub(super) fn receives(rank: Rank, size: usize, root: Rank, bytes: usize) -> u64 {
    if rank == root { 0 } else { segments(size, bytes) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_segments_follows_the_formula() {
        // P = 3, n = 65 536: s = √(65 536 · 4096) = 16 384. P = 6: half of that.
        assert_eq!([segments(3, 65_536), segments(6, 65_536)], [4, 8]);
        // One byte more than 4 · 16 384 makes s no longer, and a fifth segment.
        assert_eq!(segments(3, 65_537), 5);
        for ranks in 1..100 {
            assert_eq!(segments(ranks, 0), 1, "{ranks}");
            assert!((1..=100).contains(&segments(ranks, 100)));
        }
        assert_eq!([segments(1, 1 << 20), segments(2, 1 << 20)], [1, 1]);
        assert!(segments(9, usize::MAX) > 1);
    }
}
