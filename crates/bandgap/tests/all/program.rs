//! The whole program, run as its users run it: exit codes, JSON, files and what is left of a run.
//!
//! Numbers are tested in virtual time. What real ranks bring is looked at for its structure, so that nothing here depends on
//! how busy the machine is.

mod breakdown;
mod calibrated;
mod compare;
mod documented;
mod export;
mod fabrics;
mod faults;
mod fit_hockney;
mod garbage;
mod hosts;
mod inside;
mod ipsc860;
mod keeping;
mod limits;
mod messages;
mod mpi;
mod page;
mod parameters;
mod pcie_trace;
mod real;
mod refused;
mod schedules;
mod screen;
mod simulated;
mod situations;
mod subject;
