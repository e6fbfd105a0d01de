//! Where messages too long for words travel: chunks in slots of exposed memory.

use crate::{CommError, Rank};

/// Lengths at which message passing changes its protocol, and the memory that this takes. The same
/// on every rank of a run.
///
/// Every rank has `slots` slots of `chunk` bytes in its exposed memory for each rank that may send
/// to it. A sender owns its slots: it writes a free one, says so in a request, and gets it back
/// when the receiver has copied the bytes out.
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
    /// Slots of each sender, at least 1. With two or more, sender and receiver copy at the same
    /// time.
    pub slots: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Tuning {
    /// The usual values.
    pub const DEFAULT: Self = Self { eager: 16 << 10, chunk: 32 << 10, slots: 8 };

    /// The same with each value moved into its range.
    fn in_range(self) -> Self {
        let chunk = self.chunk.clamp(64, 1 << 30).next_multiple_of(64);
        let slots = self.slots.clamp(1, 1 << 16);
        Self { eager: self.eager.min(chunk), chunk, slots }
    }

    /// Bytes of exposed memory that each of `size` ranks needs.
    ///
    /// Formula: size × slots × chunk. A rank never touches its own share.
    pub fn memory(&self, size: usize) -> usize {
        let Self { chunk, slots, .. } = self.in_range();
        size.saturating_mul(slots).saturating_mul(chunk)
    }
}

/// The slots of a run, in exposed memory from some offset on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    at: usize,
    pub(super) eager: usize,
    pub(super) chunk: usize,
    pub(super) slots: u64,
}

impl Layout {
    pub(super) fn new(
        at: usize,
        tuning: &Tuning,
        size: usize,
        exposed: usize,
    ) -> Result<Self, CommError> {
        crate::exposed_range(exposed, at, tuning.memory(size))?;
        let Tuning { eager, chunk, slots } = tuning.in_range();
        Ok(Self { at, eager, chunk, slots: slots as u64 })
    }

    /// No slots: of a rank that exposes no memory, or not for this. What needs one fails, since it
    /// would lie beyond all memory.
    pub(super) fn none() -> Self {
        Self { at: usize::MAX >> 1, eager: 0, chunk: 64, slots: 1 }
    }

    /// Slot of chunk `count` of a sender, from 0.
    pub(super) fn slot(&self, count: u64) -> u64 {
        count % self.slots
    }

    /// Offset, in every receiver's memory, of a slot of sender `from`.
    pub(super) fn offset(&self, from: Rank, slot: u64) -> usize {
        self.at + (from * self.slots as usize + slot as usize) * self.chunk
    }

    /// Slots that are given back together: a quarter. So a sender is seldom without a slot, and
    /// receivers send few requests to give them back.
    pub(super) fn batch(&self) -> u64 {
        (self.slots / 4).max(1)
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
        let offsets: Vec<_> =
            (0..3).flat_map(|from| (0..2).map(move |slot| layout.offset(from, slot))).collect();
        assert_eq!(offsets, [64, 192, 320, 448, 576, 704]);
        assert_eq!(layout.eager, 128);
        assert_eq!([layout.slot(2), layout.slot(3)], [0, 1]);
        let short = Layout::new(64, &tuning, 3, 831);
        assert!(matches!(short, Err(CommError::NotExposed { at: 64, len: 768, exposed: 831 })));
    }

    #[test]
    fn values_out_of_range_are_moved_into_it() {
        let least = Tuning { eager: 0, chunk: 0, slots: 0 };
        assert_eq!(least.memory(2), 128);
        assert_eq!(Layout::new(0, &least, 2, 128).unwrap().batch(), 1);
        let most = Tuning { eager: usize::MAX, chunk: usize::MAX, slots: usize::MAX };
        assert!(Layout::new(0, &most, usize::MAX, usize::MAX - 1).is_err());
    }
}
