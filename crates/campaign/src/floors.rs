//! Which floors there are, and which layers stand on them.

use crate::key::Key;
use bandgap_kernels::Kernel;
use serde::{Deserialize, Serialize};

/// What one round of a floor moves or does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yields {
    /// Half round trips: time is elapsed / (2 · rounds).
    HalfRoundTrip,
    /// Operations or messages: time is elapsed / rounds.
    Operation,
    /// Bytes one way: rate is bytes · rounds / elapsed.
    Bytes(u64),
    /// Bytes there, and as many back: rate is 2 · bytes · rounds / elapsed.
    BytesEachWay(u64),
}

impl Yields {
    /// Bytes of a round, one way, where it yields a rate.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) | Self::BytesEachWay(bytes) => Some(bytes),
            Self::HalfRoundTrip | Self::Operation => None,
        }
    }
}

/// A floor, or a layer of bandgap's measured beside its floors.
#[derive(Clone, Copy, Debug)]
pub struct Floor {
    /// Its name on the command line and in run files.
    pub name: &'static str,
    /// What a round yields.
    pub yields: Yields,
    /// Rounds of one sample.
    pub rounds: u32,
    /// The floors, or the layer below, that this layer is compared with; none for a floor itself.
    pub over: &'static [&'static str],
    /// How it is measured.
    pub kind: Kind,
}

impl Floor {
    /// Bytes of a round, one way: of a word where it yields no rate.
    pub fn bytes(&self) -> usize {
        self.yields.bytes().unwrap_or(size_of::<u64>() as u64) as usize
    }
}

/// How a floor is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One line from core to core and back.
    CacheLine,
    /// One slot from core to core and back.
    SlotRing,
    /// Slots one way.
    SlotRingStream,
    /// A copy within a core's cache.
    CopyLocal,
    /// A copy of what the other core wrote.
    CopyCrossCore,
    /// A copy into what the other core read.
    StoreCrossCore,
    /// Two copies through shared slots, both cores at once.
    CopyPipeline,
    /// A copy out of the other process by the kernel.
    CopyVmReadv,
    /// A word over a TCP socket and back.
    Tcp,
    /// A word over a Unix socket and back.
    Unix,
    /// A word over a UDP socket and back.
    Udp,
    /// Writes to a TCP socket.
    TcpStream,
    /// Writes to a Unix socket.
    UnixStream,
    /// A time stamp.
    ClockRead,
    /// A system call that does nothing.
    SystemCall,
    /// A layer: this program over this transport.
    Layer(Kernel, Over),
}

/// What a layer runs over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Shared memory.
    Shm,
    /// TCP sockets.
    Tcp,
    /// Unix sockets.
    Unix,
    /// UDP sockets.
    Udp,
}

/// Bytes of a copy whose name does not say.
const SHORT: u64 = 64 << 10;
/// Bytes of a long copy, of a write of a stream, and of a long message.
pub const LONG: u64 = 1 << 20;

/// Bytes that each rank exposes for the layers: a long copy to send and one to arrive. The slots
/// of message passing lie in the same memory, at another time.
pub const EXPOSED: usize = 2 * LONG as usize;

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

const fn floor(name: &'static str, yields: Yields, rounds: u32, kind: Kind) -> Floor {
    Floor { name, yields, rounds, over: &[], kind }
}

const fn layer(
    name: &'static str,
    yields: Yields,
    rounds: u32,
    below: &'static [&'static str],
    kernel: Kernel,
    over: Over,
) -> Floor {
    Floor { name, yields, rounds, over: below, kind: Kind::Layer(kernel, over) }
}

use Kernel::{Comms1, Get, PingPong, Store, Stream};
use Yields::{Bytes, BytesEachWay, HalfRoundTrip, Operation};

