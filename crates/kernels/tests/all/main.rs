//! Kernels as ranks run them, in one binary: each way of looking at them is a file.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(missing_docs)]

#[path = "../../../conformance/tests/support/direct.rs"]
mod direct;
#[path = "../support/examples.rs"]
mod examples;
mod faults;
mod harness;
#[path = "../../../comm/tests/support/inproc.rs"]
mod inproc;
mod kernels;
mod matrix;
mod orders;
mod recorded;
mod rig;
mod told;
mod transfers;
