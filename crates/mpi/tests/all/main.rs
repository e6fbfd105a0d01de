//! The MPIs that are installed, each under its own launcher and under the wrong one.
#![allow(clippy::unwrap_used)]

mod conformance;
mod files;
mod headers;
mod installed;
mod ranks;
