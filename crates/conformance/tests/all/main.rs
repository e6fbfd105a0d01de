//! Message passing over links between threads, and directly between them, passes the suites.
#![allow(clippy::unwrap_used)]

mod collectives;
mod conformance;
mod passing;
