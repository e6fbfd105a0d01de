//! From a campaign's table to results: estimates with their intervals, models fitted, notes on what a number means.
#![forbid(unsafe_code)]

mod breakdown;
mod components;
mod conditions;
mod contention;
mod estimate;
mod fastest;
mod fit;
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
pub use components::components;
pub use conditions::conditions;
pub use contention::fan_in;
pub use estimate::{Estimated, Measured};
pub use fastest::FASTEST;
pub use fit::{Fitting, TABLE};
pub use floors::{FLOOR, floors};
pub use growth::GROWTH;
pub use hockney::hockney;
pub use hops::HOPS;
pub use logp::{bulk, fitted, logp};
pub use made::{Builder, Made, SERIES};
pub use overlap::overlap;
pub use pairs::pairs;
pub use pcie::{Named, pcie_table, pcie_trace};
pub use samples::{SAMPLES, samples};
pub use series::{CurveTimes, MESSAGE_COSTS, curve_times, series};
pub use whatif::whatif;

/// What is made, or why it is not.
pub(crate) type Result<T = (), E = AssembleError> = std::result::Result<T, E>;

/// Why nothing could be assembled. Texts are fragments that follow "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// What was measured does not hold what the model needs.
    #[error(transparent)]
    Model(#[from] bandgap_model::ModelError),
    /// A number cannot be recorded.
    #[error(transparent)]
    Record(#[from] bandgap_record::RecordError),
    /// No two rounds have everything that a breakdown is made of.
    #[error(
        "divide the time of a message: fewer than two rounds were whole (more --time-budget brings more)"
    )]
    NoRounds,
    /// A change of components that means nothing.
    #[error("{0}")]
    Change(String),
    /// Components or models that mean nothing.
    #[error("{0}")]
    Components(String),
    /// Nothing was measured.
    #[error("estimate anything: no batch was measured")]
    Unmeasured,
    /// Nothing has a value.
    #[error("estimate anything: too few of the batches count (more --time-budget brings more)")]
    Empty,
}

#[cfg(test)]
#[path = "../../model/tests/support/machine.rs"]
mod machine;
#[cfg(test)]
mod tests;
