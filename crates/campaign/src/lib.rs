//! What is measured and when: the adaptive procedures, over any [`Runner`].
//!
//! A runner executes one batch; everything that decides (which point next, whether to stop) stands
//! here, between batches, and is the same for rank processes and for the simulator.
#![forbid(unsafe_code)]

pub mod calm;
pub mod contention;
pub mod data;
pub mod floors;
pub mod grid;
pub mod judge;
pub mod key;
pub mod load;
pub mod pairs;
pub mod placement;
pub mod runner;
pub mod series;
pub mod setting;
pub mod signature;
pub mod sizes;
pub mod surface;
pub mod task;

pub use data::{Measured, Table};
pub use key::{Axis, Key};
pub use runner::{Runner, Stop};
pub use setting::Setting;
pub use task::Task;
