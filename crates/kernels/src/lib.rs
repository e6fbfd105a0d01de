//! Rank programs, written once over [`bandgap_comm::Am`], and the pure reductions of their stamps.
//!
//! A program stamps and never computes a result; the function that turns its stamps into samples
//! stands beside it and works on real and on virtual stamps alike. [`Executor`] runs a program on
//! a transport; the simulator's recorder is the other interpreter.
#![forbid(unsafe_code)]

mod executor;
mod handlers;
mod job;
mod memory;
mod message;
mod passing;
mod program;
mod reduce;
mod transfer;

pub use executor::Executor;
pub use handlers::{COMMAND, DONE, RESULT, RankState, Tally, handlers};
pub use job::{Job, JobError, Kernel, Pattern};
pub use message::{MessageState, message_handlers};
pub use passing::pass;
pub use program::Role;
pub use program::{roles, run};
pub use reduce::{Samples, reduce};
pub use transfer::transfer;
