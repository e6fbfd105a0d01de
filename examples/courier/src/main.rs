//! bandgap with one more transport.

mod courier;
mod wrong;

use std::process::ExitCode;

fn main() -> ExitCode {
    bandgap::Tool::new().transport::<courier::Courier>().main()
}

#[cfg(test)]
bandgap_conformance::conforms!(transport courier::Courier);
