//! From a campaign's table to results: estimates with their intervals, models fitted, notes on what a number means.
#![forbid(unsafe_code)]

mod breakdown;
mod collectives;
mod components;
mod conditions;
mod contention;
mod error;
mod estimate;
mod fastest;
mod fit;
mod fitted;
mod floors;
mod growth;
mod hockney;
mod hops;
mod logp;
mod made;
mod overlap;
mod pairs;
mod pcie;
mod points;
mod samples;
mod series;
mod whatif;

pub use breakdown::{breakdown, table_breakdown};
pub use collectives::{MESSAGE_COSTS, MESSAGES};
pub use components::components;
pub use conditions::conditions;
pub use contention::fan_in;
pub use error::AssembleError;
pub use estimate::{Estimated, Measured};
pub use fastest::FASTEST;
pub use fit::{Fitting, TABLE};
pub use fitted::{bulk, fitted};
pub use floors::{FLOOR, floors};
pub use growth::GROWTH;
pub use hockney::hockney;
pub use hops::HOPS;
pub use logp::logp;
pub use made::{Builder, Made, SERIES};
pub use overlap::overlap;
pub use pairs::pairs;
pub use pcie::{Named, pcie_table, pcie_trace};
pub use samples::{SAMPLES, samples};
pub use series::{CurveTimes, curve_times, series};
pub use whatif::whatif;

#[cfg(test)]
#[path = "../../model/tests/support/machine.rs"]
mod machine;
#[cfg(test)]
mod tests;
