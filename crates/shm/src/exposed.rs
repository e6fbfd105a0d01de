//! Memory that every rank exposes to all others. The rank that starts a transfer writes or reads it
//! with one copy.
//!
//! ```text
//! 0      identity line: magic, ranks, bytes of each rank
//! 4096   the memory of rank 0, of rank 1, …
//! ```
//!
//! Unsafe code here relies on the invariants of `mapping`, and on this one: the exposed bytes are
//! only copied, to and from this process's own memory or each other, and no reference to them
//! exists.
//!
//! The copies are ordinary ones, of a length unknown at compile time: calls of the C library's
//! `memcpy` and `memmove`. A peer may write meanwhile. Here, as with all memory that another
//! process writes, more is assumed than the language promises: that such a copy reads each byte and
//! yields a value that was there before, after, or in between. So a copy during a write of a peer
//! yields a mixture of old and new bytes, as [`bandgap_comm::Bulk`] says, and any values are valid
//! for bytes. No decision depends on the copied bytes: lengths and places come from messages and
//! are checked before. A program that orders its transfers by messages never sees this: what a rank
//! stored before it sent a request (release) is there when the request has been received (acquire).
//!
//! Rejected: relaxed atomics, which the language does define. Compilers move them one by one, so a
//! copy of 4 KiB needs 3.5 times the instructions of `memcpy`, which the floors of memory use.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::ptr;
use std::sync::Arc;

use bandgap_comm::{CommError, Rank, Result, exposed_range};

use crate::ShmError;
use crate::limits::MAX_EXPOSED;
use crate::mapping::{Mapping, SegmentKind};

const KIND: SegmentKind = SegmentKind {
    file: "bandgap-exposed",
    what: "the exposed memory of a run",
    magic: *b"bg-expo1",
    populate: false,
};
const MEMORY_AT: usize = 4096;

/// The exposed memory of all ranks of a run. A clone shares it.
#[derive(Clone, Debug)]
pub struct Exposed {
    mapping: Arc<Mapping>,
    size: usize,
    bytes: usize,
}

fn total(size: usize, bytes: usize) -> Result<usize, ShmError> {
    ShmError::check_size(size)?;
    if bytes > MAX_EXPOSED || !bytes.is_multiple_of(4096) {
        return Err(ShmError::Exposed(bytes));
    }
    Ok(MEMORY_AT + size * bytes)
}

impl Exposed {
    /// Creates memory, `bytes` for each of `size` ranks, all zero. A page uses memory only once it
    /// is touched.
    ///
    /// # Errors
    /// `size` or `bytes` (a multiple of 4096, at most [`MAX_EXPOSED`]) is out of range, or the
    /// operating system refused.
    pub fn create(size: usize, bytes: usize) -> Result<Self, ShmError> {
        let mapping = Mapping::create(&KIND, total(size, bytes)?, &[size, bytes])?;
        Ok(Self { mapping: Arc::new(mapping), size, bytes })
    }

    /// Opens the memory of a descriptor that another process created and passed to this one.
    ///
    /// # Errors
    /// The descriptor does not belong to exposed memory, or the memory's numbers do not fit its
    /// length.
    pub fn from_fd(fd: OwnedFd) -> Result<Self, ShmError> {
        let mapping = Mapping::from_fd(&KIND, fd, MEMORY_AT)?;
        let (size, bytes) = (mapping.number(0), mapping.number(1));
        mapping.check_len(&KIND, total(size, bytes)?)?;
        Ok(Self { mapping: Arc::new(mapping), size, bytes })
    }

    /// The descriptor, to pass to the processes of the other ranks. It closes on exec.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.mapping.fd()
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Number of bytes of each rank.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Pointer to `len` bytes of a rank from offset `at` on, checked to be inside.
    #[inline(always)]
    fn at(&self, rank: Rank, at: usize, len: usize) -> Result<*mut u8> {
        if rank >= self.size {
            return Err(CommError::NoSuchPeer { peer: rank, size: self.size });
        }
        let range = exposed_range(self.bytes, at, len)?;
        Ok(self.mapping.at(MEMORY_AT + rank * self.bytes + range.start, len).as_ptr())
    }

    /// Copies from a rank's memory.
    #[inline(always)]
    pub(crate) fn read(&self, rank: Rank, at: usize, into: &mut [u8]) -> Result<()> {
        let from = self.at(rank, at, into.len())?;
        // SAFETY: `from` points to `into.len()` mapped plain bytes (`at`), and `into` is this
        // process's own memory, so the two do not overlap. Peers may write the bytes (see above).
        unsafe { ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// Copies to a rank's memory.
    #[inline(always)]
    pub(crate) fn write(&self, rank: Rank, at: usize, from: &[u8]) -> Result<()> {
        let into = self.at(rank, at, from.len())?;
        // SAFETY: as in `read`, the other way.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), into, from.len()) };
        Ok(())
    }

    /// Copies from one rank's memory to another's.
    #[inline]
    pub(crate) fn copy(&self, from: (Rank, usize), into: (Rank, usize), len: usize) -> Result<()> {
        let source = self.at(from.0, from.1, len)?;
        let target = self.at(into.0, into.1, len)?;
        // SAFETY: both point to `len` mapped bytes (`at`). They may overlap, which `copy` allows.
        unsafe { ptr::copy(source, target, len) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_process_writes_the_other_reads_and_nothing_beside_it_changes() {
        let here = Exposed::create(3, 8192).unwrap();
        let there = Exposed::from_fd(here.fd().try_clone_to_owned().unwrap()).unwrap();
        assert_eq!((there.size(), there.bytes()), (3, 8192));
        here.write(1, 8190, &[7, 8]).unwrap();
        let mut around = [9; 4];
        there.read(1, 8188, &mut around).unwrap();
        assert_eq!(around, [0, 0, 7, 8]);
        there.read(2, 0, &mut around).unwrap();
        assert_eq!(around, [0; 4]);
        there.copy((1, 8190), (0, 1), 2).unwrap();
        here.read(0, 0, &mut around).unwrap();
        assert_eq!(around, [0, 7, 8, 0]);
    }

    #[test]
    fn ranges_that_are_not_exposed_are_refused() {
        let memory = Exposed::create(2, 4096).unwrap();
        for (at, len) in [(4096, 1), (4090, 7), (usize::MAX, 2)] {
            let mut into = vec![0; len];
            assert!(matches!(
                memory.read(0, at, &mut into),
                Err(CommError::NotExposed { exposed: 4096, .. })
            ));
            assert!(matches!(memory.write(1, at, &into), Err(CommError::NotExposed { .. })));
        }
        assert!(matches!(memory.write(2, 0, &[1]), Err(CommError::NoSuchPeer { .. })));
        assert!(memory.write(1, 4096, &[]).is_ok());
    }

    #[test]
    fn sizes_out_of_range_and_other_memory_are_refused() {
        assert!(matches!(Exposed::create(0, 4096), Err(ShmError::Size(0))));
        assert!(matches!(Exposed::create(2, 100), Err(ShmError::Exposed(100))));
        let most = MAX_EXPOSED + 4096;
        assert!(matches!(Exposed::create(2, most), Err(ShmError::Exposed(_))));
        let rings = crate::Segment::create(2, 4).unwrap();
        let fd = rings.fd().try_clone_to_owned().unwrap();
        assert!(matches!(Exposed::from_fd(fd), Err(ShmError::NotOurs { .. })));
    }
}
