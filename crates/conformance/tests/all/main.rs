//! Message passing over links between threads, and directly between them, passes the suites.
#![allow(clippy::unwrap_used)]

mod collectives;
mod conformance;
#[path = "../support/direct.rs"]
mod direct;
#[path = "../support/faulty.rs"]
mod faulty;
#[path = "../../../comm/tests/support/inproc.rs"]
mod inproc;
mod mistakes;
mod passing;
