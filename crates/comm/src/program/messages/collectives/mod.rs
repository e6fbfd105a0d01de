//! Operations of all ranks of a [`Comm`]: broadcast, sum of doubles, barrier, and operations that
//! distribute vectors of doubles in blocks.
//!
//! Each operation is a function or a list of algorithms, and each algorithm is a function over any
//! [`Comm`]. All are correct for any number of ranks, any root and any length. They allocate
//! nothing.
//!
//! *Why messages are not confused*: all ranks call the operations that they share in the same
//! order. Within an operation, messages between two ranks are received in the order of their sends.
//! Messages with the same sender and tag also arrive in that order. So one tag for each operation
//! is enough, however far ahead a sender is. No program may use these tags.

mod algorithm;
mod all_to_all;
mod allgather;
mod around;
mod barrier;
mod blocks;
mod broadcast;
mod collective;
mod fold;
mod reduce_scatter;
mod sum;
mod tags;

pub use algorithm::Algorithm;
pub use all_to_all::all_to_all;
pub use allgather::all_gather;
pub use barrier::{Barrier, dissemination};
pub use blocks::Blocks;
pub use broadcast::{Broadcast, Count, segments};
pub use collective::Collective;
pub use reduce_scatter::reduce_scatter;
pub use sum::Sum;
pub use tags::BARRIER;

#[cfg(doc)]
use super::Comm;
