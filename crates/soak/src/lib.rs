//! Runs the whole program over and over under faults drawn from a seed, and says each time what did not hold.
//!
//! * [`faults`]: what is done to a run, and how it may end then. [`plan`]: a trial, drawn from a seed.
//! * [`trial`]: the trial carried out. [`checks`]: what must hold of it: exit codes, what is left, the run file.
//! * [`processes`], [`strangers`]: what a run consists of, and those who talk to its ports.
#![forbid(unsafe_code)]

pub mod checks;
pub mod faults;
mod place;
pub mod plan;
pub mod processes;
pub mod strangers;
pub mod trial;
