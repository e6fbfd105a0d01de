//! How messages too long for words travel: in pieces, through slots of exposed memory.

use super::slots::Slots;
use crate::{Rank, Result};

/// How message passing cuts messages, and the memory that this needs. It must be the same on every
/// rank of a run.
///
/// Every rank has `slots` slots of `chunk` bytes in its exposed memory for each other rank. So each
/// pair has twice as many, and each of the two ranks begins with half of them. A sender fills a
/// slot that it has and announces it in a request; then the receiver has the slot. If both ranks
/// map the memory, the receiver keeps the slot to send with, and gives slots back if it has too
/// many. Otherwise it gives a slot back after it has copied the bytes out, with a message of its
/// own or a few slots at a time.
///
/// A message is cut into equal pieces; their number is such that one more would cost as much as it
/// hides. A message there and an equal one back then fill the same slots to the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Bytes of a slot, and of the longest piece; rounded up to a multiple of 64. At least 64. With
    /// the default all slots of a pair stay in a cache.
    pub chunk: usize,
    /// Slots of each sender, up to 16384; 0 if requests carry pieces ([`crate::Bulk::try_carry`]), of
    /// which one is sent at once. With two or more, sender and receiver copy at the
    /// same time. As many pieces of a message are sent at once (eager), and the rest when a receive
    /// has taken it (rendezvous), whose answer comes while the sender copies. If the slots of all
    /// senders would take more than [`Tuning::AMPLE`] bytes of a rank's memory, each has fewer, but
    /// at least 8.
    pub slots: usize,
    /// Bytes whose copy takes as long as the request that announces a piece. At least 1.
    pub request: usize,
}

impl Tuning {
    /// The default values.
    pub const DEFAULT: Self = Self { chunk: 32 << 10, slots: 32, request: 16 << 10 };

    /// Bytes of a rank's slots above which the number of slots is reduced.
    pub const AMPLE: usize = 4 << 20;

    /// Moves each value into its range, for runs of `size` ranks.
    fn in_range(self, size: usize) -> Self {
        let chunk = self.chunk.clamp(64, 1 << 30).next_multiple_of(64);
        let ample = Self::AMPLE / chunk / size.max(1);
        let slots = self.slots.min(MOST_SLOTS).min(ample.max(NEEDED_SLOTS));
        Self { chunk, slots, request: self.request.max(1) }
    }

    /// Bytes of exposed memory that each of `size` ranks needs.
    ///
    /// *Formula*: size × slots × chunk. A rank never touches its own share.
    pub fn memory(&self, size: usize) -> usize {
        let Self { chunk, slots, .. } = self.in_range(size);
        size.saturating_mul(slots).saturating_mul(chunk)
    }
}

const MOST_SLOTS: usize = 1 << 14;
/// Least number of slots of each sender, whatever memory they take.
const NEEDED_SLOTS: usize = 8;

/// Where a slot is: its offset, and whether it is in this rank's memory or in the peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotAddress {
    pub(super) own: bool,
    pub(super) at: usize,
}

/// How a message is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// Bytes of each piece; the last one may be shorter.
    pub(super) piece: usize,
    /// Bytes of the pieces that are sent before a receive has taken the message.
    pub(super) ahead: usize,
}

/// The slots of a run, in exposed memory from an offset on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    at: usize,
    request: usize,
    /// A shorter message is one piece in a slot.
    two_from: usize,
    pub(super) chunk: usize,
    /// Half of a pair's slots.
    pub(super) slots: u16,
}

impl Layout {
    pub(super) fn new(at: usize, tuning: &Tuning, size: usize, exposed: usize) -> Result<Self> {
        crate::exposed_range(exposed, at, tuning.memory(size))?;
        let Tuning { chunk, slots, request } = tuning.in_range(size);
        let two_from = if slots == 0 { 0 } else { request.saturating_mul(2).min(chunk + 1) };
        Ok(Self { at, request, two_from, chunk, slots: slots as u16 })
    }

    /// No slots, for a rank that exposes no memory or uses it otherwise. Using one fails, since it
    /// would be beyond all memory.
    pub(super) fn none() -> Self {
        Self { at: usize::MAX >> 1, request: 32, two_from: 64, chunk: 64, slots: 1 }
    }

    /// Where a slot of the pair `rank` and `peer` is, as seen by `rank`. The lower rank begins with
    /// the first half of the slots. Each slot is in the memory of the rank that does not begin with
    /// it.
    #[inline]
    pub(super) fn place(&self, rank: Rank, peer: Rank, slot: u16) -> SlotAddress {
        let lower = slot < self.slots;
        let slot = usize::from(if lower { slot } else { slot - self.slots });
        let mine = lower == (rank < peer);
        let first = if mine { rank } else { peer };
        SlotAddress {
            own: !mine,
            at: self.at + (first * usize::from(self.slots) + slot) * self.chunk,
        }
    }

    /// The slots that `rank` and `peer` share, as seen by `rank`.
    pub(super) fn between(&self, rank: Rank, peer: Rank) -> Slots {
        Slots::new(self.slots, rank < peer)
    }

