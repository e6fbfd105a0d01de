//! The tool with the kernels that it has by itself.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    bandgap::Tool::new().main()
}
