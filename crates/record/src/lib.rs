//! The run file: what was run, on what, and what came out, as JSON that other tools can read.
//!
//! Every value of a result is in SI base units (seconds, bytes per second, or a plain number) and
//! every estimate is a [`Quantity`]: value, interval, unit, estimator, number of samples, and
//! whether it converged. Numbers keep all their digits; one that is not finite is refused, since
//! JSON cannot hold it. Fields unknown to this version are ignored on reading, and a newer format
//! version is an error that says so. What a result looks like is up to its own type: a [`Run`]
//! holds results of any.
//!
//! Tables of components come in through [`read_component_table`], PCIe traces through [`read_pcie_trace`].
//!
//! Nothing here measures, fits or renders.
#![forbid(unsafe_code)]

mod component_table;
mod conditions;
mod directory;
mod error;
mod form;
mod logp_table;
mod note;
mod pcie_trace;
mod quantity;
mod replace;
mod rows;
mod run;
mod setup;

pub use bandgap_import::TableError;
use bandgap_import::lines as table_lines;
pub use bandgap_units::{Library, Place};
pub use component_table::{
    ComponentTable, component_preset, component_presets, paper_models, read_component_table,
};
pub use conditions::{Batches, Conditions, State, Verified};
pub use directory::{RunDir, csv};
pub use error::RecordError;
pub use form::Form;
pub use logp_table::read_logp_table;
pub use note::{Note, Value};
pub use pcie_trace::read_pcie_trace;
pub use quantity::{Number, Quantity, Seconds, Unit};
pub use replace::{can_replace, replace};
pub use rows::{Column, Labels, Row, Rows, Spread};
pub use run::{Bandgap, RUN_FILE, Run, read, timestamp};
pub use setup::{ExperimentSetup, MachineSetup, PlacementSetup, Setup};
