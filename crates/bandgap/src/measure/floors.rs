//! The floors of this machine, and how near bandgap's own layers come to them.
//!
//! All are measured in rounds, interleaved in shuffled order and each between two placement
//! probes, so that a ratio compares neighbours in time and in the same state. Here: which there
//! are; below: how two ranks measure them.

mod batch;
mod bench;
mod command;
mod follower;
mod leader;
mod rank;
mod table;
mod ticks;

use serde::{Deserialize, Serialize};

pub use rank::rank;
pub use table::{EXPOSED, FLOORS, Floor};

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloorPlan {
    /// Indices into [`FLOORS`].
    pub floors: Vec<usize>,
    /// Half-width of an interval over its estimate at which a floor is done.
    pub precision: f64,
    /// Confidence level of intervals.
    pub confidence: f64,
    /// Time for all, in seconds.
    pub budget: f64,
    /// Time between rounds, in seconds: to watch a machine for a while, rather than to measure.
    pub pause: f64,
    /// Seed of the order.
    pub seed: u64,
}
