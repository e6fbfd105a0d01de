//! `bandgap` measures how machines communicate, fits the models people reason with, and says how
//! far its numbers hold.
#![forbid(unsafe_code)]

mod args;
mod assemble;
mod collect;
mod command;
mod exit;
mod failure;
mod launch;
mod measure;
mod output;
mod progress;
mod show;
mod target;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use exit::Exit;

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(Command::Rank { parent }) = cli.command {
        return launch::rank::main(parent);
    }
    // What panicked has been told by then; the program ends here, so nothing half done is seen.
    let done = catch_unwind(AssertUnwindSafe(|| command::dispatch(&cli)));
    let exit = done.unwrap_or(Ok(Exit::Defect)).unwrap_or_else(|failure| {
        eprintln!("bandgap: failed to {}", failure.what);
        if let Some(hint) = &failure.hint {
            eprintln!("  {hint}");
        }
        failure.exit
    });
    ExitCode::from(exit as u8)
}
