//! What a PCIe analyser's trace says of the hardware on a message's way.
//!
//! The analyser sits just before the network interface of the node that posts. It sees *posts* go down
//! (memory writes of 64 bytes by programmed I/O), *completions* (64 bytes) and *payloads* of the peer's
//! messages go up, and the acknowledgements of each.
//!
//! - [`packet`]: a row of the trace.
//! - [`roles`]: which packets are posts, completions and payloads.
//! - [`acks`]: from a completion to its acknowledgement.
//! - [`rounds`]: from post to post, from ping to completion, from pong to ping.
//! - [`trace`]: all of them over the rows of a trace, in memory that does not grow with it.
//! - [`hardware`]: PCIe, Wire, Switch and RC-to-MEM from these times.
//!
//! *Units*: picoseconds in traces, nanoseconds in what follows from them.
//! *Source*: "Breaking Band: A Breakdown of High-performance Communication", section 4.

pub mod acks;
pub mod hardware;
pub mod packet;
pub mod roles;
pub mod rounds;
pub mod trace;

pub use hardware::{Hardware, Known, Software, Timed};
pub use packet::{Direction, Kind, Numbers, Packet};
pub use roles::{Given, Range};
pub use trace::{Read, Trace};
