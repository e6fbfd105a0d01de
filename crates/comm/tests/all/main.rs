//! What passes the suites over the links between threads, and what the examples do.
#![allow(clippy::unwrap_used)]

mod collectives;
mod conformance;
mod examples;
mod passing;
