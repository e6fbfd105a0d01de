//! Links over sockets as a whole.
#![allow(clippy::unwrap_used)]

mod bytes;
mod conformance;
mod floor;
mod mesh;
mod payloads;
mod strangers;
