//! What the source of a rank program may do.
//!
//! The same source runs on a transport, can run on a library's own message passing, and is recorded
//! for the simulator. Three rules make this possible. A stamp is opaque: [`Processor::mark`] returns
//! nothing. Control flow depends neither on payload nor on time. The caller of a program decides
//! how often it repeats.

mod active;
mod memory;
mod messages;
mod part;
mod view;
mod work;

pub use active::{Am, Verb};
pub use messages::collectives::BARRIER;
pub use messages::{Comm, Pending, collectives};
pub use part::{DOUBLE, Part};
pub use view::View;
pub use work::Work;

use crate::Rank;

/// One rank: who it is, its clock, and its arithmetic.
pub trait Processor {
    /// This rank.
    fn rank(&self) -> Rank;
    /// Number of ranks.
    fn size(&self) -> usize;
    /// Takes a time stamp.
    fn mark(&mut self);
    /// Computes for a controlled time. Messages are not handled meanwhile.
    fn compute(&mut self, work: Work);
}
