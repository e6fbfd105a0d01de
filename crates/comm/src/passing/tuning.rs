//! Where messages too long for words travel: chunks in slots of exposed memory.

use super::slots::Slots;
use crate::{CommError, Rank};

/// Lengths at which message passing changes its protocol, and the memory that this takes. The same
/// on every rank of a run.
///
/// Every rank has `slots` slots of `chunk` bytes in its exposed memory for each other rank. So each
/// pair has twice as many, and each of the two begins with half of them. A sender fills a slot that
/// it has, and says so in a request; then the slot is the receiver's. Over memory that both ranks
/// map, the receiver keeps it to send with, and gives it back if it has too many. Otherwise it gives
/// each back when it has copied the bytes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Messages of up to so many bytes are sent at once (eager), longer ones when a receive has
    /// taken them (rendezvous). At most a chunk: a larger value counts as a chunk.
    ///
    /// At the default of 16 KiB both should cost about the same over shared memory. An eager
    /// message that nobody waits for is copied once more; for 16 KiB in a processor's own cache
    /// this takes about as long as the round trip that a rendezvous adds.
    pub eager: usize,
    /// Bytes of a slot, and of the pieces of longer messages; rounded up to a multiple of 64. At
    /// least 64. The default is small enough for all slots of a pair to stay in a cache, and large
    /// enough for the request with each piece to cost little beside it.
    pub chunk: usize,
    /// Slots of each sender, from 1 to 16384. With two or more, sender and receiver copy at the
    /// same time. Where the slots of all senders would take more than [`Tuning::AMPLE`] bytes of a
    /// rank's memory, each has fewer, but not fewer than 8 for that.
    pub slots: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Tuning {
    /// The usual values.
    pub const DEFAULT: Self = Self { eager: 16 << 10, chunk: 32 << 10, slots: 32 };

    /// Bytes of a rank's slots beyond which there are only as many as are needed.
    pub const AMPLE: usize = 4 << 20;

    /// The same with each value moved into its range, for runs of `size` ranks.
    fn in_range(self, size: usize) -> Self {
        let chunk = self.chunk.clamp(64, 1 << 30).next_multiple_of(64);
        let ample = Self::AMPLE / chunk / size.max(1);
        let slots = self.slots.clamp(1, MOST_SLOTS).min(ample.max(NEEDED_SLOTS));
        Self { eager: self.eager.min(chunk), chunk, slots }
    }

    /// Bytes of exposed memory that each of `size` ranks needs.
    ///
    /// Formula: size × slots × chunk. A rank never touches its own share.
    pub fn memory(&self, size: usize) -> usize {
        let Self { chunk, slots, .. } = self.in_range(size);
        size.saturating_mul(slots).saturating_mul(chunk)
    }
}

const MOST_SLOTS: usize = 1 << 14;
/// Slots of each sender that are not saved.
const NEEDED_SLOTS: usize = 8;
/// Pieces of a message that is not longer than so many chunks.
const PIECES: usize = 4;
const LEAST_PIECE: usize = 2048;

/// Where a slot lies, in whose exposed memory: this rank's own, or the peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) own: bool,
    pub(super) at: usize,
}

/// The slots of a run, in exposed memory from some offset on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    at: usize,
    pub(super) eager: usize,
    pub(super) chunk: usize,
    /// Half of the slots of a pair.
    pub(super) slots: u16,
}

impl Layout {
    pub(super) fn new(
        at: usize,
        tuning: &Tuning,
        size: usize,
        exposed: usize,
    ) -> Result<Self, CommError> {
        crate::exposed_range(exposed, at, tuning.memory(size))?;
        let Tuning { eager, chunk, slots } = tuning.in_range(size);
        Ok(Self { at, eager, chunk, slots: slots as u16 })
    }

    /// No slots: of a rank that exposes no memory, or not for this. What needs one fails, since it
    /// would lie beyond all memory.
    pub(super) fn none() -> Self {
        Self { at: usize::MAX >> 1, eager: 0, chunk: 64, slots: 1 }
    }

