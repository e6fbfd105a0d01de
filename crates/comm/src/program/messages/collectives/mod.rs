//! Operations of all ranks of a [`Comm`], or of a group of them: broadcast, sum of doubles, barrier.
//!
//! Each operation is a list of algorithms, and each algorithm a file with a function over any
//! [`Comm`]. All are right for any number of ranks, any root and any length. They allocate nothing.
//!
//! *Why messages are not mixed up*: all ranks call the operations that they share in the same
//! order. Within an operation, the messages from one rank to another are received in the order of
//! their sends. Messages of one sender and tag arrive in that order too. So one tag for each
//! operation is enough, however far ahead a sender is; and the tags are no program's own.

mod algorithm;
mod allgather;
mod barrier;
mod blocks;
mod broadcast;
mod fold;
mod shift;
mod sum;
mod tags;

pub use algorithm::{Algorithm, AlgorithmError};
pub use barrier::Barrier;
pub use broadcast::{Broadcast, Count, segments};
pub use sum::Sum;
pub use tags::BARRIER;

pub(super) use barrier::dissemination;

#[cfg(doc)]
use super::Comm;
