//! Anonymous memory that processes share: an in-memory file of fixed size, mapped as a whole.
//!
//! The unsafe code of this crate relies on these invariants:
//! 1. From creation to drop of a [`Mapping`], `base..base + len` stays mapped, readable and
//!    writable, at the same address, which is a multiple of the page size. A value that keeps a
//!    pointer into it also keeps the `Arc<Mapping>`.
//! 2. The file does not shrink. It was sealed before it was mapped, so a peer cannot shrink it
//!    through its descriptor.
//! 3. Peers may write at any time. So references are made only to atomics. Every other access is a
//!    copy through raw pointers, by the protocols of `floor` and in `exposed`; there is never a `&`
//!    or `&mut` to plain bytes.
//! 4. Pointers are never shared. Each process computes offsets itself and never reads them from
//!    shared memory.

use core::ptr::NonNull;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

use crate::sync::{AtomicU64, Ordering};
use crate::{Result, ShmError};

/// Bytes of a page, or of part of one if pages are larger.
pub(crate) const PAGE: usize = 4096;

const SEALS: SealFlags = SealFlags::GROW.union(SealFlags::SHRINK).union(SealFlags::SEAL);

/// A cache line of atomics, for the raw floors.
#[repr(C, align(64))]
pub(crate) struct Line {
    pub(crate) sequence: AtomicU64,
    pub(crate) payload: AtomicU64,
    rest: [AtomicU64; 6],
}

/// A kind of shared memory. Its first line holds the magic number and then the kind's own numbers.
pub(crate) struct SegmentKind {
    /// Name of the in-memory file.
    pub(crate) file: &'static str,
    /// What the memory is, for errors.
    pub(crate) what: &'static str,
    /// The magic number.
    pub(crate) magic: [u8; 8],
    /// Map all pages at once, so that no timed access is the first to a page. Not for memory that
    /// may be used only in part.
    pub(crate) populate: bool,
}

impl SegmentKind {
    fn not_ours(&self, reason: String) -> ShmError {
        ShmError::NotOurs { what: self.what, reason }
    }
}

const MAGIC_AT: usize = 0;

/// Offset of the kind's number with this index.
const fn number_at(index: usize) -> usize {
    MAGIC_AT + 8 + 8 * index
}

/// An empty in-memory file that can be sealed and, if the kernel supports the flag, never executed.
fn in_memory(name: &str) -> Result<OwnedFd, Errno> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    match rustix::fs::memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => rustix::fs::memfd_create(name, flags),
        answer => answer,
    }
}

/// Shared memory of fixed size, with its descriptor to pass on.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    len: usize,
    fd: OwnedFd,
}

