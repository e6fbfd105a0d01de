//! Runs the program repeatedly under faults drawn from a seed, and reports what goes wrong.
//!
//! * [`faults`] lists the faults and how a run may end after each. [`plan`] draws a trial from a
//!   seed.
//! * [`trial`] carries a trial out. [`checks`] checks its exit code, what it leaves, and its run
//!   file.
//! * [`processes`] finds the processes of a run; [`strangers`] send garbage to its ports.
#![forbid(unsafe_code)]

pub mod checks;
pub mod faults;
mod place;
pub mod plan;
pub mod processes;
pub mod strangers;
pub mod trial;
