//! From a campaign's table to results: estimates with their intervals, models fitted, notes on what a number means.
#![forbid(unsafe_code)]

mod collectives;
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
mod points;
mod samples;
mod series;

pub use collectives::{MESSAGE_COSTS, MESSAGES};
pub use conditions::conditions;
pub use contention::fan_in;
pub use error::AssembleError;
pub use estimate::{Estimated, Measured};
pub use fastest::FASTEST;
pub use fit::{Fitting, SizedTable, SizedTime, TABLE};
pub use fitted::{bulk, contention, fitted};
pub use floors::{FLOOR, floors};
pub use growth::GROWTH;
pub use hockney::hockney;
pub use hops::HOPS;
pub use logp::logp;
pub use made::{Builder, Made, SERIES};
pub use overlap::overlap;
pub use pairs::pairs;
pub use samples::{SAMPLES, samples};
pub use series::{CurveTimes, curve_times, series};

#[cfg(test)]
mod tests;
