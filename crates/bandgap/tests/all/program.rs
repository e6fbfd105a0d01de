//! The whole program, run as its users run it.
//!
//! A test that lets ranks measure takes [`subject::measuring`] first, so that two never measure at
//! once. Nothing here depends on how long something takes: what is waited for is polled.

mod bad_input;
mod breakdown;
mod bulk;
mod collectives;
mod comms;
mod contention;
mod documented;
mod faults;
mod fit_hockney;
mod garbage;
mod ipsc860;
mod keeping;
mod measured_breakdown;
mod overlap;
mod parameters;
mod pcie_trace;
mod real;
mod residue;
mod signals;
mod simulated;
mod subject;
