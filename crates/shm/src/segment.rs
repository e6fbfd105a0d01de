//! The shared memory of a run's rings.
//!
//! ```text
//! 0      identity line: magic, ranks, slots
//! 64     one bit for each rank that has attached
//! 4096   the ring 0→0, 0→1, … 0→(n−1), 1→0, … each:
//!            0     the receiver's counter, on a line of its own
//!            128   N slots of 64 bytes
//! ```
//! A rank's ring to itself is never written; it stands in for a peer that does not exist.
//!
//! Unsafe code here rests on the invariants of `mapping`, and on this one: a [`MappedCells`]
//! points at `ring_bytes(slots)` bytes inside the mapping that it keeps alive, aligned to a cache
//! line, which hold atomics and nothing else.

use core::ptr::NonNull;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use bandgap_comm::Rank;

use crate::ShmError;
use crate::mapping::Mapping;
use crate::ring::{Cells, Counter};
use crate::slot::{SLOT_BYTES, STEP, Sequence, Slot};
use crate::sync::Ordering;

/// Slots of a ring, where nobody asks for another number.
pub const DEFAULT_SLOTS: usize = 128;
/// Fewest slots of a ring.
pub const MIN_SLOTS: usize = 2;
/// Most slots of a ring.
pub const MAX_SLOTS: usize = 1 << 16;
/// Most ranks of a segment.
pub const MAX_RANKS: usize = 256;

const WHAT: &str = "the rings of a run";
const MAGIC: u64 = u64::from_le_bytes(*b"bg-ring1");
const MAGIC_AT: usize = 0;
const SIZE_AT: usize = 8;
const SLOTS_AT: usize = 16;
const ATTACHED_AT: usize = 64;
const RINGS_AT: usize = 4096;

/// Two lines, since processors fetch lines in pairs and the counter has another writer.
const SLOTS_IN_RING_AT: usize = 128;

const fn ring_bytes(slots: usize) -> usize {
    SLOTS_IN_RING_AT + slots * SLOT_BYTES
}

/// Bytes of a segment for `size` ranks and rings of `slots` slots: 4096 + size²·(128 + 64·slots).
///
/// # Errors
/// `size` or `slots` is out of range.
pub fn segment_bytes(size: usize, slots: usize) -> Result<usize, ShmError> {
    if !(1..=MAX_RANKS).contains(&size) {
        return Err(ShmError::Size { size });
    }
    if !slots.is_power_of_two() || !(MIN_SLOTS..=MAX_SLOTS).contains(&slots) {
        return Err(ShmError::Slots { slots });
    }
    Ok(RINGS_AT + size * size * ring_bytes(slots))
}

/// The shared memory of one run's rings. Cloning it shares it.
#[derive(Clone, Debug)]
pub struct Segment {
    mapping: Arc<Mapping>,
    size: usize,
    slots: usize,
}

impl Segment {
    /// New rings of `slots` slots (a power of two) between all pairs of `size` ranks.
    ///
    /// # Errors
    /// `size` or `slots` is out of range, or the operating system refused.
    pub fn create(size: usize, slots: usize) -> Result<Self, ShmError> {
        let mapping = Mapping::create("bandgap-rings", segment_bytes(size, slots)?)?;
        mapping.word(SIZE_AT).store(size as u64, Ordering::Relaxed);
        mapping.word(SLOTS_AT).store(slots as u64, Ordering::Relaxed);
        mapping.word(MAGIC_AT).store(MAGIC, Ordering::Release);
        Ok(Self { mapping: Arc::new(mapping), size, slots })
    }

    /// The rings behind a descriptor that another process created and handed to this one.
    ///
    /// # Errors
    /// The descriptor is not that of a segment of consistent size.
    pub fn from_fd(fd: OwnedFd) -> Result<Self, ShmError> {
        let mapping = Mapping::from_fd(fd, WHAT, RINGS_AT)?;
        let not_ours = |reason| ShmError::NotOurs { what: WHAT, reason };
        if mapping.word(MAGIC_AT).load(Ordering::Acquire) != MAGIC {
            return Err(not_ours("its first bytes are others".into()));
        }
        let size = mapping.word(SIZE_AT).load(Ordering::Relaxed) as usize;
        let slots = mapping.word(SLOTS_AT).load(Ordering::Relaxed) as usize;
        let expected = segment_bytes(size, slots)?;
        if mapping.len() != expected {
            let len = mapping.len();
            let reason = format!(
                "it has {len} bytes, and {size} ranks with rings of {slots} slots need {expected}"
            );
            return Err(not_ours(reason));
        }
        Ok(Self { mapping: Arc::new(mapping), size, slots })
    }

