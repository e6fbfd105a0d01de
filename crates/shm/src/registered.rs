//! Memory of each rank that it alone writes, and that its peers read with one copy.
//!
//! A rank makes an in-memory file, maps it to write, and then seals it: from then on there is no write
//! through the file, by a new mapping or by a call. Its peers open the file through `/proc`, and map
//! it to read.
//!
//! ```text
//! 0      magic number, and the run's secret
//! 4096   what the rank hands out
//! ```
//!
//! Unsafe code here relies on these invariants:
//! 1. A rank's own mapping is never unmapped. One reference is made into it, to the bytes that are
//!    handed out, which is the only one while the process lives. Nobody else writes them through the
//!    file: it was sealed before any peer heard of it. A process of the same user may write any memory
//!    of this one in other ways (`process_vm_writev`, say), as it may write any other variable; ranks do
//!    not.
//! 2. From creation to drop of a [`Peer`], `base..base + len` stays mapped and readable. The file
//!    cannot shrink, so no access faults.
//! 3. The bytes of a peer are only copied, through raw pointers, into this process's own memory. A
//!    copy while the peer writes gives a mixture of old and new bytes, under the assumption stated in
//!    `exposed`: any values are valid for plain bytes, and no reference to this memory exists.

use core::ptr::{self, NonNull};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::process;

use bandgap_comm::{CommError, Rank, Rendezvous, Word};
use rustix::fs::{Mode, OFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

use crate::file;

const MAGIC: [u8; 8] = *b"bg-regi1";
const MEMORY_AT: usize = 4096;
const FIXED: SealFlags = SealFlags::GROW.union(SealFlags::SHRINK);
const READ_ONLY: SealFlags = SealFlags::FUTURE_WRITE.union(SealFlags::SEAL);

type Secret = [u8; 16];

/// The registered memory of a rank and of its peers; or why there is none.
#[derive(Debug)]
pub struct Registered(Result<Held, String>);

#[derive(Debug)]
struct Held {
    /// Until it is handed out.
    own: Option<&'static mut [u8]>,
    /// Where that begins in this process, and its length.
    begin: usize,
    len: usize,
    /// By rank; this rank's own is missing.
    peers: Vec<Option<Peer>>,
}

impl Registered {
    /// Makes `bytes` bytes of memory of this rank, and maps those of all others. Either all ranks have
    /// such memory afterwards, or none has, and all for the same reason.
    ///
    /// # Errors
    /// Whoever started the ranks is gone, or a rank told what no rank may tell.
    pub fn meet(meeting: &mut dyn Rendezvous, bytes: usize) -> Result<Self, CommError> {
        let secret = meeting.secret();
        let own = create(bytes, &secret);
        let told = match &own {
            Ok((file, _)) => format!("{} {}", process::id(), file.as_raw_fd()),
            Err(reason) => format!("{NONE}{reason}"),
        };
        let mut files = Vec::new();
        for (rank, told) in meeting.exchange(told)?.into_iter().enumerate() {
            files.push(InProcess::of(rank, &told)?);
        }
        let held = own.and_then(|(file, own)| {
            let held = Held::over(own, &files, meeting.rank(), &secret)?;
            Ok((file, held))
        });
        let verdict = held.as_ref().err().map_or(String::new(), |reason| format!("{NONE}{reason}"));
        // The files stay open until all have mapped them.
        let verdicts = meeting.exchange(verdict)?;
        let refused = verdicts.iter().find_map(|told| told.strip_prefix(NONE));
        Ok(Self(match refused {
            Some(reason) => Err(reason.to_owned()),
            None => held.map(|(_, held)| held),
        }))
    }

    /// That of `size` ranks which are threads of this process, `bytes` each.
    ///
    /// # Errors
    /// The system refused, for this reason.
    pub fn among(size: usize, bytes: usize) -> Result<Vec<Self>, String> {
        let secret = Secret::default();
        let all: Result<Vec<_>, _> = (0..size).map(|_| create(bytes, &secret)).collect();
        let (open, own): (Vec<File>, Vec<_>) = all?.into_iter().unzip();
        let process = process::id();
        let file = |file: &File| InProcess::Has { process, file: file.as_raw_fd() };
        let files: Vec<InProcess> = open.iter().map(file).collect();
        let held = own.into_iter().enumerate();
        held.map(|(rank, own)| Ok(Self(Ok(Held::over(own, &files, rank, &secret)?)))).collect()
    }

    /// Of ranks that have none, for this reason.
    pub fn forbidden(reason: String) -> Self {
        Self(Err(reason))
    }

    /// Whether there is any.
    pub(crate) fn allowed(&self) -> Result<(), &str> {
        self.0.as_ref().map(drop).map_err(String::as_str)
    }

    /// Hands out what this rank has, once.
    pub(crate) fn take(&mut self) -> Option<&'static mut [u8]> {
        self.0.as_mut().ok()?.own.take()
    }

    /// Where these bytes are in what this rank has, if they are there.
    #[inline]
    pub(crate) fn offset(&self, bytes: &[u8]) -> Option<Word> {
        let Held { begin, len, .. } = self.0.as_ref().ok()?;
        // Exposed: the compiler must have written the bytes when a request tells a peer of them.
        let at = bytes.as_ptr().expose_provenance().checked_sub(*begin)?;
        (at <= *len && bytes.len() <= len - at).then_some(at as Word)
    }

    /// Fills `into` with the bytes of `peer` from offset `at` on.
    #[inline]
    pub(crate) fn read(&self, peer: Rank, at: Word, into: &mut [u8]) -> Result<(), CommError> {
        let held = self.0.as_ref().map_err(|reason| {
            let reason = reason.clone();
            CommError::NotRegistered { reason }
        })?;
        let Some(Some(from)) = held.peers.get(peer) else {
            return Err(CommError::NoSuchPeer { peer, size: held.peers.len() });
        };
        from.read(at, into).map_err(|what| CommError::Garbage { peer, what })
    }
}

