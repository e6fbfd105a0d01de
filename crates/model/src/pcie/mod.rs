//! What a PCIe analyser's trace says of the hardware on a message's way.
//!
//! The analyser sits just before the network interface of the node that posts. It sees *posts* go down (memory writes of
//! 64 bytes by programmed I/O), *completions* (64 bytes) and *payloads* of the peer's messages go up, and the
//! acknowledgements of each.
//!
//! - `roles`: which packets are posts, completions and payloads.
//! - `acks`: from a completion to its acknowledgement.
//! - `rounds`: from post to post, from ping to completion, from pong to ping.
//! - `trace`: all of them over the rows of a trace, in memory that does not grow with it.
//! - `hardware`: PCIe, Wire, Switch and RC-to-MEM from these times.
//!
//! *Units*: picoseconds in traces, nanoseconds in what follows from them.
//! *Source*: "Breaking Band: A Breakdown of High-performance Communication", section 4.

mod acks;
mod hardware;
mod roles;
mod rounds;
mod trace;

pub use hardware::{Hardware, Known, Software, Timed, Why};
pub use trace::{Counted, Trace};

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the root complex to the network interface.
    Down,
    /// From the network interface to the root complex.
    Up,
}

/// What a packet is, as far as that matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A memory write (MWr).
    Write,
    /// Another packet of the transaction layer: it has a sequence number, and is acknowledged.
    Transaction,
    /// The acknowledgement (ACK) of packets that went the other way.
    Ack,
    /// Anything else: credits, power management, ordered sets.
    Other,
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When the analyser saw it: picoseconds since the first row.
    pub time: u64,
    /// Where it goes.
    pub direction: Direction,
    /// What it is.
    pub kind: Kind,
    /// Bytes of data; 0 of a packet without any.
    pub bytes: u32,
    /// Where its data go.
    pub address: Option<u64>,
    /// Its number, which counts the packets of a direction modulo 4096; of an acknowledgement that of the last packet
    /// that it holds for.
    pub number: Option<u64>,
}

/// Sequence numbers begin again after so many.
const ROUND: u64 = 4096;

/// How far a number is ahead of another: 0 of the same, up to 4095.
fn ahead(number: u64, of: u64) -> u64 {
    number.wrapping_sub(of) % ROUND
}
