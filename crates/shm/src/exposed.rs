//! Memory that every rank exposes to all others: written and read with one copy, by whoever
//! starts the transfer.
//!
//! ```text
//! 0      identity line: magic, ranks, bytes of each rank
//! 4096   the memory of rank 0, of rank 1, …
//! ```
//!
//! Unsafe code here rests on the invariants of `mapping`, and on this one: between the ranks' bytes
//! and memory of this process bytes are copied, and nothing else is done with them. A copy while a
//! peer writes gives a mixture of old and new bytes, as [`bandgap_comm::Bulk`] says; they are plain
//! bytes, of which any values are valid, in memory to which no reference exists.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::ptr;
use std::sync::Arc;

use bandgap_comm::{CommError, Rank, exposed_range};

use crate::mapping::Mapping;
use crate::sync::Ordering;
use crate::{MAX_RANKS, ShmError};

/// Most bytes that each rank can expose.
pub const MAX_EXPOSED: usize = 1 << 30;

const WHAT: &str = "the exposed memory of a run";
const MAGIC: u64 = u64::from_le_bytes(*b"bg-expo1");
const MAGIC_AT: usize = 0;
const SIZE_AT: usize = 8;
const BYTES_AT: usize = 16;
const MEMORY_AT: usize = 4096;

/// The exposed memory of all ranks of a run. Cloning it shares it.
#[derive(Clone, Debug)]
pub struct Exposed {
    mapping: Arc<Mapping>,
    size: usize,
    bytes: usize,
}

fn total(size: usize, bytes: usize) -> Result<usize, ShmError> {
    if !(1..=MAX_RANKS).contains(&size) {
        return Err(ShmError::Size { size });
    }
    if bytes > MAX_EXPOSED || !bytes.is_multiple_of(4096) {
        return Err(ShmError::Exposed { bytes });
    }
    Ok(MEMORY_AT + size * bytes)
}

impl Exposed {
    /// New memory, `bytes` for each of `size` ranks, all zero. A page takes memory once it is
    /// touched.
    ///
    /// # Errors
    /// `size` or `bytes` (a multiple of 4096, at most [`MAX_EXPOSED`]) is out of range, or the
    /// operating system refused.
    pub fn create(size: usize, bytes: usize) -> Result<Self, ShmError> {
        let mapping = Mapping::create_lazily("bandgap-exposed", total(size, bytes)?)?;
        mapping.word(SIZE_AT).store(size as u64, Ordering::Relaxed);
        mapping.word(BYTES_AT).store(bytes as u64, Ordering::Relaxed);
        mapping.word(MAGIC_AT).store(MAGIC, Ordering::Release);
        Ok(Self { mapping: Arc::new(mapping), size, bytes })
    }

    /// The memory behind a descriptor that another process created and handed to this one.
    ///
    /// # Errors
    /// The descriptor is not that of exposed memory of consistent size.
    pub fn from_fd(fd: OwnedFd) -> Result<Self, ShmError> {
        let mapping = Mapping::from_fd_lazily(fd, WHAT, MEMORY_AT)?;
        let not_ours = |reason| ShmError::NotOurs { what: WHAT, reason };
        if mapping.word(MAGIC_AT).load(Ordering::Acquire) != MAGIC {
            return Err(not_ours("its first bytes are others".into()));
        }
        let size = mapping.word(SIZE_AT).load(Ordering::Relaxed) as usize;
        let bytes = mapping.word(BYTES_AT).load(Ordering::Relaxed) as usize;
        let (len, expected) = (mapping.len(), total(size, bytes)?);
        if len != expected {
            return Err(not_ours(format!(
                "it has {len} bytes, and {size} ranks with {bytes} bytes each need {expected}"
            )));
        }
        Ok(Self { mapping: Arc::new(mapping), size, bytes })
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

    /// Bytes of each rank.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Pointer to a range of a rank's bytes, all of them inside.
    #[inline]
    fn at(&self, rank: Rank, at: usize, len: usize) -> Result<*mut u8, CommError> {
        if rank >= self.size {
            return Err(CommError::NoSuchPeer { peer: rank, size: self.size });
        }
        let range = exposed_range(self.bytes, at, len)?;
        Ok(self.mapping.at(MEMORY_AT + rank * self.bytes + range.start, len).as_ptr())
    }

    /// Copies out of a rank's memory.
    #[inline]
    pub(crate) fn read(&self, rank: Rank, at: usize, into: &mut [u8]) -> Result<(), CommError> {
        let from = self.at(rank, at, into.len())?;
        // SAFETY: `from` points at `into.len()` mapped bytes (`at`), `into` is this process's own
        // memory and so elsewhere; plain bytes (this module's invariant).
        unsafe { ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// Copies into a rank's memory.
    #[inline]
    pub(crate) fn write(&self, rank: Rank, at: usize, from: &[u8]) -> Result<(), CommError> {
        let into = self.at(rank, at, from.len())?;
        // SAFETY: as in `read`, the other way.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), into, from.len()) };
        Ok(())
    }

    /// Copies from one rank's memory to another's.
    #[inline]
    pub(crate) fn copy(
        &self,
        from: (Rank, usize),
        into: (Rank, usize),
        len: usize,
    ) -> Result<(), CommError> {
        let source = self.at(from.0, from.1, len)?;
        let target = self.at(into.0, into.1, len)?;
        // SAFETY: both point at `len` mapped bytes (`at`); they may overlap, which `copy` allows.
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
        assert!(matches!(Exposed::create(0, 4096), Err(ShmError::Size { size: 0 })));
        assert!(matches!(Exposed::create(2, 100), Err(ShmError::Exposed { bytes: 100 })));
        let most = MAX_EXPOSED + 4096;
        assert!(matches!(Exposed::create(2, most), Err(ShmError::Exposed { .. })));
        let rings = crate::Segment::create(2, 4).unwrap();
        let fd = rings.fd().try_clone_to_owned().unwrap();
        assert!(matches!(Exposed::from_fd(fd), Err(ShmError::NotOurs { .. })));
    }
}