/// All floors and layers, in the order of the tables.
#[rustfmt::skip] // One line each.
pub const FLOORS: &[Floor] = &[
    floor("cache_line", HalfRoundTrip, 500, Kind::CacheLine),
    layer("active_message", HalfRoundTrip, 500, &["cache_line"], PingPong, Over::Shm),
    layer("message", HalfRoundTrip, 500, &["active_message"], Comms1, Over::Shm),
    floor("slot_ring", HalfRoundTrip, 500, Kind::SlotRing),
    floor("slot_ring_stream", Operation, 8192, Kind::SlotRingStream),
    layer("active_message_stream", Operation, 8192, &["slot_ring_stream"], Stream, Over::Shm),
    floor("copy_local", Bytes(SHORT), 16, Kind::CopyLocal),
    floor("copy_cross_core", Bytes(SHORT), 1, Kind::CopyCrossCore),
    layer("bulk_get", Bytes(SHORT), 1, &["copy_cross_core"], Get, Over::Shm),
    floor("copy_cross_core_1mib", Bytes(LONG), 1, Kind::CopyCrossCore),
    layer("bulk_get_1mib", Bytes(LONG), 1, &["copy_cross_core_1mib"], Get, Over::Shm),
    floor("store_cross_core", Bytes(SHORT), 1, Kind::StoreCrossCore),
    layer("bulk_store", Bytes(SHORT), 1, &["store_cross_core"], Store, Over::Shm),
    floor("store_cross_core_1mib", Bytes(LONG), 1, Kind::StoreCrossCore),
    layer("bulk_store_1mib", Bytes(LONG), 1, &["store_cross_core_1mib"], Store, Over::Shm),
    floor("copy_pipeline", BytesEachWay(SHORT), 4, Kind::CopyPipeline),
    floor("copy_pipeline_1mib", BytesEachWay(LONG), 1, Kind::CopyPipeline),
    floor("copy_vm_readv", Bytes(SHORT), 1, Kind::CopyVmReadv),
    floor("copy_vm_readv_1mib", Bytes(LONG), 1, Kind::CopyVmReadv),
    layer("message_64kib", BytesEachWay(SHORT), 4, &["copy_vm_readv", "copy_pipeline"], Comms1, Over::Shm),
    layer("message_1mib", BytesEachWay(LONG), 1, &["copy_vm_readv_1mib", "copy_pipeline_1mib"], Comms1, Over::Shm),
    floor("tcp", HalfRoundTrip, 20, Kind::Tcp),
    layer("active_message_tcp", HalfRoundTrip, 20, &["tcp"], PingPong, Over::Tcp),
    floor("unix", HalfRoundTrip, 20, Kind::Unix),
    layer("active_message_unix", HalfRoundTrip, 20, &["unix"], PingPong, Over::Unix),
    floor("udp", HalfRoundTrip, 20, Kind::Udp),
    layer("active_message_udp", HalfRoundTrip, 20, &["udp"], PingPong, Over::Udp),
    floor("tcp_stream", Bytes(LONG), 8, Kind::TcpStream),
    layer("bulk_store_tcp_1mib", Bytes(LONG), 8, &["tcp_stream"], Store, Over::Tcp),
    floor("unix_stream", Bytes(LONG), 8, Kind::UnixStream),
    layer("bulk_store_unix_1mib", Bytes(LONG), 8, &["unix_stream"], Store, Over::Unix),
    floor("clock_read", Operation, 1, Kind::ClockRead),
    floor("system_call", Operation, 1, Kind::SystemCall),
];

/// The name of floors and layers among keys.
pub const FLOOR: &str = "floor";

/// The key of a floor or a layer.
pub fn key(name: &str) -> Key {
    Key::new(FLOOR).at("name", name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unlike_and_layers_stand_on_what_yields_the_same() {
        let names: HashSet<&str> = FLOORS.iter().map(|floor| floor.name).collect();
        assert_eq!(names.len(), FLOORS.len());
        for layer in FLOORS {
            assert_eq!(layer.over.is_empty(), !matches!(layer.kind, Kind::Layer(..)));
            for below in layer.over {
                let below = FLOORS.iter().find(|floor| floor.name == *below).unwrap();
                assert_eq!(layer.yields.bytes(), below.yields.bytes(), "{}", layer.name);
            }
        }
    }
}
