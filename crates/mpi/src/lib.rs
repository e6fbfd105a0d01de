//! Uses any installed MPI: found and opened at run time, without its headers or its compiler.
//!
//! * [`find`] opens the library that belongs to the launcher of this process; [`everywhere`] is where others may be.
//! * [`start`] initialises it and returns a [`World`]. An operation is one indirect call into the
//!   library. Families of binary interfaces differ only in [`Constants`].
//! * [`Inside`] takes stamps inside it, where it uses UCX ([`bandgap_probe`]).
//! * [`Library`] and [`MpiLink`]: message passing and frames over it ([`bandgap_tagged`]).
//!
//! # Invariants
//! Every unsafe block relies on these.
//! * A library is never closed, so its functions stay valid.
//! * The functions have the types of the MPI standard, and the constants are those of the family's
//!   header files: the family is recognised by symbols that no other has ([`Loaded::open`]).
//! * Only the thread that initialised MPI calls it: nothing that holds a [`World`] can be sent to
//!   another thread.
//! * Memory that MPI may still read or write is not freed: dropping it before the request has ended
//!   leaks it.

mod abi;
mod api;
mod calls;
mod division;
mod error;
mod inside;
mod launcher;
mod load;
mod search;
mod world;

pub use abi::{Constant, Constants, Family, Handle};
pub use calls::Request;
pub use division::DIVISION;
pub use error::MpiError;
pub(crate) use error::Result;
pub use inside::Inside;
pub use launcher::{Launcher, Started, command, started};
pub use load::Loaded;
pub use search::{everywhere, find, places};
pub use world::{OVER_UCX, World, start};

/// MPI's own messages and collectives, on parts of a rank's memory.
pub type Library = bandgap_tagged::Library<World>;
/// Frames over MPI's messages.
pub type MpiLink = bandgap_tagged::TaggedLink<World>;
