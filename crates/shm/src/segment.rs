//! The shared memory of a run's rings.
//!
//! ```text
//! 0      identity line: magic, ranks, slots
//! 64     one bit for each rank that has attached
//! 4096   the ring 0→0, 0→1, … 0→(n−1), 1→0, … each:
//!            0     the receiver's counter, on a line of its own
//!            128   the sender's signals, likewise
//!            256   N slots of 64 bytes; the last two words of a slot are in no message, and a floor uses them
//! ```
//! A rank's ring to itself is never written; it stands in for a peer that does not exist.
//!
//! Unsafe code here relies on the invariants of `mapping`, and on this one: a [`MappedCells`]
//! points to `ring_bytes(slots)` bytes inside the mapping that it keeps alive. They are aligned to
//! a cache line and hold only atomics.

use core::ptr::NonNull;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use bandgap_comm::Rank;

use crate::limits::{MAX_SLOTS, MIN_SLOTS};
use crate::mapping::{Mapping, SegmentKind};
use crate::ring::{Cells, Counter};
use crate::slot::{SLOT_BYTES, SPARE_IN_SLOT, STEP, Sequence, Slot};
use crate::sync::{AtomicU64, Ordering};
use crate::{Result, ShmError};

const KIND: SegmentKind = SegmentKind {
    file: "bandgap-rings",
    what: "the rings of a run",
    magic: *b"bg-ring3",
    populate: true,
};
const ATTACHED_AT: usize = 64;
const RINGS_AT: usize = 4096;

/// Two lines each, since processors fetch lines in pairs, and another rank writes the counter.
const SIGNALS_IN_RING_AT: usize = 128;
const SLOTS_IN_RING_AT: usize = 256;

const fn ring_bytes(slots: usize) -> usize {
    SLOTS_IN_RING_AT + slots * SLOT_BYTES
}

/// Bytes of a segment for `size` ranks with rings of `slots` slots: 4096 + size²·(256 + 64·slots).
pub(crate) fn segment_bytes(size: usize, slots: usize) -> Result<usize> {
    ShmError::check_size(size)?;
    if !slots.is_power_of_two() || !(MIN_SLOTS..=MAX_SLOTS).contains(&slots) {
        return Err(ShmError::Slots(slots));
    }
    Ok(RINGS_AT + size * size * ring_bytes(slots))
}

/// The shared memory of a run's rings. A clone shares it.
pub struct Segment {
    mapping: Arc<Mapping>,
    size: usize,
    slots: usize,
}

impl Segment {
    /// Creates rings of `slots` slots (a power of two) between all pairs of `size` ranks.
    ///
    /// # Errors
    /// `size` or `slots` is out of range, or the operating system refused.
    pub fn create(size: usize, slots: usize) -> Result<Self> {
        let mapping = Mapping::create(&KIND, segment_bytes(size, slots)?, &[size, slots])?;
        Ok(Self { mapping: Arc::new(mapping), size, slots })
    }

    /// Opens the rings of a descriptor that another process created and passed to this one.
    ///
    /// # Errors
    /// The descriptor does not belong to a segment, or the segment's numbers do not fit its length.
    pub fn from_fd(fd: OwnedFd) -> Result<Self> {
        let mapping = Mapping::from_fd(&KIND, fd, RINGS_AT)?;
        let (size, slots) = (mapping.number(0), mapping.number(1));
        mapping.check_len(&KIND, segment_bytes(size, slots)?)?;
        Ok(Self { mapping: Arc::new(mapping), size, slots })
    }

    /// The descriptor, to pass to the processes of the other ranks. It closes on exec.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.mapping.fd()
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Slots of each ring.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Notes that `rank` attaches. A second time is an error, since a rank's positions start at 0.
    pub(crate) fn claim(&self, rank: Rank) -> Result<()> {
        if rank >= self.size {
            return Err(ShmError::NoSuchRank { rank, size: self.size });
        }
        let bit = 1 << (rank % 64);
        let attached = self.mapping.word(ATTACHED_AT + rank / 64 * 8);
        if attached.fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            return Err(ShmError::Attached(rank));
        }
        Ok(())
    }

    /// The memory itself.
    pub(crate) fn mapping(&self) -> Arc<Mapping> {
        Arc::clone(&self.mapping)
    }

    /// Offset of the signals of one rank to another.
    pub(crate) fn signals_at(&self, from: Rank, to: Rank) -> usize {
        self.ring_at(from, to) + SIGNALS_IN_RING_AT
    }

    /// Offset of the ring of requests from one rank to another. Both must be below `size`.
    fn ring_at(&self, from: Rank, to: Rank) -> usize {
        assert!(from < self.size && to < self.size, "ranks of the run");
        RINGS_AT + (from * self.size + to) * ring_bytes(self.slots)
    }

    /// Two words of each slot of the ring from one rank to another that no message uses. Writing
    /// them moves the line and changes nothing in the ring. Both ranks must be below `size`.
    pub(crate) fn spare_words(&self, from: Rank, to: Rank) -> Vec<[&AtomicU64; 2]> {
        let slots = self.ring_at(from, to) + SLOTS_IN_RING_AT;
        let in_slot =
            |slot| SPARE_IN_SLOT.map(|at| self.mapping.word(slots + slot * SLOT_BYTES + at));
        (0..self.slots).map(in_slot).collect()
    }

    /// The ring of requests from one rank to another. Both must be below `size`.
    pub(crate) fn ring(&self, from: Rank, to: Rank) -> MappedCells {
        let base = self.mapping.at(self.ring_at(from, to), ring_bytes(self.slots));
        // SAFETY: the slots follow the counter within the ring's bytes (this module's invariant).
        let slots = unsafe { base.add(SLOTS_IN_RING_AT) };
        let mask = (self.slots - 1) * SLOT_BYTES;
        MappedCells { base, slots, mask, _mapping: Arc::clone(&self.mapping) }
    }
}

