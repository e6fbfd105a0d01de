//! gRPC (the crate tonic) as two transports: every request a call ([`Calls`]), and all messages on one stream
//! ([`OnStream`]). Each has plain loops of tonic as its floors.
#![forbid(unsafe_code)]

mod calls;
mod engine;
mod floor;
mod seam;
mod service;
mod stream;
mod wire;

pub use calls::{CallEnd, Calls};
pub use floor::{PlainCalls, PlainStream};
pub use stream::{OnStream, StreamLink};