    /// How a message of `whole` bytes is cut.
    ///
    /// *Formula*: let c be the time to copy a byte, o the time of a request, and r = o/c. Since
    /// both ranks copy at the same time, k pieces take c·n·(1 + 1/k) + k·o. k and k + 1 pieces take
    /// equally long if n = r·k·(k + 1). The number changes there, so the time has no step.
    pub(super) fn cut(&self, whole: usize) -> Cut {
        let products = (whole / self.request).saturating_mul(4).saturating_add(1);
        let best = products.isqrt().div_ceil(2);
        let pieces = best.max(whole.div_ceil(self.chunk)).max(1);
        let piece = whole.div_ceil(pieces).next_multiple_of(64).min(self.chunk);
        let most = usize::from(self.slots.max(1)) * self.chunk;
        let ahead = if whole <= most { whole } else { most / piece * piece };
        Cut { piece, ahead }
    }

    /// The longest piece of a message that a receive has taken, if slots hold `piece` bytes.
    pub(super) fn most(&self, piece: usize) -> usize {
        if self.slots == 0 { u32::MAX as usize } else { piece }
    }

    /// Whether a message of `whole` bytes is one piece in a slot.
    #[inline]
    pub(super) fn is_one_piece(&self, whole: usize) -> bool {
        whole < self.two_from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_all_senders_lie_side_by_side_and_fill_the_memory_named() {
        // 3 ranks × 2 slots × 128 bytes (100 rounded up to a multiple of 64).
        let tuning = Tuning { chunk: 100, slots: 2, request: 1000 };
        assert_eq!(tuning.memory(3), 768);
        let layout = Layout::new(64, &tuning, 3, 832).unwrap();
        assert!(layout.is_one_piece(128) && !layout.is_one_piece(129));
        // In the memory of rank 2: those that ranks 0 and 1 begin with.
        let in_memory_of_2 = |first: Rank| [0, 1].map(|slot| layout.place(2, first, slot));
        let own = |at| SlotAddress { own: true, at };
        assert_eq!(in_memory_of_2(0), [own(64), own(192)]);
        assert_eq!(in_memory_of_2(1), [own(320), own(448)]);
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            for slot in 0..4 {
                let (here, there) = (layout.place(a, b, slot), layout.place(b, a, slot));
                assert_eq!(here, SlotAddress { own: !there.own, ..there });
                assert_eq!(here.own, slot >= 2);
            }
        }
        let short = Layout::new(64, &tuning, 3, 831);
        assert!(matches!(
            short,
            Err(crate::CommError::NotExposed { at: 64, len: 768, exposed: 831 })
        ));
    }

    #[test]
    fn a_message_is_cut_into_as_many_equal_pieces_as_pay() {
        let layout = Layout::new(0, &Tuning::DEFAULT, 2, usize::MAX).unwrap();
        let pieces = |whole: usize| whole.div_ceil(layout.cut(whole).piece);
        // k(k + 1) · 16 KiB, and 32 KiB in a slot.
        for (before, from) in [(1, 32 << 10), (2, (64 << 10) + 1), (3, (96 << 10) + 1)] {
            assert_eq!([from - 1, from].map(pieces), [before, before + 1], "{from}");
            assert_eq!(layout.is_one_piece(from - 1), before == 1);
        }
        assert_eq!([1 << 20, 4 << 20].map(pieces), [32, 128]);
        // Half of the slots of a pair hold 1 MiB.
        assert_eq!(layout.cut(1 << 20), Cut { piece: 32 << 10, ahead: 1 << 20 });
        assert_eq!(layout.cut((1 << 20) + 3), Cut { piece: 31_808, ahead: 32 * 31_808 });
        for whole in (1..2_000_000).step_by(1013).chain([usize::MAX >> 1]) {
            let Cut { piece, ahead } = layout.cut(whole);
            assert!(piece <= 32 << 10 && (1..=whole).contains(&ahead), "{whole}");
            assert!(ahead == whole || ahead.is_multiple_of(piece), "{whole}");
        }
        let other = Tuning { chunk: 4096, slots: 4, request: 100 };
        let layout = Layout::new(0, &other, 2, usize::MAX).unwrap();
        let pieces = |whole: usize| whole.div_ceil(layout.cut(whole).piece);
        assert_eq!([199, 200, 599, 600, 1199, 1200].map(pieces), [1, 2, 2, 3, 3, 4]);
    }

    #[test]
    fn values_out_of_range_are_moved_into_it() {
        let least = Tuning { chunk: 0, slots: 1, request: 0 };
        assert_eq!(least.memory(2), 128);
        assert_eq!(Layout::new(0, &least, 2, 128).unwrap().slots, 1);
        let most = Tuning { chunk: usize::MAX, slots: usize::MAX, ..Tuning::DEFAULT };
        assert!(Layout::new(0, &most, usize::MAX, usize::MAX - 1).is_err());
        // 4 MiB hold 128 slots of 32 KiB: 32 for each of 4 ranks, and 8 for each of more than 16.
        let many = Tuning { slots: 100, ..Tuning::DEFAULT };
        let slots = [1, 4, 16, 64].map(|size| many.memory(size) / size / many.chunk);
        assert_eq!(slots, [100, 32, 8, 8]);
    }
}
