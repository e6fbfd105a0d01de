//! bandgap measures how machines communicate, fits the models people reason with, and says how far
//! its numbers hold.
//!
//! This is the whole tool as a library, for programs that measure their own kernels, or over their
//! own transports: [`kernel`] and [`transport`] hold all that these need, and [`Tool`] is the tool
//! with them added.
#![forbid(unsafe_code)]
// These panic if a standard stream fails; `output` has functions that do not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod command;
pub mod kernel;
mod layout;
mod output;
mod progress;
mod refused;
mod session;
mod tool;
pub mod transport;

pub use tool::Tool;
