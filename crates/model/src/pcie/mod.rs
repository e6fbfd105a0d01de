//! The hardware times on a message's path, from a PCIe analyser's trace.
//!
//! The analyser sits just before the network interface of the node that posts. It sees *posts* go
//! down (memory writes of 64 bytes by programmed I/O), *completions* (64 bytes) and *payloads* of
//! the peer's messages go up, and the acknowledgements of all these.
//!
//! - `roles`: which packets are posts, completions and payloads.
//! - `acks`: from a completion to its acknowledgement.
//! - `rounds`: from post to post, from ping to completion, from pong to ping.
//! - `trace`: all of these over the rows of a trace, in constant memory.
//! - `hardware`: PCIe, Wire, Switch and RC-to-MEM from these times.
//!
//! *Units*: picoseconds in traces, nanoseconds in what is derived from them.
//! *Source*: "Breaking Band: A Breakdown of High-performance Communication", section 4.

mod acks;
mod hardware;
mod roles;
mod rounds;
mod trace;

pub use hardware::{Hardware, Known, Software, Timed, Why};
pub use trace::{Counted, Trace};

/// Direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the root complex to the network interface.
    Down,
    /// From the network interface to the root complex.
    Up,
}

/// Kind of a packet, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// A memory write (MWr).
    Write,
    /// Another transaction-layer packet: it has a sequence number and is acknowledged.
    Transaction,
    /// The acknowledgement (ACK) of packets in the other direction.
    Ack,
    /// Anything else: credits, power management, ordered sets.
    Other,
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Time at which the analyser saw it: picoseconds since the first row.
    pub time: u64,
    /// Its direction.
    pub direction: Direction,
    /// Its kind.
    pub kind: PacketKind,
    /// Bytes of data; 0 for a packet without data.
    pub bytes: u32,
    /// Destination address of its data.
    pub address: Option<u64>,
    /// Its sequence number, which counts the packets of a direction modulo 4096. For an
    /// acknowledgement, the number of the last packet that it covers.
    pub number: Option<u64>,
}

/// Sequence numbers restart after this many.
const ROUND: u64 = 4096;

/// How far a number is ahead of another, from 0 (equal) to 4095.
fn ahead(number: u64, of: u64) -> u64 {
    number.wrapping_sub(of) % ROUND
}