    /// Where a slot of the pair of `rank` and `peer` lies, as `rank` sees it. The first half of the
    /// slots begins with the lower rank. Each lies with the rank that it does not begin with.
    #[inline]
    pub(super) fn place(&self, rank: Rank, peer: Rank, slot: u16) -> Place {
        let lower = slot < self.slots;
        let slot = usize::from(if lower { slot } else { slot - self.slots });
        let mine = lower == (rank < peer);
        let first = if mine { rank } else { peer };
        Place { own: !mine, at: self.at + (first * usize::from(self.slots) + slot) * self.chunk }
    }

    /// The slots that `rank` and `peer` share, as `rank` sees them.
    pub(super) fn between(&self, rank: Rank, peer: Rank) -> Slots {
        Slots::new(self.slots, rank < peer)
    }

    /// Bytes of the pieces of a long message. Where ranks copy by themselves, over memory that both
    /// map, so many pieces that both copy at the same time, and so few that the request with each
    /// costs little. Otherwise as many bytes as a slot takes: the system has buffers of its own.
    #[inline]
    pub(super) fn piece(&self, whole: usize, mapped: bool) -> usize {
        if !mapped {
            return self.chunk;
        }
        (whole / PIECES).max(1).next_multiple_of(LEAST_PIECE).min(self.chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_all_senders_lie_side_by_side_and_fill_the_memory_named() {
        // 3 ranks × 2 slots × 128 bytes (100 rounded up to a multiple of 64).
        let tuning = Tuning { eager: 1000, chunk: 100, slots: 2 };
        assert_eq!(tuning.memory(3), 768);
        let layout = Layout::new(64, &tuning, 3, 832).unwrap();
        assert_eq!(layout.eager, 128);
        // In the memory of rank 2: those that ranks 0 and 1 begin with.
        let in_memory_of_2 = |first: Rank| [0, 1].map(|slot| layout.place(2, first, slot));
        let own = |at| Place { own: true, at };
        assert_eq!(in_memory_of_2(0), [own(64), own(192)]);
        assert_eq!(in_memory_of_2(1), [own(320), own(448)]);
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            for slot in 0..4 {
                let (here, there) = (layout.place(a, b, slot), layout.place(b, a, slot));
                assert_eq!(here, Place { own: !there.own, ..there });
                assert_eq!(here.own, slot >= 2);
            }
        }
        let short = Layout::new(64, &tuning, 3, 831);
        assert!(matches!(short, Err(CommError::NotExposed { at: 64, len: 768, exposed: 831 })));
    }

    #[test]
    fn messages_up_to_four_chunks_go_in_four_pieces() {
        let layout = Layout::new(0, &Tuning::DEFAULT, 2, usize::MAX).unwrap();
        let pieces = [1, 8 << 10, 16 << 10, 70_000, 1 << 20].map(|whole| layout.piece(whole, true));
        assert_eq!(pieces, [2048, 2048, 4096, 18432, 32768]);
        assert_eq!(layout.piece(1, false), 32768);
        let short = Tuning { chunk: 64, ..Tuning::DEFAULT };
        assert_eq!(Layout::new(0, &short, 2, usize::MAX).unwrap().piece(1, true), 64);
    }

    #[test]
    fn values_out_of_range_are_moved_into_it() {
        let least = Tuning { eager: 0, chunk: 0, slots: 0 };
        assert_eq!(least.memory(2), 128);
        assert_eq!(Layout::new(0, &least, 2, 128).unwrap().slots, 1);
        let most = Tuning { eager: usize::MAX, chunk: usize::MAX, slots: usize::MAX };
        assert!(Layout::new(0, &most, usize::MAX, usize::MAX - 1).is_err());
        // 4 MiB hold 128 slots of 32 KiB: 32 for each of 4 ranks, and 8 for each of more than 16.
        let many = Tuning { slots: 100, ..Tuning::DEFAULT };
        let slots = [1, 4, 16, 64].map(|size| many.memory(size) / size / many.chunk);
        assert_eq!(slots, [100, 32, 8, 8]);
    }
}
