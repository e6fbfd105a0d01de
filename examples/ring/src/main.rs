//! bandgap with one more kernel.

mod ring;

use std::process::ExitCode;

fn main() -> ExitCode {
    bandgap::Tool::new().comm::<ring::Ring>().main()
}
