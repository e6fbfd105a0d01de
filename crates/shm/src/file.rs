//! Files without a name, to be mapped by the processes of a run. Nothing of them stays behind, however
//! these end.
//!
//! An in-memory file (memfd) is the best: it can be sealed, and needs no file system. Where the system
//! refuses it, as a filter on system calls may, a file is made that never had a name (`O_TMPFILE`):
//! in `/dev/shm`, which is memory, or else in the directory for temporary files. It cannot be sealed,
//! so its descriptor must be kept within the run. Its space is reserved at once: a process that
//! touches a page for which a file system has no room is ended.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, MemfdFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::ShmError;

/// A file, and what it can do.
#[derive(Debug)]
pub(crate) struct Nameless {
    pub(crate) file: OwnedFd,
    /// Whether it is in memory, and takes seals.
    pub(crate) sealable: bool,
}

/// Makes a file of `len` bytes, all 0. An in-memory file has that name in listings. The descriptor
/// closes on exec.
///
/// # Errors
/// The system refused every kind.
pub(crate) fn create(name: &str, len: usize) -> Result<Nameless, ShmError> {
    let len = len as u64;
    let places = [PathBuf::from("/dev/shm"), std::env::temp_dir()];
    let in_memory = || in_memory(name);
    first_of(in_memory, |file| rustix::fs::ftruncate(file, len), &places, |at| reserved(at, len))
}

/// Makes an in-memory file of no bytes, which can be sealed and nobody can execute.
///
/// # Errors
/// The system refused.
pub(crate) fn in_memory(name: &str) -> Result<OwnedFd, Errno> {
    not_executable(|flags| rustix::fs::memfd_create(name, flags))
}

/// The file that `memfd` makes with these flags. Some systems demand to be told whether it may be
/// executed (`vm.memfd_noexec`), and those before Linux 6.3 do not know the question.
fn not_executable<F>(mut memfd: impl FnMut(MemfdFlags) -> Result<F, Errno>) -> Result<F, Errno> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    match memfd(flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => memfd(flags),
        answer => answer,
    }
}

/// The first file that can be had: from `in_memory`, with its size given, or where the system forbids
/// that, from `nameless` in one of the places.
fn first_of(
    in_memory: impl FnOnce() -> Result<OwnedFd, Errno>,
    size: impl FnOnce(&OwnedFd) -> Result<(), Errno>,
    places: &[PathBuf],
    mut nameless: impl FnMut(&Path) -> Result<OwnedFd, Errno>,
) -> Result<Nameless, ShmError> {
    let forbidden = match in_memory() {
        Ok(file) => {
            size(&file).map_err(ShmError::system("give shared memory its size"))?;
            return Ok(Nameless { file, sealable: true });
        }
        // Not for want of memory or descriptors: then nothing else can be had either.
        Err(error @ (Errno::PERM | Errno::ACCESS | Errno::NOSYS)) => error,
        Err(error) => return Err(ShmError::system("create shared memory (memfd_create)")(error)),
    };
    let mut refused = Vec::new();
    for place in places {
        match nameless(place) {
            Ok(file) => return Ok(Nameless { file, sealable: false }),
            Err(error) => refused.push(format!("a file in {}: {error}", place.display())),
        }
    }
    let reason = format!("memfd_create: {forbidden}; {}", refused.join("; "));
    Err(ShmError::system("create shared memory")(io::Error::other(reason)))
}

/// A file of `len` bytes in this directory that never has a name, with its space.
fn reserved(directory: &Path, len: u64) -> Result<OwnedFd, Errno> {
    // Exclusive: nobody can give it a name later.
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR)?;
    rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, len)?;
    Ok(file)
}

#[cfg(test)]
mod tests;