// SAFETY: the mapping belongs to the process, not to a thread, and this type gives out only atomics
// and raw pointers (invariant 3).
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Creates memory of `len` bytes: the kind's first line with these numbers, and zeros. The
    /// descriptor closes on exec.
    pub(crate) fn create(kind: &SegmentKind, len: usize, numbers: &[usize]) -> Result<Self> {
        let fd = in_memory(kind.file)
            .map_err(ShmError::system("create shared memory (memfd_create)"))?;
        rustix::fs::ftruncate(&fd, len as u64)
            .map_err(ShmError::system("give shared memory its size"))?;
        rustix::fs::fcntl_add_seals(&fd, SEALS).map_err(ShmError::system("seal shared memory"))?;
        let mapping = Self::map(fd, len, kind)?;
        for (index, &number) in numbers.iter().enumerate() {
            mapping.word(number_at(index)).store(number as u64, Ordering::Relaxed);
        }
        mapping.word(MAGIC_AT).store(u64::from_le_bytes(kind.magic), Ordering::Release);
        Ok(mapping)
    }

    /// Opens the memory of this kind that belongs to a descriptor. It must have at least `least`
    /// bytes.
    pub(crate) fn from_fd(kind: &SegmentKind, fd: OwnedFd, least: usize) -> Result<Self> {
        let stat =
            rustix::fs::fstat(&fd).map_err(ShmError::system("read the size of shared memory"))?;
        if !rustix::fs::fcntl_get_seals(&fd).is_ok_and(|seals| seals.contains(SealFlags::SHRINK)) {
            let reason = "it is not sealed, so others could shrink it while it is in use";
            return Err(kind.not_ours(reason.into()));
        }
        let len = usize::try_from(stat.st_size).unwrap_or(0);
        if len < least {
            return Err(kind.not_ours(format!("it has {len} bytes but needs {least}")));
        }
        let mapping = Self::map(fd, len, kind)?;
        if mapping.word(MAGIC_AT).load(Ordering::Acquire) != u64::from_le_bytes(kind.magic) {
            return Err(kind.not_ours("it does not begin with the expected bytes".into()));
        }
        Ok(mapping)
    }

    /// The number with this index in the kind's first line.
    pub(crate) fn number(&self, index: usize) -> usize {
        self.word(number_at(index)).load(Ordering::Relaxed) as usize
    }

    /// Checks that the memory is as long as its own numbers say.
    pub(crate) fn check_len(&self, kind: &SegmentKind, expected: usize) -> Result<()> {
        let len = self.len;
        if len == expected {
            return Ok(());
        }
        Err(kind.not_ours(format!("it has {len} bytes, but its own numbers give {expected}")))
    }

    fn map(fd: OwnedFd, len: usize, kind: &SegmentKind) -> Result<Self> {
        if cfg!(loom) {
            panic!("the model checker's atomics cannot lie in shared memory");
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let populate = if kind.populate { MapFlags::POPULATE } else { MapFlags::empty() };
        let flags = MapFlags::SHARED | populate;
        // SAFETY: with a null hint the kernel chooses unused addresses, so no other memory of this
        // process is affected.
        let base = unsafe { rustix::mm::mmap(core::ptr::null_mut(), len, access, flags, &fd, 0) }
            .map_err(ShmError::system("map shared memory"))?;
        let base = NonNull::new(base.cast()).expect("the kernel maps nothing at address 0");
        Ok(Self { base, len, fd })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Pointer to `len` bytes at `offset`. The base is aligned to pages.
    ///
    /// # Panics
    /// They are not all inside the mapping.
    #[inline(always)]
    pub(crate) fn at(&self, offset: usize, len: usize) -> NonNull<u8> {
        let end = offset.checked_add(len).expect("an offset inside the mapping");
        assert!(end <= self.len, "bytes {offset}..{end} of a mapping of {}", self.len);
        // SAFETY: `offset <= len`, so the result is inside the mapping or at its end.
        unsafe { self.base.add(offset) }
    }

    /// The atomic at `offset`.
    ///
    /// # Panics
    /// It is not inside the mapping, or `offset` is not a multiple of 8.
    #[inline(always)]
    pub(crate) fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8), "atomics are aligned");
        // SAFETY: these are 8 bytes inside the mapping (`at`), aligned because the base is
        // (invariant 1), valid as long as `self`, and only ever accessed as an atomic (invariant
        // 3).
        unsafe { self.at(offset, 8).cast().as_ref() }
    }

    /// The `N` cache lines at `offset`.
    ///
    /// # Panics
    /// They are not all inside the mapping, or `offset` is not a multiple of a line.
    pub(crate) fn lines<const N: usize>(&self, offset: usize) -> &[Line; N] {
        assert!(offset.is_multiple_of(size_of::<Line>()), "lines are aligned");
        // SAFETY: the lines are inside the mapping (`at`), aligned because the base is (invariant
        // 1), valid as long as `self`, and only ever accessed as atomics (invariant 3), for which
        // any bytes are valid.
        unsafe { self.at(offset, N * size_of::<Line>()).cast().as_ref() }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `map` got these addresses, and nothing refers to them any more (invariant 1).
        let unmapped = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len) };
        debug_assert!(unmapped.is_ok(), "a mapping can be unmapped");
    }
}

/// The next of the descriptors that a rank inherited.
pub(crate) fn next(inherited: &mut impl Iterator<Item = OwnedFd>) -> Result<OwnedFd> {
    inherited.next().ok_or_else(nothing)
}

/// No descriptor was inherited.
pub(crate) fn nothing() -> ShmError {
    ShmError::NotOurs { what: "shared memory", reason: "none came".into() }
}

/// A descriptor of its own for the same file.
pub(crate) fn owned(descriptor: BorrowedFd<'_>) -> Result<OwnedFd> {
    descriptor.try_clone_to_owned().map_err(ShmError::system("duplicate a descriptor"))
}
