//! Components from a built-in table, a file, or a run.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use bandgap_assemble::{AssembleError, Divided};
use bandgap_launch::{Result, input, told, usage};
use bandgap_record::{component_preset, component_presets, read_component_table};
use bandgap_stats::Rule;
use clap::Args;

use super::fit::{named, open};
use super::show::{found, kept};
use crate::args::Precision;
use crate::refused::unmade;

/// The source of components.
#[derive(Clone, Debug, Args)]
pub struct Source {
    /// Components that are known: thunderx2-connectx4 (the paper's), a table in CSV (`-` reads standard input), or a
    /// run (its directory, the beginning of its name, or LAST) with a breakdown or a LogP signature
    #[arg(long, value_name = "PRESET|TABLE|RUN")]
    pub from: Option<PathBuf>,
    /// The run's breakdown or signature, by the beginning of its id: breakdown/unix, logp/tcp [default: the only
    /// breakdown, else the only signature of small messages]
    #[arg(long, value_name = "ID", requires = "from")]
    pub id: Option<String>,
}

/// The built-in table with this name, the table in this file, or the components of this run.
///
/// # Errors
/// There is none, or it is wrong.
pub fn load(from: &Path, id: Option<&str>) -> Result<Divided> {
    if let Some(table) = from.to_str().and_then(component_preset) {
        return only_run(id, from).map(|()| table.into());
    }
    let is_stdin = from == Path::new("-");
    if !is_stdin && (from.is_dir() || !from.exists()) {
        let run = found(from).map_err(|failure| {
            let known: Vec<&str> = component_presets().collect();
            failure.hint(format!("name a table, a run, or what is built in: {}", known.join(", ")))
        })?;
        return of_run(&run, id);
    }
    // The first character tells a run from a table.
    let mut source = open(from)?;
    let mut first = [0];
    let begun = source.read(&mut first).map_err(|error| input!("read {}: {error}", named(from)))?;
    if begun == 1 && first[0] == b'{' && !is_stdin {
        return of_run(from, id);
    }
    only_run(id, from)?;
    let table = read_component_table(Cursor::new(&first[..begun]).chain(source))
        .map_err(|error| input!("use {}: {}", named(from), told(&error)))?;
    Ok(table.into())
}

fn only_run(id: Option<&str>, from: &Path) -> Result<()> {
    let refused = || usage!("use --id: {} is a component table, not a run", named(from));
    id.map_or(Ok(()), |_| Err(refused().hint("leave it out")))
}

fn of_run(from: &Path, id: Option<&str>) -> Result<Divided> {
    let (_, run) = kept(from)?;
    Divided::of(run, &named(from), id).map_err(|error| match error {
        AssembleError::Components(why) => input!("use {}: {why}", named(from)),
        error => unmade(error),
    })
}

/// The rule of precision for values computed from given times.
pub fn rule(precision: &Precision) -> Rule {
    Rule { precision: precision.precision.0, stamp: 0.0 }
}
