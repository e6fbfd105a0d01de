//! The shared memory of the raw floors.
//!
//! ```text
//! 0        identity
//! 128      ping        256  pong        of cache_line
//! 384      wanted      512  ready       of the copies
//! 640      process and address of the responder's buffer
//! 768      credits of the stream
//! 896      written     1024 read        of the pipeline there; 1152 and 1280 of the pipeline back
//! 1408     ping       1536  pong        of cache_line_exchange
//! 4096     64 slots there, 8192  64 slots back, of slot_ring
//! 12288    512 slots of slot_ring_stream
//! 45056    1 MiB, written and read by the copies
//! ```

use core::ptr::NonNull;
use std::os::fd::{BorrowedFd, OwnedFd};

use crate::ShmError;
use crate::mapping::{Kind, Line, Mapping};
use crate::sync::AtomicU64;

/// Length of the longest copy, in bytes.
pub const COPY_BYTES: usize = 1 << 20;

pub(super) const RING_SLOTS: usize = 64;
pub(super) const STREAM_SLOTS: usize = 512;

const KIND: Kind = Kind {
    file: "bandgap-floors",
    what: "the memory of the raw floors",
    magic: *b"bg-flor1",
    populate: true,
};
const PING_AT: usize = 128;
const PONG_AT: usize = 256;
const WANTED_AT: usize = 384;
const READY_AT: usize = 512;
const SOURCE_AT: usize = 640;
const CREDITS_AT: usize = 768;
const PIPELINES_AT: [[usize; 2]; 2] = [[896, 1024], [1152, 1280]];
const EXCHANGE_AT: [usize; 2] = [1408, 1536];
const THERE_AT: usize = 4096;
const BACK_AT: usize = 8192;
const STREAM_AT: usize = 12288;
const BUFFER_AT: usize = STREAM_AT + STREAM_SLOTS * 64;
const BYTES: usize = BUFFER_AT + COPY_BYTES;

/// The memory over which two ranks measure the raw floors.
#[derive(Debug)]
pub struct FloorArea {
    mapping: Mapping,
}

impl FloorArea {
    /// Creates an area.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn create() -> Result<Self, ShmError> {
        Ok(Self { mapping: Mapping::create(&KIND, BYTES, &[])? })
    }

    /// Opens the area behind a descriptor that another process created and passed to this one.
    ///
    /// # Errors
    /// The descriptor is not that of an area.
    pub fn from_fd(fd: OwnedFd) -> Result<Self, ShmError> {
        Ok(Self { mapping: Mapping::from_fd(&KIND, fd, BYTES)? })
    }

    /// The descriptor, to pass to the other process. It closes on exec.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.mapping.fd()
    }

    pub(super) fn ping_pong(&self) -> [&AtomicU64; 2] {
        [self.mapping.word(PING_AT), self.mapping.word(PONG_AT)]
    }

    /// The lines of the initiator and of the responder, where both store at once.
    pub(super) fn exchange(&self) -> [&AtomicU64; 2] {
        EXCHANGE_AT.map(|at| self.mapping.word(at))
    }

    /// The number of the copy that the initiator waits for, and of the last copy that is ready.
    pub(super) fn wanted_ready(&self) -> [&AtomicU64; 2] {
        [self.mapping.word(WANTED_AT), self.mapping.word(READY_AT)]
    }

    /// The responder's process, and the address of its own buffer.
    pub(super) fn source(&self) -> [&AtomicU64; 2] {
        [self.mapping.word(SOURCE_AT), self.mapping.word(SOURCE_AT + 8)]
    }

    pub(super) fn slots_there_back(&self) -> [&[Line; RING_SLOTS]; 2] {
        [self.mapping.lines(THERE_AT), self.mapping.lines(BACK_AT)]
    }

    pub(super) fn stream(&self) -> (&[Line; STREAM_SLOTS], &AtomicU64) {
        (self.mapping.lines(STREAM_AT), self.mapping.word(CREDITS_AT))
    }

    /// For each direction (there and back): the numbers of the last piece written and the last
    /// read.
    pub(super) fn pipelines(&self) -> [[&AtomicU64; 2]; 2] {
        PIPELINES_AT.map(|way| way.map(|at| self.mapping.word(at)))
    }

    /// The buffer. A protocol must ensure that only one side at a time touches a part of it.
    pub(super) fn buffer(&self) -> NonNull<u8> {
        self.mapping.at(BUFFER_AT, COPY_BYTES)
    }
}
