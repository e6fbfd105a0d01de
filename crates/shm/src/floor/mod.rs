//! Raw floors: the same exchanges as over the transport, but as plain loops on bare memory.
//!
//! Two ranks call the same function with the same epoch and [`Window`](bandgap_comm::Window), one
//! as initiator and one as responder ([`Measuring`](bandgap_comm::Measuring)), over one
//! [`FloorArea`]. The initiator gets the ticks of each sample, the responder an empty list.
//!
//! Each epoch has its own range of numbers in the shared lines, so nothing needs to be reset. Use
//! an epoch only once in an area (modulo 2³²), even if it failed. Every wait asks the caller from
//! time to time whether to give up.
//!
//! These functions measure the memory system, not the transport: they have no handlers, and only
//! the flow control without which the data would be wrong.

mod apart;
mod area;
mod cache_line;
mod copy;
mod ring_lines;
mod slot_ring;
mod stream;
mod turn;

use std::borrow::Cow::Borrowed;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use bandgap_comm::Yields::{Bytes, BytesEachWay, HalfRoundTrip, Operation};
use bandgap_comm::{Bare, CommError, Floor, Measuring, Rendezvous, Timer};

pub use apart::LineApart;
pub use area::{COPY_BYTES, FloorArea, PLACES};
pub use cache_line::{cache_line, cache_line_exchange};
pub use copy::{copy_cross_core, copy_local, copy_vm_readv, store_cross_core};
pub use ring_lines::{PARTS, local_lines, ring_lines};
pub use slot_ring::slot_ring;
pub use stream::slot_ring_stream;

use crate::mapping::{next, nothing, owned};
use crate::{Segment, ShmError, other_process};

/// Ticks of each sample; empty on the responder.
pub type Ticks = Result<Vec<u64>, ShmError>;

/// Bytes of a copy whose name does not say.
const SHORT: u64 = 64 << 10;
/// Bytes of a long copy.
const LONG: u64 = 1 << 20;
/// Longest wait for a system call that may be refused: its other side waits in vain.
const REFUSED: Duration = Duration::from_secs(1);

/// The place of the ring's own lines among the floors.
pub(crate) const RING_LINES: usize = 1;

/// Floors and layers, in the order of the tables. A long message is copied once at least. A get is a copy out of memory
/// that the other core wrote, and a store one into memory that the other core read.
#[rustfmt::skip] // One line each.
pub(crate) const FLOORS: &[Floor] = &[
    Floor::new("cache_line", "one store seen by the other core, half round trip", HalfRoundTrip, 160).samples(PLACES as u32).compared(&["signature", "echo", "comms1"]),
    Floor::new("ring_lines", "one store each way in a line of the transport's own ring", HalfRoundTrip, 1280).samples(PARTS as u32),
    Floor::new("active_message", "request and reply through handlers, half round trip", HalfRoundTrip, 500).layer(&[Borrowed("ring_lines"), Borrowed("cache_line")], "ping_pong"),
    Floor::new("message", "8-byte message sent and received, half round trip", HalfRoundTrip, 500).layer(&[Borrowed("active_message")], "comms1"),
    Floor::new("cache_line_exchange", "one store each way at once, seen by both, time each", Operation, 160).samples(PLACES as u32).compared(&["synch1", "barrier", "comms2", "exchange"]),
    Floor::new("barrier", "barrier of two ranks, time each", Operation, 500).layer(&[Borrowed("cache_line_exchange")], "synch1"),
    Floor::new("slot_ring", "64-byte slot each way, half round trip", HalfRoundTrip, 160).samples(PLACES as u32),
    Floor::new("slot_ring_stream", "8-byte messages one way, time each", Operation, 8192),
    Floor::new("active_message_stream", "requests without replies, time each", Operation, 8192).layer(&[Borrowed("slot_ring_stream")], "request_stream"),
    Floor::new("copy_local", "memory copy on one core", Bytes(SHORT), 16),
    Floor::new("copy_cross_core", "memory copy of what the other core wrote", Bytes(SHORT), 1).compared(&["bulk_get"]),
    Floor::new("bulk_get", "get of 64 KiB of the peer's memory", Bytes(SHORT), 1).layer(&[Borrowed("copy_cross_core")], "get"),
    Floor::new("copy_cross_core_1mib", "copy of 1 MiB that the other core wrote", Bytes(LONG), 1).compared(&["echo", "comms1", "bulk_get"]),
    Floor::new("bulk_get_1mib", "get of 1 MiB of the peer's memory", Bytes(LONG), 1).layer(&[Borrowed("copy_cross_core_1mib")], "get"),
    Floor::new("store_cross_core", "memory copy to where the other core reads", Bytes(SHORT), 1).compared(&["bulk_store"]),
    Floor::new("bulk_store", "store of 64 KiB into the peer's memory", Bytes(SHORT), 1).layer(&[Borrowed("store_cross_core")], "store"),
    Floor::new("store_cross_core_1mib", "copy of 1 MiB to where the other core reads", Bytes(LONG), 1).compared(&["bulk_store"]),
    Floor::new("bulk_store_1mib", "store of 1 MiB into the peer's memory", Bytes(LONG), 1).layer(&[Borrowed("store_cross_core_1mib")], "store"),
    Floor::new("copy_vm_readv", "copy out of the other process by the kernel", Bytes(SHORT), 1),
    Floor::new("copy_vm_readv_1mib", "copy of 1 MiB out of the other process by the kernel", Bytes(LONG), 1),
    Floor::new("message_64kib", "64 KiB message sent and received, half round trip", BytesEachWay(SHORT), 4).layer(&[Borrowed("copy_vm_readv")], "comms1"),
    Floor::new("message_1mib", "1 MiB message sent and received, half round trip", BytesEachWay(LONG), 1).layer(&[Borrowed("copy_vm_readv_1mib")], "comms1"),
];

