//! The shared-memory transport: a ring of cache-line slots for each ordered pair of ranks, in an
//! anonymous segment that the ranks' processes share.
//!
//! * [`Segment`] and [`ShmEndpoint`]: the transport itself, a native `bandgap_comm::Endpoint`.
//! * [`Control`]: a page through which the processes of a run on one machine stop each other.
//! * [`Exposed`]: memory of each rank that every other rank writes and reads with one copy.
//! * [`Readable`]: memory of each rank that others read through the kernel.
//! * [`probe()`] and [`floor`]: times of plain loops in the memory system.
//!
//! Unsafe code is only in `mapping`, `segment`, `exposed`, `other_process` and `floor`. Each of
//! these modules begins with the invariants that it relies on.
//!
//! With `--cfg loom` the atomics are those of the model checker, which cannot be in shared memory:
//! only the protocol ([`ring`]) can then be run.

mod control;
mod division;
mod endpoint;
mod error;
mod exposed;
pub mod floor;
mod limits;
mod mapping;
mod other_process;
mod places;
mod private;
mod probe;
pub mod ring;
mod segment;
mod signals;
mod slot;
mod spin;
mod sync;
mod transport;

pub use self::{
    control::Control,
    endpoint::ShmEndpoint,
    error::ShmError,
    exposed::Exposed,
    limits::{DEFAULT_SLOTS, MAX_EXPOSED, MAX_RANKS, MAX_SLOTS, MIN_SLOTS},
    private::Readable,
    probe::{PROBE_WINDOWS, probe, report},
    segment::Segment,
    slot::{Sequence, Slot},
    transport::Shm,
};
pub(crate) use error::Result;