/// The memory of one ring of a [`Segment`].
pub(crate) struct MappedCells {
    base: NonNull<u8>,
    slots: NonNull<u8>,
    /// Bytes of all slots minus those of one: masks a multiple of a slot's bytes to an offset
    /// within the slots.
    mask: usize,
    _mapping: Arc<Mapping>,
}

// SAFETY: the mapping belongs to the process, and every access goes through atomics.
unsafe impl Send for MappedCells {}

impl Cells for MappedCells {
    #[inline(always)]
    fn slots(&self) -> u64 {
        (self.mask / SLOT_BYTES + 1) as u64
    }

    #[inline(always)]
    fn slot(&self, sequence: Sequence) -> &Slot {
        // The sequence over its step, times the bytes of a slot. The mask also clears the low bits,
        // which say what the message is.
        let offset = (sequence.whole() as usize / (STEP as usize / SLOT_BYTES)) & self.mask;
        // SAFETY: `offset` is a multiple of a slot's bytes and below the bytes of all slots, so the
        // slot is aligned and inside the ring (this module's invariant). A `Slot` consists of
        // atomics, and any bytes are a valid one.
        unsafe { self.slots.add(offset).cast().as_ref() }
    }

    #[inline(always)]
    fn handled(&self) -> &Counter {
        // SAFETY: the counter is the ring's first line (this module's invariant). A `Counter` is an
        // atomic, and any bytes are a valid one.
        unsafe { self.base.cast().as_ref() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::DEFAULT_SLOTS;

    #[test]
    fn sixteen_ranks_take_less_than_sixteen_mebibytes() {
        // 4096 + 16² × (256 + 128 × 64) = 4096 + 256 × 8448.
        let bytes = segment_bytes(16, DEFAULT_SLOTS).unwrap();
        assert_eq!(bytes, 2_166_784);
        assert!(bytes < 16 << 20);
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        assert!(matches!(segment_bytes(0, 128), Err(ShmError::Size(0))));
        assert!(matches!(segment_bytes(257, 128), Err(ShmError::Size(257))));
        for slots in [0, 1, 3, 96, 1 << 17] {
            assert!(matches!(segment_bytes(2, slots), Err(ShmError::Slots(_))), "{slots}");
        }
    }

    #[test]
    fn a_descriptor_handed_on_is_the_same_memory() {
        let first = Segment::create(3, 4).unwrap();
        let second = Segment::from_fd(first.fd().try_clone_to_owned().unwrap()).unwrap();
        assert_eq!((second.size(), second.slots()), (3, 4));
        first.claim(2).unwrap();
        assert!(matches!(second.claim(2), Err(ShmError::Attached(2))));
        second.claim(1).unwrap();
        assert!(matches!(second.claim(3), Err(ShmError::NoSuchRank { rank: 3, size: 3 })));
    }

    #[test]
    fn the_file_cannot_shrink_under_a_peer() {
        let segment = Segment::create(2, 4).unwrap();
        assert!(rustix::fs::ftruncate(segment.fd(), 0).is_err());
        assert!(rustix::fs::ftruncate(segment.fd(), 1 << 30).is_err());
    }

    #[test]
    fn other_files_are_refused() {
        use rustix::fs::{MemfdFlags, memfd_create};
        let unsealed = memfd_create("other", MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&unsealed, 1 << 20).unwrap();
        assert!(matches!(Segment::from_fd(unsealed), Err(ShmError::NotOurs { .. })));
        let device = std::fs::File::open("/dev/null").unwrap();
        assert!(matches!(Segment::from_fd(device.into()), Err(ShmError::NotOurs { .. })));
        let other = SegmentKind { magic: *b"bg-other", ..KIND };
        for (kind, len) in [(&KIND, 64), (&other, 1 << 16)] {
            let memory = Mapping::create(kind, len, &[2, 4]).unwrap();
            let fd = memory.fd().try_clone_to_owned().unwrap();
            assert!(matches!(Segment::from_fd(fd), Err(ShmError::NotOurs { .. })), "{len}");
        }
    }

    #[test]
    fn a_segment_whose_numbers_do_not_fit_its_length_is_refused() {
        let len = segment_bytes(2, 4).unwrap();
        let memory = Mapping::create(&KIND, len, &[2, 8]).unwrap();
        let fd = memory.fd().try_clone_to_owned().unwrap();
        assert!(matches!(Segment::from_fd(fd), Err(ShmError::NotOurs { .. })));
    }

    #[test]
    fn rings_do_not_overlap() {
        let segment = Segment::create(3, 8).unwrap();
        let mut starts: Vec<usize> = (0..3)
            .flat_map(|from| (0..3).map(move |to| (from, to)))
            .map(|(from, to)| segment.ring(from, to).base.as_ptr() as usize)
            .collect();
        starts.sort_unstable();
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= ring_bytes(8)));
        assert!(starts.iter().all(|start| start % SLOT_BYTES == 0));
    }

    #[test]
    fn the_descriptor_closes_on_exec() {
        let segment = Segment::create(2, 4).unwrap();
        let flags = rustix::io::fcntl_getfd(segment.fd()).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    }
}
