//! Where messages too long for words travel: chunks in slots of exposed memory.

use super::slots::Slots;
use crate::{CommError, Rank};

/// How message passing cuts messages, and the memory that this takes. The same on every rank of a run.
///
/// Every rank has `slots` slots of `chunk` bytes in its exposed memory for each other rank. So each
/// pair has twice as many, and each of the two begins with half of them. A sender fills a slot that
/// it has, and says so in a request; then the slot is the receiver's. Over memory that both ranks
/// map, the receiver keeps it to send with, and gives it back if it has too many. Otherwise it gives
/// each back when it has copied the bytes out.
///
/// A message is cut from its beginning into pieces of a fixed length, and what is left at its end is added to the last
/// one if it is shorter than a sixteenth of a slot: a request more would cost as much as its copy. So a few bytes more never
/// take a piece more, and where they do, the receiver copies the one before meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Bytes of a message's first pieces. Four of them are sent at once (eager), those that follow when a receive has
    /// taken the message (rendezvous): its answer comes while the sender copies the four. At most what is left of a slot
    /// beside a sixteenth of it.
    pub eager: usize,
    /// Bytes of a slot, of which later pieces fill all but a sixteenth; rounded up to a multiple of 64. At least 64. The
    /// default is small enough for all slots of a pair to stay in a cache, and large enough for the request with each
    /// piece to cost little beside it.
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
        Self { eager: self.eager.clamp(1, chunk - chunk / SHORT), chunk, slots }
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
/// Pieces of a message that are sent before a receive has taken it.
const AHEAD: usize = 4;
/// What is left of a message is no piece of its own if it is shorter than this part of a slot.
const SHORT: usize = 16;

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
    /// Bytes of a message's first pieces.
    first: usize,
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
        Ok(Self { at, first: eager, chunk, slots: slots as u16 })
    }

    /// No slots: of a rank that exposes no memory, or not for this. What needs one fails, since it
    /// would lie beyond all memory.
    pub(super) fn none() -> Self {
        Self { at: usize::MAX >> 1, first: 1, chunk: 64, slots: 1 }
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

    /// Where the piece ends that begins at `at` of so many bytes.
    #[inline]
    pub(super) fn piece(&self, at: usize, whole: usize) -> usize {
        let short = self.chunk / SHORT;
        let len = if at < AHEAD * self.first { self.first } else { self.chunk - short };
        if whole - at < len + short { whole } else { at + len }
    }

    /// Whether a message of so many bytes is one piece.
    #[inline]
    pub(super) fn is_one_piece(&self, whole: usize) -> bool {
        whole < self.first + self.chunk / SHORT
    }

    /// Bytes of a message that are sent before a receive has taken it.
    #[inline]
    pub(super) fn ahead(&self, whole: usize) -> usize {
        let most = AHEAD * self.first;
        if whole < most + self.chunk / SHORT { whole } else { most }
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
        // A slot less a sixteenth.
        assert!(layout.is_one_piece(127) && !layout.is_one_piece(128));
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
    fn pieces_have_fixed_lengths_and_the_last_takes_what_is_short() {
        let layout = Layout::new(0, &Tuning::DEFAULT, 2, usize::MAX).unwrap();
        let pieces = |whole: usize| {
            let ahead = layout.ahead(whole);
            let mut ends = Vec::new();
            while ends.last() != Some(&whole) {
                let at = ends.last().copied().unwrap_or(0);
                ends.push(layout.piece(at, if at < ahead { ahead } else { whole }));
            }
            (ends.len(), ahead)
        };
        let kib = |n: usize| n << 10;
        assert_eq!([1, kib(16), kib(18) - 1].map(|n| pieces(n).0), [1; 3]);
        assert_eq!([kib(18), kib(32), kib(34) - 1].map(|n| pieces(n).0), [2; 3]);
        assert_eq!(pieces(kib(66) - 1), (4, kib(66) - 1));
        assert_eq!(pieces(kib(66)), (5, kib(64)));
        // 64 KiB, and then pieces of 30 KiB.
        assert_eq!([kib(96) - 1, kib(96), kib(124)].map(|n| pieces(n).0), [5, 6, 6]);
        // A few bytes more than a power of two are no piece more.
        for log in 5..24 {
            assert_eq!(pieces(1 << log).0, pieces((1 << log) + 3).0, "{log}");
        }
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
