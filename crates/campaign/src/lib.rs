//! What is measured and when: the experiments, and the one campaign that measures them all.
//!
//! * A [`runner::Runner`] executes one batch, on rank processes or in virtual time.
//! * An [`experiment::Experiment`] gives the points, splits a batch into samples, and says when
//!   enough is known.
//! * [`campaign::campaign`] does everything else, between batches: rounds, shuffling, checked
//!   batches, probes, repeats, calm, the budget, stopping and progress.
//! * A [`planned::Planned`] is the plan of an experiment, which travels as a [`task::Task`]. Their list is
//!   below; docs/adding-an-experiment.md says how to add one.
#![forbid(unsafe_code)]

mod bare;
pub mod beside;
pub mod budget;
pub mod calm;
pub mod campaign;
pub mod control;
pub mod data;
pub mod experiment;
pub mod grid;
pub mod judge;
pub mod key;
pub mod load;
pub mod placement;
pub mod plan;
pub mod planned;
pub mod runner;
pub mod setting;
pub mod sizes;
mod stopping;
pub mod task;

pub use data::{Described, Kept, Measurements};
pub use key::Key;
pub use planned::Planned;
pub use runner::{Runner, Stop};
pub use setting::Setting;
pub use task::Task;

use task::experiments;

// The file and the plan of each experiment.
experiments! {
    signature::SignaturePlan,
    fan_in::FanInPlan,
    series::SeriesPlan,
    overlap::OverlapPlan,
    contention::ContentionPlan,
    bulk::BulkPlan,
    floors::FloorPlan,
    pairs::PairsPlan,
    breakdown::BreakdownPlan,
}

#[cfg(test)]
#[path = "../../model/tests/support/machine.rs"]
mod machine;
#[cfg(test)]
mod tests;
