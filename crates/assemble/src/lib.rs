//! Turns a campaign's measurements into results: estimates with intervals, fitted models, and notes on their meaning.
#![forbid(unsafe_code)]

mod breakdown;
mod calibrated;
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
mod layers;
mod logp;
mod made;
mod noise;
mod overlap;
mod pairs;
mod pcie;
mod points;
mod replay;
mod samples;
mod series;
mod validation;
mod whatif;

pub use breakdown::{breakdown, table_breakdown};
pub use calibrated::{Calibrated, SEED, chosen, loggops_of};
pub use components::{Divided, components};
pub use conditions::{conditions, setup};
pub use contention::fan_in;
pub use estimate::{Estimated, Measured};
pub use fastest::FASTEST;
pub use fit::{Fitting, TABLE};
pub use floors::{FLOOR, floors};
pub use growth::GROWTH;
pub use hockney::hockney;
pub use hops::HOPS;
pub use layers::layers;
pub use logp::{bulk, fitted, logp};
pub use made::{Builder, Made, SERIES};
pub use noise::{detours, seeded};
pub use overlap::overlap;
pub use pairs::pairs;
pub use pcie::{Named, pcie_table, pcie_trace};
pub use replay::{Replayed, described, goal, simulation, simulation_beyond, spans};
pub use samples::{SAMPLES, samples};
pub use series::{CurveTimes, MESSAGE_COSTS, curve_times, series};
pub use validation::{Times, simulated, tasks, validation};
pub use whatif::whatif;

/// A result of this crate.
pub(crate) type Result<T = (), E = AssembleError> = std::result::Result<T, E>;

/// Why nothing could be assembled. Texts are fragments that follow "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// The measurements lack what the model needs.
    #[error(transparent)]
    Model(#[from] bandgap_model::ModelError),
    /// A number cannot be recorded.
    #[error(transparent)]
    Record(#[from] bandgap_record::RecordError),
    /// A machine that cannot be simulated, or cannot do what is replayed.
    #[error(transparent)]
    Sim(#[from] bandgap_sim::SimError),
    /// A schedule that cannot be replayed.
    #[error(transparent)]
    Goal(#[from] bandgap_sim::GoalError),
    /// A run lacks what was requested.
    #[error("{what}")]
    Unfit {
        /// What cannot be done, and why.
        what: String,
        /// What helps.
        hint: String,
    },
    /// The request is ambiguous.
    #[error("{what}")]
    Ambiguous {
        /// What cannot be done.
        what: String,
        /// How to name one of them.
        hint: String,
    },
    /// Invalid components or models.
    #[error("{0}")]
    Components(String),
    /// Nothing was measured.
    #[error("no batch was measured")]
    Unmeasured,
    /// Nothing has a value.
    #[error("too few of the batches count (more --time-budget brings more)")]
    Empty,
    /// It is not possible here.
    #[error("{0}")]
    Impossible(String),
}

#[cfg(test)]
#[path = "../../model/tests/support/machine.rs"]
mod machine;
#[cfg(test)]
mod tests;
