//! Libraries of fabrics, found and opened at run time, as libraries of tagged messages ([`bandgap_tagged`]).
//!
//! * [`Ofi`]: the libfabric that is installed; [`OfiPut`]: its writes, for floors.
//! * [`Ucx`]: the UCX that is installed; [`UcpPut`] and [`Uct`]: its puts and its transport layer, for floors.
//!
//! # Invariants
//! Every unsafe block relies on these, and on those of [`bandgap_tagged`].
//! * A library is never closed, so its functions stay valid.
//! * The functions have the types of the library's header files, and structures the layout that these give them.
//! * Only the thread that initialised a library calls it: what holds it cannot be sent to another thread.

mod common;
mod error;
mod leavings;
mod ofi;
mod signals;
mod structure;
mod uct;
mod ucx;

pub use error::FabricError;
pub use leavings::remove_leavings;
pub use ofi::{Ofi, OfiPut};
pub use uct::Uct;
pub use ucx::{UcpPut, Ucx};

#[cfg(test)]
mod tests;