/// One rank's hold of the memory that the floors are measured over.
pub struct Lines {
    area: FloorArea,
    rings: Segment,
    epoch: u64,
}

impl Bare for Lines {
    const NAME: &'static str = "shm";
    const FLOORS: &'static [Floor] = FLOORS;

    fn prepare(own: &[OwnedFd]) -> Result<Vec<OwnedFd>, CommError> {
        let rings = own.first().ok_or_else(nothing)?;
        Ok(vec![owned(FloorArea::create()?.fd())?, owned(rings.as_fd())?])
    }

    /// From now on other ranks may read this process's memory.
    fn connect(inherited: Vec<OwnedFd>, _meeting: &mut Rendezvous<'_>) -> Result<Self, CommError> {
        let mut inherited = inherited.into_iter();
        let area = FloorArea::from_fd(next(&mut inherited)?)?;
        let rings = Segment::from_fd(next(&mut inherited)?)?;
        other_process::allow_reading();
        Ok(Self { area, rings, epoch: 0 })
    }

    fn measure(
        &mut self,
        floor: &str,
        bytes: usize,
        with: &Measuring<'_, impl Timer>,
    ) -> Result<Vec<u64>, CommError> {
        self.epoch += 1;
        let (area, epoch) = (&self.area, self.epoch);
        if bytes > COPY_BYTES {
            return Err(unavailable(format!("{bytes} bytes: at most {COPY_BYTES} are possible")));
        }
        let ticks = match floor.strip_suffix("_1mib").unwrap_or(floor) {
            "cache_line" => cache_line(area, epoch, with),
            "cache_line_exchange" => cache_line_exchange(area, epoch, with),
            "ring_lines" => ring_lines(&self.rings, epoch, with),
            "slot_ring" => slot_ring(area, epoch, with),
            "slot_ring_stream" => slot_ring_stream(area, epoch, with),
            "copy_cross_core" => copy_cross_core(area, epoch, bytes, with),
            "store_cross_core" => store_cross_core(area, epoch, bytes, with),
            "copy_local" => copy_local(bytes, with),
            "copy_vm_readv" => {
                let with = Measuring { patience: REFUSED, ..*with };
                return copy_vm_readv(area, epoch, bytes, other_process::read, &with)
                    .map_err(refused_unless_wrong);
            }
            _ => return Err(unavailable("memory has no such floor".to_owned())),
        };
        ticks.map_err(failed)
    }
}

/// A call that is refused, or whose other side waits in vain, is not available; wrong bytes are wrong.
fn refused_unless_wrong(error: ShmError) -> CommError {
    match error {
        wrong @ ShmError::WrongData { .. } => failed(wrong),
        refused => unavailable(refused.to_string()),
    }
}

/// One that waited in vain may be the consequence of another failure.
fn failed(error: ShmError) -> CommError {
    CommError::Connect(Box::new(error))
}

fn unavailable(reason: String) -> CommError {
    CommError::Unavailable { reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_bytes_are_no_refusal() {
        let wrong = refused_unless_wrong(ShmError::WrongData { floor: "copy_vm_readv", at: 3 });
        assert!(!matches!(wrong, CommError::Unavailable { .. }), "{wrong}");
        let refused = refused_unless_wrong(ShmError::GaveUp("copy_vm_readv"));
        assert!(matches!(refused, CommError::Unavailable { .. }), "{refused}");
    }
}
