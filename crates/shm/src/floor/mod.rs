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

mod area;
mod cache_line;
mod copy;
mod ring_lines;
mod slot_ring;
mod stream;
mod table;
mod turn;

pub use area::{COPY_BYTES, FloorArea, PLACES};
pub use cache_line::{cache_line, cache_line_exchange};
pub use copy::{copy_cross_core, copy_local, copy_vm_readv, store_cross_core};
pub use ring_lines::{PARTS, local_lines, ring_lines};
pub use slot_ring::slot_ring;
pub use stream::slot_ring_stream;
pub use table::{FLOORS, Lines, YARDSTICKS};

/// Ticks of each sample; empty on the responder.
pub type Ticks = Result<Vec<u64>, crate::ShmError>;
