//! Anonymous memory that processes share: an in-memory file of fixed size, mapped whole.
//!
//! Invariants that the unsafe code of this crate rests on:
//! 1. `base..base + len` stays mapped, readable and writable, from creation to drop of a
//!    [`Mapping`], at one address, a multiple of the page size. Whoever keeps a pointer into it
//!    keeps the `Arc<Mapping>` too.
//! 2. The file cannot shrink: it was sealed against that before it was mapped, so no access
//!    faults, whatever a peer does with its descriptor.
//! 3. Peers write at any time. So a reference is made only to atomics, and every other access is a
//!    copy through raw pointers, by the protocols of `floor` and in `exposed`, never a `&` or `&mut` to plain bytes.
//! 4. Only offsets are shared, never pointers; an offset is computed by the reader, never read.

use core::ptr::NonNull;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::FdFlags;
use rustix::mm::{MapFlags, ProtFlags};

use crate::ShmError;
use crate::sync::AtomicU64;

const SEALS: SealFlags = SealFlags::GROW.union(SealFlags::SHRINK).union(SealFlags::SEAL);

/// A cache line of atomics, for the raw floors.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Line {
    pub(crate) sequence: AtomicU64,
    pub(crate) payload: AtomicU64,
    rest: [AtomicU64; 6],
}

/// Shared memory of fixed size, with the descriptor to hand on.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    len: usize,
    fd: OwnedFd,
}

// SAFETY: the mapping belongs to the process, not to a thread, and this type gives out atomics and
// raw pointers only (invariant 3).
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// New memory of `len` bytes, all zero. The descriptor closes on exec.
    pub(crate) fn create(name: &str, len: usize) -> Result<Self, ShmError> {
        Self::map(Self::file(name, len)?, len, MapFlags::POPULATE)
    }

    /// A sealed in-memory file.
    fn file(name: &str, len: usize) -> Result<OwnedFd, ShmError> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let fd = rustix::fs::memfd_create(name, flags)
            .map_err(ShmError::system("create shared memory"))?;
        rustix::fs::ftruncate(&fd, len as u64)
            .map_err(ShmError::system("give shared memory its size"))?;
        rustix::fs::fcntl_add_seals(&fd, SEALS).map_err(ShmError::system("seal shared memory"))?;
        Ok(fd)
    }

    /// The same, whose pages come when they are first touched: for memory of which few may be.
    pub(crate) fn create_lazily(name: &str, len: usize) -> Result<Self, ShmError> {
        Self::map(Self::file(name, len)?, len, MapFlags::empty())
    }

    /// The memory behind a descriptor that was handed to this process; what it is called in
    /// errors, and the fewest bytes it may have.
    pub(crate) fn from_fd(fd: OwnedFd, what: &'static str, least: usize) -> Result<Self, ShmError> {
        let len = Self::check(&fd, what, least)?;
        Self::map(fd, len, MapFlags::POPULATE)
    }

    /// The same for memory that was created lazily.
    pub(crate) fn from_fd_lazily(
        fd: OwnedFd,
        what: &'static str,
        least: usize,
    ) -> Result<Self, ShmError> {
        let len = Self::check(&fd, what, least)?;
        Self::map(fd, len, MapFlags::empty())
    }

    /// The length of the memory behind a descriptor.
    fn check(fd: &OwnedFd, what: &'static str, least: usize) -> Result<usize, ShmError> {
        let not_ours = |reason| ShmError::NotOurs { what, reason };
        // Only an in-memory file knows seals, so anything else ends here.
        let seals = rustix::fs::fcntl_get_seals(fd)
            .map_err(|e| not_ours(format!("it is no in-memory file ({e})")))?;
        if !seals.contains(SealFlags::SHRINK) {
            return Err(not_ours("it is not sealed, so it could shrink while in use".into()));
        }
        let stat = rustix::fs::fstat(fd).map_err(ShmError::system("look at shared memory"))?;
        let len = usize::try_from(stat.st_size).unwrap_or(0);
        if len < least {
            return Err(not_ours(format!("it has {len} bytes, and {least} are the fewest")));
        }
        Ok(len)
    }

    /// Populated now, no timed access is a page's first.
    fn map(fd: OwnedFd, len: usize, populate: MapFlags) -> Result<Self, ShmError> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | populate;
        // SAFETY: a null hint lets the kernel choose unused addresses, so no other memory of this
        // process is affected.
        let base = unsafe { rustix::mm::mmap(core::ptr::null_mut(), len, access, flags, &fd, 0) }
            .map_err(ShmError::system("map shared memory"))?;
        let base = NonNull::new(base.cast()).expect("the kernel maps nothing at address 0");
        Ok(Self { base, len, fd })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Whether the descriptor survives exec, for a child process to inherit.
    pub(crate) fn set_inheritable(&self, inheritable: bool) -> Result<(), ShmError> {
        let flags = if inheritable { FdFlags::empty() } else { FdFlags::CLOEXEC };
        rustix::io::fcntl_setfd(&self.fd, flags)
            .map_err(ShmError::system("let a child inherit shared memory"))
    }

    /// Pointer to `len` bytes at `offset`; the base is aligned to pages.
    ///
    /// # Panics
    /// They are not all inside.
    pub(crate) fn at(&self, offset: usize, len: usize) -> NonNull<u8> {
        let end = offset.checked_add(len).expect("an offset inside the mapping");
        assert!(end <= self.len, "bytes {offset}..{end} of a mapping of {}", self.len);
        // SAFETY: `offset <= len`, so the result is inside the mapping or at its end.
        unsafe { self.base.add(offset) }
    }

    /// The atomic at `offset`.
    ///
    /// # Panics
    /// It is not inside, or `offset` is no multiple of 8.
    pub(crate) fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8), "atomics are aligned");
        // SAFETY: 8 bytes inside the mapping (`at`), aligned since the base is (invariant 1), alive
        // as long as `self`, and only ever seen as an atomic (invariant 3).
        unsafe { self.at(offset, 8).cast().as_ref() }
    }

    /// The `N` cache lines at `offset`.
    ///
    /// # Panics
    /// They are not all inside, or `offset` is no multiple of a line.
    pub(crate) fn lines<const N: usize>(&self, offset: usize) -> &[Line; N] {
        assert!(offset.is_multiple_of(size_of::<Line>()), "lines are aligned");
        // SAFETY: inside the mapping (`at`), aligned since the base is (invariant 1), alive as long
        // as `self`, and only ever seen as atomics (invariant 3), for which any bytes are valid.
        unsafe { self.at(offset, N * size_of::<Line>()).cast().as_ref() }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: these are the addresses that `map` got, and nothing refers to them any more
        // (invariant 1).
        let unmapped = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len) };
        debug_assert!(unmapped.is_ok(), "a mapping can be unmapped");
    }
}
