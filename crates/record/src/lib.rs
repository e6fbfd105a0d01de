//! The run file: what was run, on what, and what came out, as JSON that other tools can read.
//!
//! Every value of a result is in SI base units (seconds, bytes per second, or a plain number) and
//! every estimate is a [`Quantity`]: value, interval, unit, estimator, number of samples, and
//! whether it converged. Numbers keep all their digits; one that is not finite is refused, since
//! JSON cannot hold it. Fields unknown to this version are ignored on reading, and a newer format
//! version is an error that says so. What a result looks like is up to its own type: a [`Run`]
//! holds results of any.
//!
//! Tables written by other means come in through [`read_logp_table`], [`read_hockney_table`],
//! [`read_component_table`] and [`read_pcie_trace`].
//!
//! Nothing here measures, fits or renders.
#![forbid(unsafe_code)]

mod component_table;
mod csv;
mod directory;
mod error;
mod hockney_table;
mod layout;
mod logp_table;
mod pcie_trace;
mod quantity;
mod replace;
mod run;
mod table_error;
mod table_lines;

pub use crate::csv::{Column, csv, estimate, lower, nanoseconds, upper};
pub use bandgap_stats::Convergence;
pub use component_table::{
    ComponentTable, component_preset, component_presets, paper_models, read_component_table,
};
pub use directory::RunDir;
pub use error::RecordError;
pub use hockney_table::{HockneyRow, HockneyTable, Timing, read_hockney_table};
pub use logp_table::read_logp_table;
pub use pcie_trace::read_pcie_trace;
pub use quantity::{Evidence, Number, Quantity, Seconds, Unit};
pub use replace::{can_replace, replace};
pub use run::{Bandgap, RUN_FILE, Run, read, timestamp};
pub use table_error::TableError;
