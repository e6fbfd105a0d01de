//! `bandgap` measures how machines communicate, fits the models people reason with, and says how
//! far its numbers hold.
#![forbid(unsafe_code)]

mod args;
mod command;
mod layout;
mod output;
mod progress;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use bandgap_launch::Exit;
use clap::Parser;

use command::{Cli, Command};
use output::tell;

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(Command::Rank { parent }) = cli.command {
        return bandgap_launch::rank::main(parent);
    }
    // What panicked has been told by then; the program ends here, so nothing half done is seen.
    let done = catch_unwind(AssertUnwindSafe(|| command::dispatch(&cli)));
    let exit = done.unwrap_or(Ok(Exit::Defect)).unwrap_or_else(|failure| {
        tell(format_args!("bandgap: failed to {}", failure.what));
        if let Some(hint) = &failure.hint {
            tell(format_args!("  {hint}"));
        }
        failure.exit
    });
    ExitCode::from(exit as u8)
}
