//! The shared-memory transport: a ring of cache-line slots for each ordered pair of ranks, in an
//! anonymous segment that their processes share.
//!
//! * [`Segment`] and [`ShmEndpoint`]: the transport itself, a native `bandgap_comm::Endpoint`.
//! * [`Control`]: a page through which the processes of a run on one machine stop each other.
//! * [`Exposed`]: memory of each rank that every other rank writes and reads with one copy.
//! * [`probe()`] and [`floor`]: what the memory system allows, measured by plain loops.
//!
//! Unsafe code is only in `mapping`, `segment`, `exposed` and `floor`. Each of these modules starts
//! with the invariants that it relies on.
//!
//! With `--cfg loom`, only the protocol ([`ring`]) is compiled, with the model checker's atomics.

pub mod ring;
mod slot;
mod sync;

#[cfg(not(loom))]
mod control;
#[cfg(not(loom))]
mod endpoint;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod exposed;
#[cfg(not(loom))]
pub mod floor;
#[cfg(not(loom))]
mod limits;
#[cfg(not(loom))]
mod mapping;
#[cfg(not(loom))]
mod probe;
#[cfg(not(loom))]
mod segment;
#[cfg(not(loom))]
mod spin;
#[cfg(not(loom))]
mod transport;

pub use slot::{SLOT_BYTES, Sequence, Slot, TooManyWords};

#[cfg(not(loom))]
pub use self::{
    control::Control,
    endpoint::ShmEndpoint,
    error::ShmError,
    exposed::Exposed,
    limits::{DEFAULT_SLOTS, MAX_EXPOSED, MAX_RANKS, MAX_SLOTS, MIN_SLOTS},
    probe::{probe, report},
    segment::{Segment, segment_bytes},
    transport::Shm,
};
