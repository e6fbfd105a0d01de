//! Frames over sockets, and the floors of bare sockets.
//!
//! * [`SocketLink`]: one [`Stream`] between each pair of ranks, over TCP, Unix sockets or UDP;
//!   [`bandgap_comm::Credited`] makes an endpoint of it.
//! * [`tcp`], [`unix`], [`udp`]: how the ranks on one machine find each other. Nothing listens
//!   beyond this machine, and nobody without the run's secret gets in.
//! * [`floor`]: the same sockets in plain loops, without frames.
#![forbid(unsafe_code)]

use bandgap_comm::passing::Tuning;

mod channel;
mod connect;
mod error;
pub mod floor;
mod link;
mod stream;
pub mod tcp;
pub mod udp;
pub mod unix;

pub use connect::Secret;
pub use error::SocketError;
pub use link::SocketLink;
pub use stream::{Received, Stream};

/// How message passing cuts messages over sockets: in pieces four times those of mapped memory,
/// since each costs both sides a call into the system, and fewer at a time, which then stay in the
/// nearest caches all the same.
pub const TUNING: Tuning = Tuning { chunk: 128 << 10, slots: 4, ..Tuning::DEFAULT };
