//! Raw floors: the same exchanges as the transport's, done by plain loops on bare memory.
//!
//! Two ranks call the same function with the same epoch and [`Window`](bandgap_comm::Window), one
//! as initiator, one as responder, over one [`FloorArea`]. The initiator gets the ticks of each
//! sample, the responder an empty list. Numbers in the shared lines begin anew with each epoch, so
//! nothing need be reset; an epoch is used once in an area (modulo 2³²), whether it ended well or
//! not. Every wait asks the caller from time to time whether to give up.
//!
//! These functions measure the memory system, not the transport: no handlers, no flow control
//! beyond what keeps the data right.

mod area;
mod cache_line;
mod copy;
mod pipeline;
mod slot_ring;
mod stream;

pub use area::{COPY_BYTES, FloorArea};
pub use cache_line::cache_line;
pub use copy::{copy_cross_core, copy_local, copy_vm_readv, store_cross_core};
pub use pipeline::copy_pipeline;
pub use slot_ring::slot_ring;
pub use stream::slot_ring_stream;
