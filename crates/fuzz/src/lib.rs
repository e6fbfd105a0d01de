//! Feeds every reader with bytes that nobody should have written.
//!
//! A [`Target`] is a reader: of another tool's output, of a table, a machine or a run file; or of what a peer or the
//! launcher says. [`TARGETS`] has them all, with what inputs are made of: real files of the repository, examples made
//! here, and inputs that once did harm, in `corpus/`. [`Inputs`] makes inputs of these, each from a seed and its
//! number alone, so that each can be made again. [`hunt`] feeds them and notes panics, and which input took longest
//! and which took most memory.
//!
//! A target panics if what it accepted breaks a promise: what is read and written must be read again the same, and
//! what a peer says must not lead outside the memory that is meant for it.
#![forbid(unsafe_code)]

mod corpus;
mod hunt;
mod inputs;
mod mutate;
mod target;
pub mod targets;

pub use corpus::root;
pub use hunt::{Fault, GIB, Hunted, Limits, SECOND, hunt, try_one};
pub use inputs::Inputs;
pub use target::{Shape, Target, Verdict};
pub use targets::{TARGETS, target};

/// Counts what is allocated, so that an input's share is known.
#[global_allocator]
static ALLOCATED: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;
