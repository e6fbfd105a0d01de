//! The floors, the probe, and message passing over shared memory.
#![allow(clippy::unwrap_used)]

mod floors;
mod passing;
