//! bandgap with gRPC as a transport: every request a call, or all messages on one stream.

use std::process::ExitCode;

use grpc::{Calls, OnStream, PlainCalls, PlainStream};

fn main() -> ExitCode {
    bandgap::Tool::new()
        .transport::<Calls>()
        .floors::<PlainCalls>()
        .transport::<OnStream>()
        .floors::<PlainStream>()
        .main()
}
