//! Links over sockets as a whole.
#![allow(clippy::unwrap_used)]

mod bytes;
mod conformance;
mod floor;
mod mesh;
mod passing;
mod payloads;
mod strangers;