/// How a rank begins that tells why it has no memory.
const NONE: &str = "none: ";

/// What a rank tells of its file.
enum InProcess {
    /// It is this descriptor of this process.
    Has { process: u32, file: i32 },
    /// There is none, for this reason.
    HasNone(String),
}

impl InProcess {
    fn of(rank: Rank, told: &str) -> Result<Self, CommError> {
        if let Some(reason) = told.strip_prefix(NONE) {
            return Ok(Self::HasNone(reason.to_owned()));
        }
        let numbers = told.split_once(' ').and_then(|(process, file)| {
            Some(Self::Has { process: process.parse().ok()?, file: file.parse().ok()? })
        });
        numbers.ok_or_else(|| CommError::Garbage {
            peer: rank,
            what: format!("{told:?} in place of its process and a descriptor"),
        })
    }
}

impl Held {
    /// What `rank` has, with what it maps of the files of all ranks.
    fn over(
        own: &'static mut [u8],
        files: &[InProcess],
        rank: Rank,
        secret: &Secret,
    ) -> Result<Self, String> {
        let mut peers = Vec::with_capacity(files.len());
        for (peer, told) in files.iter().enumerate() {
            let refused = |why: String| format!("map memory of rank {peer} to read: {why}");
            peers.push(match told {
                InProcess::HasNone(reason) => return Err(reason.clone()),
                _ if peer == rank => None,
                InProcess::Has { process, file } => {
                    Some(Peer::map(*process, *file, own.len(), secret).map_err(refused)?)
                }
            });
        }
        let (begin, len) = (own.as_ptr().addr(), own.len());
        Ok(Self { own: Some(own), begin, len, peers })
    }
}

/// Memory of `bytes` bytes, all 0, that only this process writes, and the file that it is. A page is
/// taken when it is first touched.
///
/// # Errors
/// The system refused, for this reason.
fn create(bytes: usize, secret: &Secret) -> Result<(File, &'static mut [u8]), String> {
    let refused = |what: &'static str| move |error: rustix::io::Errno| failed(what, error.into());
    let len = MEMORY_AT + bytes.next_multiple_of(MEMORY_AT);
    let file = file::in_memory("bandgap-registered")
        .map_err(refused("create shared memory (memfd_create)"))?;
    rustix::fs::ftruncate(&file, len as u64).map_err(refused("give shared memory its size"))?;
    let file = File::from(file);
    let header = [&MAGIC[..], secret].concat();
    file.write_all_at(&header, 0).map_err(|error| failed("write to shared memory", error))?;
    rustix::fs::fcntl_add_seals(&file, FIXED).map_err(refused("seal shared memory"))?;
    let base = map(&file, len, ProtFlags::READ | ProtFlags::WRITE)?;
    rustix::fs::fcntl_add_seals(&file, READ_ONLY)
        .map_err(refused("keep others from writing shared memory (F_SEAL_FUTURE_WRITE)"))?;
    // SAFETY: `len` bytes are mapped from `base` on, to read and write, and stay mapped while the
    // process lives, as nothing unmaps them. The header is before what is handed out. These pages are
    // new, so no other reference to them exists; the file is sealed, so nobody else writes them through
    // it (invariant 1).
    let own =
        unsafe { core::slice::from_raw_parts_mut(base.add(MEMORY_AT).as_ptr(), len - MEMORY_AT) };
    Ok((file, own))
}