    /// The descriptor, to hand to the processes of the other ranks. It closes on exec.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.mapping.fd()
    }

    /// Whether the descriptor stays open in a child process that executes another program.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn set_inheritable(&self, inheritable: bool) -> Result<(), ShmError> {
        self.mapping.set_inheritable(inheritable)
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Slots of each ring.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Notes that `rank` attaches; a second time is an error, since positions start at 0.
    pub(crate) fn claim(&self, rank: Rank) -> Result<(), ShmError> {
        if rank >= self.size {
            return Err(ShmError::NoSuchRank { rank, size: self.size });
        }
        let bit = 1 << (rank % 64);
        let attached = self.mapping.word(ATTACHED_AT + rank / 64 * 8);
        if attached.fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            return Err(ShmError::Attached { rank });
        }
        Ok(())
    }

    /// The ring of requests from one rank to another; both are below `size`.
    pub(crate) fn ring(&self, from: Rank, to: Rank) -> MappedCells {
        assert!(from < self.size && to < self.size, "ranks of the run");
        let bytes = ring_bytes(self.slots);
        let offset = RINGS_AT + (from * self.size + to) * bytes;
        let base = self.mapping.at(offset, bytes);
        // SAFETY: slots follow the ring's head within its bytes (this module's invariant).
        let slots = unsafe { base.add(SLOTS_IN_RING_AT) };
        let mask = (self.slots - 1) * SLOT_BYTES;
        MappedCells { base, slots, mask, _mapping: Arc::clone(&self.mapping) }
    }
}

/// The memory of one ring of a [`Segment`].
#[derive(Debug)]
pub(crate) struct MappedCells {
    base: NonNull<u8>,
    slots: NonNull<u8>,
    /// Bytes of all slots but one: a multiple of a slot's, cut by this, stays within them.
    mask: usize,
    _mapping: Arc<Mapping>,
}

// SAFETY: the mapping is the process's, and all access goes through atomics.
unsafe impl Send for MappedCells {}

impl Cells for MappedCells {
    #[inline(always)]
    fn slots(&self) -> u64 {
        (self.mask / SLOT_BYTES + 1) as u64
    }

    #[inline(always)]
    fn slot(&self, sequence: Sequence) -> &Slot {
        // Half the sequence times the bytes of a slot; the mask also clears what was its lowest bit.
        let offset =
            (sequence.whole() as usize).wrapping_mul(SLOT_BYTES / STEP as usize) & self.mask;
        // SAFETY: `offset` is a multiple of a slot's bytes and below those of all slots, so this is
        // inside the ring (this module's invariant), aligned; a `Slot` is all atomics, and any
        // bytes are a valid one.
        unsafe { self.slots.add(offset).cast().as_ref() }
    }

    #[inline(always)]
    fn handled(&self) -> &Counter {
        // SAFETY: the counter is the ring's first line (this module's invariant); a `Counter` is an
        // atomic, and any bytes are a valid one.
        unsafe { self.base.cast().as_ref() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_ranks_take_less_than_sixteen_mebibytes() {
        // 4096 + 16² × (128 + 128 × 64) = 4096 + 256 × 8320.
        let bytes = segment_bytes(16, DEFAULT_SLOTS).unwrap();
        assert_eq!(bytes, 2_134_016);
        assert!(bytes < 16 << 20);
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        assert!(matches!(segment_bytes(0, 128), Err(ShmError::Size { size: 0 })));
        assert!(matches!(segment_bytes(257, 128), Err(ShmError::Size { size: 257 })));
        for slots in [0, 1, 3, 96, 1 << 17] {
            assert!(matches!(segment_bytes(2, slots), Err(ShmError::Slots { .. })), "{slots}");
        }
    }

    #[test]
    fn a_descriptor_handed_on_is_the_same_memory() {
        let first = Segment::create(3, 4).unwrap();
        let second = Segment::from_fd(first.fd().try_clone_to_owned().unwrap()).unwrap();
        assert_eq!((second.size(), second.slots()), (3, 4));
        first.claim(2).unwrap();
        assert!(matches!(second.claim(2), Err(ShmError::Attached { rank: 2 })));
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
        assert!(matches!(Segment::from_fd(unsealed), Err(ShmError::NotOurs { .. })));
        let device = std::fs::File::open("/dev/null").unwrap();
        assert!(matches!(Segment::from_fd(device.into()), Err(ShmError::NotOurs { .. })));
        let short = Mapping::create("short", 64).unwrap();
        let fd = short.fd().try_clone_to_owned().unwrap();
        assert!(matches!(Segment::from_fd(fd), Err(ShmError::NotOurs { .. })));
        let blank = Mapping::create("blank", 1 << 16).unwrap();
        let fd = blank.fd().try_clone_to_owned().unwrap();
        assert!(matches!(Segment::from_fd(fd), Err(ShmError::NotOurs { .. })));
    }

    #[test]
    fn a_segment_whose_numbers_do_not_fit_its_length_is_refused() {
        let segment = Segment::create(2, 4).unwrap();
        segment.mapping.word(SLOTS_AT).store(8, Ordering::Relaxed);
        let fd = segment.fd().try_clone_to_owned().unwrap();
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
    fn inheritance_is_as_asked() {
        let segment = Segment::create(2, 4).unwrap();
        let closes = || {
            rustix::io::fcntl_getfd(segment.fd()).unwrap().contains(rustix::io::FdFlags::CLOEXEC)
        };
        assert!(closes());
        segment.set_inheritable(true).unwrap();
        assert!(!closes());
        segment.set_inheritable(false).unwrap();
        assert!(closes());
    }
}
