//! bandgap measures how machines communicate, fits the models people reason with, and says how far
//! its numbers hold.
//!
//! This is the whole tool as a library, for programs that measure kernels of their own: [`kernel`]
//! has what a kernel is written with, and [`Tool`] is the tool with such kernels beside its own.
#![forbid(unsafe_code)]
// These panic where a standard stream fails; `output` has what does not.
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

pub use tool::Tool;
