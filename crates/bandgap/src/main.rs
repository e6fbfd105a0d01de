//! The tool with its own kernels.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    bandgap::Tool::new().main()
}
