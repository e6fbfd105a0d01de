//! gRPC (the crate tonic) as two transports: every request a call, and all messages on one stream. Each has plain loops of
//! tonic as its floors.
#![forbid(unsafe_code)]

mod calls;
mod engine;
mod floor;
mod link;
mod service;
mod stream;
mod wire;

pub use calls::Calls;
pub use floor::{Plain, PlainCalls};
pub use link::Over;
pub use stream::OnStream;
