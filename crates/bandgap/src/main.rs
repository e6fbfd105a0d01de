//! The tool with its own kernels.
#![forbid(unsafe_code)]

use std::process::ExitCode;

#[global_allocator]
static MEMORY: bandgap_host::Allocator = bandgap_host::Allocator;

fn main() -> ExitCode {
    bandgap::Tool::new().main()
}
