//! Runs the whole program over and over under faults drawn from a seed, and says each time what did not hold.
//!
//! * [`faults`]: what is done to a run, and what must come of it. [`subject`]: the commands that are run.
//! * [`plan`]: a trial, drawn from a seed. [`trial`]: the trial carried out. [`struck`]: what became of the ranks then.
//!   [`checks`]: what must hold. [`table`]: what came of all trials.
//! * [`processes`], [`sockets`], [`leftovers`]: what a run consists of, as the system tells, and what is left of it.
//! * [`under`]: limits that a process sets on itself before it becomes the program under test. [`lower`]: limits that become
//!   low while it runs.
//! * [`udp`]: every kernel over a network that loses, doubles, reorders and changes datagrams.
#![forbid(unsafe_code)]

pub mod campaign;
pub mod checks;
mod each;
mod error;
pub mod faults;
pub mod kept;
pub mod leftovers;
mod listed;
pub mod lower;
pub mod place;
pub mod plan;
pub mod processes;
mod running;
pub mod screen;
pub mod sockets;
pub mod stopped;
mod strangers;
mod streams;
pub mod struck;
pub mod subject;
pub mod table;
pub mod trial;
pub mod udp;
pub mod under;

pub use error::SoakError;
