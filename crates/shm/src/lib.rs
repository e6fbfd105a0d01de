//! The shared-memory transport: a ring of cache-line slots for each ordered pair of ranks, in an
//! anonymous segment that their processes share.
//!
//! * [`Segment`] and [`ShmEndpoint`]: the transport itself, a native `bandgap_comm::Endpoint`.
//! * [`Control`]: a page by which the processes of a run on one machine stop each other.
//! * [`Exposed`]: memory of every rank that every other writes and reads with one copy.
//! * [`probe()`] and [`floor`]: what the memory system allows, measured by plain loops.
//!
//! Unsafe code is in `mapping`,
//! `segment`, `exposed` and `floor` only; each begins with the invariants it rests on.
//!
//! Compiled with `--cfg loom`, only the protocol ([`ring`]) remains, over the model checker's
//! atomics.

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
mod mapping;
#[cfg(not(loom))]
mod probe;
#[cfg(not(loom))]
mod segment;
#[cfg(not(loom))]
mod spin;

pub use slot::{SLOT_BYTES, Sequence, Slot, TooManyWords};

#[cfg(not(loom))]
pub use self::{
    control::Control,
    endpoint::ShmEndpoint,
    error::ShmError,
    exposed::{Exposed, MAX_EXPOSED},
    probe::{probe, report},
    segment::{DEFAULT_SLOTS, MAX_RANKS, MAX_SLOTS, MIN_SLOTS, Segment, segment_bytes},
};
