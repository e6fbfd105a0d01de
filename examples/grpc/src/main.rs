//! bandgap with gRPC as a transport: every request a call, or all messages on one stream.

use std::process::ExitCode;

use grpc::{Calls, OnStream, Over, Plain, PlainCalls};

fn main() -> ExitCode {
    bandgap::Tool::new()
        .transport::<Over<Calls>>()
        .floors::<Plain<PlainCalls>>()
        .transport::<Over<OnStream>>()
        .floors::<Plain<OnStream>>()
        .main()
}