fn failed(what: &str, error: io::Error) -> String {
    format!("{what}: {error}")
}

/// Opens what a peer named, which may be anything: without waiting, as a FIFO would for a writer, and
/// without becoming a terminal's process.
fn open(path: &str) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Maps a file as a whole.
fn map(file: impl AsFd, len: usize, access: ProtFlags) -> Result<NonNull<u8>, String> {
    // SAFETY: with a null hint the kernel chooses unused addresses, so no other memory of this process
    // is affected.
    let base = unsafe { rustix::mm::mmap(ptr::null_mut(), len, access, MapFlags::SHARED, file, 0) };
    let base = base.map_err(|error| failed("map shared memory", error.into()))?;
    NonNull::new(base.cast()).ok_or_else(|| "map shared memory: at address 0".to_owned())
}

/// The file of a peer, mapped to read.
#[derive(Debug)]
struct Peer {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread, and is only read.
unsafe impl Send for Peer {}

impl Peer {
    /// Maps what is this descriptor in that process, if it is such memory of this run that hands out
    /// at least so many bytes: all ranks are asked for the same.
    fn map(process: u32, file: i32, least: usize, secret: &Secret) -> Result<Self, String> {
        let path = format!("/proc/{process}/fd/{file}");
        let file = open(&path).map_err(|error| failed(&path, error))?;
        // Only in-memory files have seals, so this refuses everything else.
        let seals = rustix::fs::fcntl_get_seals(&file).unwrap_or(SealFlags::empty());
        let mut header = [0; MAGIC.len() + size_of::<Secret>()];
        let read = file.read_exact_at(&mut header, 0);
        let is_ours =
            read.is_ok() && header[..MAGIC.len()] == MAGIC && header[MAGIC.len()..] == *secret;
        if !seals.contains(FIXED | READ_ONLY) || !is_ours {
            return Err(format!("{path} is not registered memory of this run"));
        }
        let len = file.metadata().map_err(|error| failed(&path, error))?.len();
        let len = usize::try_from(len).unwrap_or(0);
        // A peer with less would be found out only when a message lies beyond its end.
        if len.checked_sub(MEMORY_AT).is_none_or(|room| room < least) {
            let needed = MEMORY_AT + least;
            return Err(format!("{path} has {len} bytes, and {needed} are needed"));
        }
        Ok(Self { base: map(&file, len, ProtFlags::READ)?, len })
    }

    /// Copies out of what the peer hands out; or says why not.
    #[inline]
    fn read(&self, at: Word, into: &mut [u8]) -> Result<(), String> {
        let room = self.len - MEMORY_AT;
        let begin = usize::try_from(at).ok();
        let begin = begin.filter(|begin| *begin <= room && into.len() <= room - begin);
        let Some(begin) = begin else {
            let len = into.len();
            return Err(format!(
                "{len} bytes at offset {at} of its registered memory, of {room} bytes"
            ));
        };
        // SAFETY: `begin + into.len() <= room`, so all bytes are mapped and readable (invariant 2).
        // `into` is this process's own memory, which nothing else maps to write, so the two do not
        // overlap. The bytes are plain (invariant 3).
        unsafe {
            let from = self.base.add(MEMORY_AT + begin);
            ptr::copy_nonoverlapping(from.as_ptr(), into.as_mut_ptr(), into.len());
        }
        Ok(())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // SAFETY: `map` got these addresses, and nothing refers to them any more (invariant 3).
        let unmapped = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len) };
        debug_assert!(unmapped.is_ok(), "a mapping can be unmapped");
    }
}

#[cfg(test)]
mod tests;
