//! `bandgap export`: what was measured, for other programs.

mod loggopsim;
mod simgrid;

use std::fs;
use std::path::PathBuf;

use bandgap_launch::{Classify, Exit, Failure, told};
use bandgap_results::values;
use clap::{Args, ValueEnum};

use crate::calibrated::{Calibrated, How, kept};
use crate::output::print;
use loggopsim::Unit;

/// Examples.
pub const HELP: &str = "Examples:
  bandgap export LAST --to machine --out cluster.toml    what -t sim:cluster.toml reads
  bandgap export LAST -t tcp --to loggopsim              LogGOPSim's arguments
  bandgap export LAST --to simgrid --out platform.xml    a platform, and the command that goes with it
  bandgap export LAST --to csv";

/// What is written, and how.
#[derive(Clone, Debug, Args)]
pub struct Export {
    /// A run's directory, its run.json, the beginning of a name below ./bandgap-runs, or LAST
    #[arg(value_name = "RUN")]
    pub what: PathBuf,
    /// The format
    #[arg(long, value_name = "FORMAT")]
    pub to: Format,
    /// The file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The transport of a run that the machine is of [default: its only one]
    #[arg(short, long, value_name = "TRANSPORT")]
    pub transport: Option<String>,
    #[command(flatten)]
    pub how: How,
    /// The unit of LogGOPSim's times
    #[arg(long, value_enum, default_value_t)]
    pub unit: Unit,
    /// Hosts of SimGrid's platform
    #[arg(short = 'n', long, value_name = "N", default_value_t = 16,
          value_parser = clap::value_parser!(u16).range(2..=1024))]
    pub ranks: u16,
}

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A machine as -t sim:FILE.toml reads it
    Machine,
    /// Arguments of LogGOPSim
    Loggopsim,
    /// A platform of SimGrid, with the command that it needs
    Simgrid,
    /// All values of a run
    Csv,
}

/// Writes it.
///
/// # Errors
/// There is no such run, it lacks what the format needs, or it cannot be written.
pub fn run(of: &Export) -> Result<Exit, Failure> {
    let machine = || Calibrated::load(&of.what, of.transport.as_deref(), of.how);
    match of.to {
        Format::Machine => of.write(machine()?.toml(&mut |of| of.value).as_bytes()),
        Format::Loggopsim => of.write(loggopsim::arguments(&machine()?, of.unit)?.as_bytes()),
        Format::Simgrid => {
            let path = of.out.as_deref().ok_or_else(|| {
                let failure = Failure::new(Exit::Usage, "export a platform to no file");
                failure.hint("name one, as in --out platform.xml")
            })?;
            let machine = machine()?;
            machine.moves_bytes()?;
            of.write(simgrid::platform(&machine, of.ranks).as_bytes())?;
            print(simgrid::command(&machine, path, of.ranks).as_bytes())
        }
        Format::Csv => of.write(&values(&kept(&of.what)?.1).class(Exit::Defect)?),
    }?;
    Ok(Exit::Fine)
}

impl Export {
    fn write(&self, text: &[u8]) -> Result<(), Failure> {
        let Some(path) = &self.out else { return print(text) };
        fs::write(path, text).map_err(|error| {
            let what = format!("write {}: {}", path.display(), told(&error));
            Failure::new(Exit::Output, what)
        })
    }
}
