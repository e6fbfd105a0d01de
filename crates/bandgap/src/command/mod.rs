//! The commands, a file each.

mod bulk;
mod comms;
mod describe;
mod doctor;
mod fit;
mod floor;
mod measure;
mod memory;
mod run;
mod signature;
mod topology;

use clap::CommandFactory;

use crate::args::{Cli, Command, Comms};
use crate::output::print;
use bandgap_launch::Exit;
use bandgap_launch::{Classify, Failure};

/// Carries out what was asked.
///
/// # Errors
/// Whatever kept it from being done.
pub fn dispatch(cli: &Cli) -> Result<Exit, Failure> {
    let (measure, output) = (&cli.measure, &cli.output);
    match &cli.command {
        None | Some(Command::Run) => run::run(measure, output),
        Some(Command::Signature(signature)) => signature::run(signature, measure, output),
        Some(Command::Bulk(bulk)) => bulk::run(bulk, measure, output),
        Some(Command::Comms1(c)) => comms::run("comms1", c, measure, output),
        Some(Command::Comms2(c)) => comms::run("comms2", c, measure, output),
        Some(Command::Comms3(c)) => comms::run("comms3", c, measure, output),
        Some(Command::Synch1) => comms::run("synch1", &Comms::default(), measure, output),
        Some(Command::Comet { names, comms: c }) => comms::comet(names, c, measure, output),
        Some(Command::Floor { names }) => floor::run(names, measure, output),
        Some(Command::Doctor) => doctor::run(measure, output),
        Some(Command::Topology) => topology::run(measure, output),
        Some(Command::Fit(fit)) => fit::run(fit, measure, output),
        Some(Command::Completions { shell }) => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "bandgap", &mut text);
            print(&text).map(|()| Exit::Fine)
        }
        Some(Command::Man) => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut text).class(Exit::Output)?;
            print(&text).map(|()| Exit::Fine)
        }
        Some(Command::Rank { .. }) => {
            Err(Failure::new(Exit::Usage, "start a rank by hand: ranks belong to a launcher"))
        }
    }
}
