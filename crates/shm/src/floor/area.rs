//! The shared memory of the raw floors.
//!
//! ```text
//! 0        identity
//! 384      wanted      512  ready       of the copies
//! 640      process and address of the responder's buffer
//! 768      credits of the stream
//! 4096     64 pages, each with the two lines of a place, of cache_line and cache_line_exchange
//! 266240   128 pages, two for each place, with a ring there and a ring back, of slot_ring
//! 790528   512 slots of slot_ring_stream
//! 823296   1 MiB, written and read by the copies
//! ```

use core::ptr::NonNull;
use std::os::fd::{BorrowedFd, OwnedFd};

use crate::Result;
use crate::mapping::{Line, Mapping, PAGE, SegmentKind};
use crate::places::pair_at;
use crate::sync::AtomicU64;

/// Length of the longest copy, in bytes.
pub const COPY_BYTES: usize = 1 << 20;

/// Places of lines and of rings.
pub const PLACES: usize = 64;

pub(super) const RING_SLOTS: usize = 32;
pub(super) const STREAM_SLOTS: usize = 512;

const KIND: SegmentKind = SegmentKind {
    file: "bandgap-floors",
    what: "the memory of the raw floors",
    magic: *b"bg-flor2",
    populate: true,
};
const WANTED_AT: usize = 384;
const READY_AT: usize = 512;
const SOURCE_AT: usize = 640;
const CREDITS_AT: usize = 768;
const PAIRS_AT: usize = PAGE;
const RINGS_AT: usize = PAIRS_AT + PLACES * PAGE;
const STREAM_AT: usize = RINGS_AT + 2 * PLACES * PAGE;
const BUFFER_AT: usize = STREAM_AT + STREAM_SLOTS * size_of::<Line>();
const BYTES: usize = BUFFER_AT + COPY_BYTES;

/// Where the rings of a place begin, at different offsets in their pages than those of the place
/// before.
fn rings_at(place: usize) -> [usize; 2] {
    const BETWEEN: usize = 512;
    let offsets = (PAGE - RING_SLOTS * size_of::<Line>()) / BETWEEN + 1;
    [2 * place, 2 * place + 1].map(|page| page * PAGE + page % offsets * BETWEEN)
}

/// The memory over which two ranks measure the raw floors.
pub struct FloorArea {
    mapping: Mapping,
}

impl FloorArea {
    /// Creates an area.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn create() -> Result<Self> {
        Ok(Self { mapping: Mapping::create(&KIND, BYTES, &[])? })
    }

    /// Opens the area of a descriptor that another process created and passed to this one.
    ///
    /// # Errors
    /// The descriptor does not belong to an area.
    pub fn from_fd(fd: OwnedFd) -> Result<Self> {
        Ok(Self { mapping: Mapping::from_fd(&KIND, fd, BYTES)? })
    }

    /// The descriptor, to pass to the other process. It closes on exec.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.mapping.fd()
    }

    /// The lines of the initiator and of the responder at each place.
    pub(super) fn pairs(&self) -> [[&AtomicU64; 2]; PLACES] {
        std::array::from_fn(|place| pair_at(place).map(|at| self.mapping.word(PAIRS_AT + at)))
    }

    /// Numbers of the copy that the initiator waits for, and of the last copy that is ready.
    pub(super) fn wanted_ready(&self) -> [&AtomicU64; 2] {
        [self.mapping.word(WANTED_AT), self.mapping.word(READY_AT)]
    }

    /// The responder's process, and the address of its own buffer.
    pub(super) fn source(&self) -> [&AtomicU64; 2] {
        [self.mapping.word(SOURCE_AT), self.mapping.word(SOURCE_AT + 8)]
    }

    /// The rings there and back at each place. Each has its own page, so that a processor that
    /// prefetches the lines behind one does not reach the other.
    pub(super) fn rings(&self) -> [[&[Line; RING_SLOTS]; 2]; PLACES] {
        std::array::from_fn(|place| {
            let [there, back] = rings_at(place);
            [self.mapping.lines(RINGS_AT + there), self.mapping.lines(RINGS_AT + back)]
        })
    }

    pub(super) fn stream(&self) -> (&[Line; STREAM_SLOTS], &AtomicU64) {
        (self.mapping.lines(STREAM_AT), self.mapping.word(CREDITS_AT))
    }

    /// The buffer. A protocol must ensure that only one side at a time touches a part of it.
    pub(super) fn buffer(&self) -> NonNull<u8> {
        self.mapping.at(BUFFER_AT, COPY_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_ring_lies_within_a_page_of_its_own_and_begins_all_over_it() {
        let rings: Vec<usize> = (0..PLACES).flat_map(rings_at).collect();
        let pages: BTreeSet<usize> = rings.iter().map(|at| at / PAGE).collect();
        assert_eq!((pages.len(), pages.last()), (2 * PLACES, Some(&(2 * PLACES - 1))));
        let bytes = RING_SLOTS * size_of::<Line>();
        assert!(rings.iter().all(|at| at % PAGE + bytes <= PAGE));
        // 0, 512, … 2048.
        let offsets: BTreeSet<usize> = rings.iter().map(|at| at % PAGE).collect();
        assert_eq!(offsets.len(), 5);
    }
}
