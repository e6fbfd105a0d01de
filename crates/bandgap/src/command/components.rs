//! Where components come from: a table that is built in, a file, or a run.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use bandgap_launch::{Exit, Failure, told};
use bandgap_record::{
    ComponentTable, RUN_FILE, component_preset, component_presets, read, read_component_table,
};
use bandgap_results::breakdown::Breakdown;
use bandgap_results::logp::components::components;
use bandgap_results::{AssembleError, Outcome, Run};
use clap::Args;

use super::fit::{named, open};
use crate::output::tell;

/// Where they come from.
#[derive(Debug, Args)]
pub struct Source {
    /// Components that are known: thunderx2-connectx4 (the paper's), a table in CSV (`-` reads standard input), or a run
    /// with a breakdown or a LogP signature
    #[arg(long, value_name = "PRESET|TABLE|RUN")]
    pub from: PathBuf,
    /// Of a run with several signatures, the first whose name holds this: a transport (tcp) or a size (16KiB)
    /// [default: the first of small messages, else of the longest transfer]
    #[arg(long, value_name = "WORDS")]
    pub signature: Option<String>,
}

/// What was loaded.
pub(super) struct Loaded {
    /// Components and models.
    pub table: ComponentTable,
    /// The breakdown of a run that they are of.
    pub breakdown: Option<Box<Breakdown>>,
    /// What the run warned of.
    pub warnings: Vec<String>,
}

impl Loaded {
    fn plain(table: ComponentTable) -> Loaded {
        Loaded { table, breakdown: None, warnings: Vec::new() }
    }
}

/// The table of this name that is built in, or else the one in the file, or the breakdown or a signature of the
/// run.
///
/// # Errors
/// There is none, or something is wrong with it.
pub(super) fn load(Source { from, signature }: &Source) -> Result<Loaded, Failure> {
    let input = |what: String| Failure::new(Exit::Input, what);
    let preset = from.to_str().and_then(component_preset);
    if preset.is_none() && from != Path::new("-") && !from.exists() {
        let known: Vec<&str> = component_presets().collect();
        let hint = format!("the tables that are built in: {}", known.join(", "));
        return Err(input(format!("find {}: there is no such file", from.display())).hint(hint));
    }
    if from.is_dir() {
        if !from.join(RUN_FILE).exists() {
            return Err(input(format!("use {}: there is no {RUN_FILE} in it", from.display())));
        }
        return of_run(from, signature.as_deref());
    }
    let table = match preset {
        Some(table) => table,
        None => {
            // What a file is, its first character tells.
            let mut source = open(from)?;
            let mut first = [0];
            let begun = source
                .read(&mut first)
                .map_err(|error| input(format!("read {}: {error}", named(from))))?;
            if begun == 1 && first[0] == b'{' && from != Path::new("-") {
                return of_run(from, signature.as_deref());
            }
            read_component_table(Cursor::new(&first[..begun]).chain(source))
                .map_err(|error| input(format!("use {}: {}", named(from), told(&error))))?
        }
    };
    match signature {
        None => Ok(Loaded::plain(table)),
        Some(_) => {
            let what = format!("--signature needs a run; {} is a component table", named(from));
            Err(Failure::new(Exit::Usage, what).hint("leave it out"))
        }
    }
}

/// The breakdown of a run as a table, or a signature of it: if one is asked for, or there is no breakdown.
fn of_run(from: &Path, signature: Option<&str>) -> Result<Loaded, Failure> {
    let run: Run = read(from).map_err(|error| Failure::new(Exit::Input, told(&error)))?;
    if run.interrupted {
        tell(format_args!("bandgap: warning: {} is a run that ended early", named(from)));
    }
    let failure = |error: &AssembleError| {
        Failure::new(Exit::Input, format!("use {}: {error}", from.display()))
    };
    let breakdown = run.results.iter().find_map(|outcome| match outcome {
        Outcome::Breakdown(breakdown) => Some(breakdown.clone()),
        _ => None,
    });
    if let (Some(breakdown), None) = (breakdown, signature) {
        let table = breakdown.table().map_err(|error| failure(&error))?;
        return Ok(Loaded { table, breakdown: Some(breakdown), warnings: run.warnings });
    }
    let table = components(&run.results, signature, run.confidence());
    table.map(Loaded::plain).map_err(|error| match error {
        AssembleError::NoSignature => {
            failure(&error).hint("measure a signature, as with bandgap signature --out DIR")
        }
        AssembleError::NoSuchSignature { .. } => {
            Failure::new(Exit::Usage, format!("choose a signature: {error}"))
        }
        error => failure(&error),
    })
}
