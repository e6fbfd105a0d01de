//! The run file: the command, the machine and the results of a run, as JSON for any tool.
//!
//! Values of results are in SI base units (seconds, bytes, bytes per second, per second, or plain numbers). Every
//! estimate is a [`Quantity`]: value, interval, unit, estimator, number of samples, and whether it converged. Numbers
//! keep all digits. Writing fails for a number that is not finite, since JSON cannot hold it. Reading ignores unknown
//! fields, and refuses another version of the format. A [`Run`] holds results of any type.
//!
//! [`read_component_table`] reads tables of components, [`read_pcie_trace`] PCIe traces.
//!
//! This crate does not measure, fit or render.
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
pub use directory::{JOURNAL, RunDir, csv};
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
