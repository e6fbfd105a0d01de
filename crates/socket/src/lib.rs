//! Frames over sockets, and the floors of bare sockets.
//!
//! * [`SocketLink`]: a [`Stream`] between each pair of ranks, over TCP, Unix sockets or UDP.
//!   [`bandgap_comm::Credited`] makes it an endpoint.
//! * [`tcp`], [`unix`], [`udp`]: how ranks on one machine find each other. Nothing listens beyond
//!   this machine, and nobody gets in without the run's secret.
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
mod transport;
pub mod udp;
pub mod unix;

pub use connect::Secret;
pub use error::SocketError;
pub use link::SocketLink;
pub use stream::{Received, Stream};

/// How message passing cuts messages over sockets. Pieces are four times as long as in mapped
/// memory, since each one costs both sides a system call. Fewer pieces are under way at a time, so
/// that they still fit into the nearest caches.
pub const TUNING: Tuning = Tuning { chunk: 128 << 10, slots: 4, ..Tuning::DEFAULT };
