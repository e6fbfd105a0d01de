//! Kernels as ranks run them, in one binary: each way of looking at them is a file.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(missing_docs)]

mod faults;
mod harness;
mod kernels;
mod matrix;
mod orders;
mod recorded;
mod rig;
mod told;
mod transfers;
