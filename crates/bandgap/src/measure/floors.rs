//! The floors of this machine, and how near bandgap's own layers come to them.
//!
//! All are measured in rounds, interleaved in shuffled order and each between two placement
//! probes, so that a ratio compares neighbours in time and in the same state. Here: which there
//! are; below: how two ranks measure them.

mod batch;
mod bench;
mod command;
mod follower;
mod leader;
mod rank;
mod ticks;

use bandgap_kernels::Kernel;
use bandgap_socket::floor as socket;
use serde::{Deserialize, Serialize};

pub use rank::rank;

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloorPlan {
    /// Indices into [`FLOORS`].
    pub floors: Vec<usize>,
    /// Half-width of an interval over its estimate at which a floor is done.
    pub precision: f64,
    /// Confidence level of intervals.
    pub confidence: f64,
    /// Time for all, in seconds.
    pub budget: f64,
    /// Time between rounds, in seconds: to watch a machine for a while, rather than to measure.
    pub pause: f64,
    /// Seed of the order.
    pub seed: u64,
}

/// What one round of a floor moves or does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yields {
    /// Half round trips: time is elapsed / (2 · rounds).
    HalfRoundTrip,
    /// Operations or messages: time is elapsed / rounds.
    Operation,
    /// Bytes: rate is bytes · rounds / elapsed.
    Bytes(u64),
}

/// A floor, or a layer of bandgap's measured beside its floor.
#[derive(Clone, Copy, Debug)]
pub struct Floor {
    /// Its name on the command line and in run files.
    pub name: &'static str,
    /// What a round yields.
    pub yields: Yields,
    /// Rounds of one sample.
    pub rounds: u32,
    /// The floor that this layer is compared with; none for a floor itself.
    pub over: Option<&'static str>,
    kind: Kind,
}

impl Floor {
    /// Bytes of a round; 0 where it moves none.
    fn bytes(&self) -> usize {
        match self.yields {
            Yields::Bytes(bytes) => bytes as usize,
            Yields::HalfRoundTrip | Yields::Operation => 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    CacheLine,
    SlotRing,
    SlotRingStream,
    CopyLocal,
    CopyCrossCore,
    StoreCrossCore,
    CopyVmReadv,
    Tcp,
    Unix,
    Udp,
    TcpStream,
    UnixStream,
    ClockRead,
    SystemCall,
    Shm(Kernel),
    Bulk(Kernel),
    OverTcp,
    OverUnix,
}

/// Bytes that a copy copies, where its name does not say.
pub const COPY_BYTES: u64 = 64 << 10;
/// Bytes of a long copy.
pub const LONG_COPY_BYTES: u64 = 1 << 20;
/// Bytes that each rank exposes for the layers of bulk transfers: a long copy to send, one to arrive.
pub const EXPOSED: usize = 2 * LONG_COPY_BYTES as usize;
/// Bytes of one write of a stream.
pub const STREAM_BYTES: u64 = socket::STREAM_BYTES as u64;

const fn floor(name: &'static str, yields: Yields, rounds: u32, kind: Kind) -> Floor {
    Floor { name, yields, rounds, over: None, kind }
}

const fn layer(
    name: &'static str,
    yields: Yields,
    rounds: u32,
    over: &'static str,
    kind: Kind,
) -> Floor {
    Floor { name, yields, rounds, over: Some(over), kind }
}

/// All floors and layers, in the order of the table.
pub const FLOORS: &[Floor] = &[
    floor("cache_line", Yields::HalfRoundTrip, 500, Kind::CacheLine),
    layer("active_message", Yields::HalfRoundTrip, 500, "cache_line", Kind::Shm(Kernel::PingPong)),
    floor("slot_ring", Yields::HalfRoundTrip, 500, Kind::SlotRing),
    floor("slot_ring_stream", Yields::Operation, 8192, Kind::SlotRingStream),
    layer(
        "active_message_stream",
        Yields::Operation,
        8192,
        "slot_ring_stream",
        Kind::Shm(Kernel::Stream),
    ),
    floor("copy_local", Yields::Bytes(COPY_BYTES), 16, Kind::CopyLocal),
    floor("copy_cross_core", Yields::Bytes(COPY_BYTES), 1, Kind::CopyCrossCore),
    layer("bulk_get", Yields::Bytes(COPY_BYTES), 1, "copy_cross_core", Kind::Bulk(Kernel::Get)),
    floor("copy_cross_core_1mib", Yields::Bytes(LONG_COPY_BYTES), 1, Kind::CopyCrossCore),
    layer(
        "bulk_get_1mib",
        Yields::Bytes(LONG_COPY_BYTES),
        1,
        "copy_cross_core_1mib",
        Kind::Bulk(Kernel::Get),
    ),
    floor("store_cross_core", Yields::Bytes(COPY_BYTES), 1, Kind::StoreCrossCore),
    layer(
        "bulk_store",
        Yields::Bytes(COPY_BYTES),
        1,
        "store_cross_core",
        Kind::Bulk(Kernel::Store),
    ),
    floor("store_cross_core_1mib", Yields::Bytes(LONG_COPY_BYTES), 1, Kind::StoreCrossCore),
    layer(
        "bulk_store_1mib",
        Yields::Bytes(LONG_COPY_BYTES),
        1,
        "store_cross_core_1mib",
        Kind::Bulk(Kernel::Store),
    ),
    floor("copy_vm_readv", Yields::Bytes(COPY_BYTES), 1, Kind::CopyVmReadv),
    floor("copy_vm_readv_1mib", Yields::Bytes(LONG_COPY_BYTES), 1, Kind::CopyVmReadv),
    floor("tcp", Yields::HalfRoundTrip, 20, Kind::Tcp),
    layer("active_message_tcp", Yields::HalfRoundTrip, 20, "tcp", Kind::OverTcp),
    floor("unix", Yields::HalfRoundTrip, 20, Kind::Unix),
    layer("active_message_unix", Yields::HalfRoundTrip, 20, "unix", Kind::OverUnix),
    floor("udp", Yields::HalfRoundTrip, 20, Kind::Udp),
    floor("tcp_stream", Yields::Bytes(STREAM_BYTES), 2, Kind::TcpStream),
    floor("unix_stream", Yields::Bytes(STREAM_BYTES), 2, Kind::UnixStream),
    floor("clock_read", Yields::Operation, 1, Kind::ClockRead),
    floor("system_call", Yields::Operation, 1, Kind::SystemCall),
];
