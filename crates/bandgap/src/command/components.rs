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
    /// Components that are known: thunderx2-connectx4 (the paper's), a table in TOML or CSV (`-` reads standard
    /// input), or a run with a breakdown or a LogP signature
    #[arg(long, value_name = "PRESET|TABLE|RUN")]
    pub from: PathBuf,
    /// Of a run with several signatures, the first whose name holds this: a transport (tcp), a size (16KiB) or a
    /// state [default: the first of small messages, else of the longest transfer]
    #[arg(long, value_name = "WORDS")]
    pub signature: Option<String>,
}

/// The table of this name that is built in, or else the one in the file, or the breakdown or a signature of the
/// run.
///
/// # Errors
/// There is none, or something is wrong with it.
pub(super) fn load(source: &Source) -> Result<ComponentTable, Failure> {
    load_with_breakdown(source).map(|(table, _)| table)
}

/// The breakdown of a run.
pub(super) struct Recorded {
    /// As it was recorded.
    pub breakdown: Box<Breakdown>,
    /// What the run warned of.
    pub warnings: Vec<String>,
    /// The level of its intervals, where the run says it.
    pub confidence: Option<f64>,
}

/// The same, with the breakdown that it is of, if it is of one.
///
/// # Errors
/// Those of [`load`].
pub(super) fn load_with_breakdown(
    Source { from, signature }: &Source,
) -> Result<(ComponentTable, Option<Recorded>), Failure> {
    let table = table(from, signature.as_deref())?;
    match (signature, table) {
        (_, Loaded::Run(table, recorded)) => Ok((table, recorded)),
        (None, Loaded::Table(table)) => Ok((table, None)),
        (Some(_), Loaded::Table(_)) => {
            let what = format!("use --signature: {} is a table, and no run", named(from));
            Err(Failure::new(Exit::Usage, what).hint("leave it out"))
        }
    }
}

/// What was loaded.
enum Loaded {
    Table(ComponentTable),
    Run(ComponentTable, Option<Recorded>),
}

fn table(from: &Path, signature: Option<&str>) -> Result<Loaded, Failure> {
    if let Some(table) = from.to_str().and_then(component_preset) {
        return Ok(Loaded::Table(table));
    }
    if from != Path::new("-") && !from.exists() {
        let known: Vec<&str> = component_presets().collect();
        let what = format!("find {}: there is no such file", from.display());
        let hint = format!("the tables that are built in: {}", known.join(", "));
        return Err(Failure::new(Exit::Input, what).hint(hint));
    }
    if from.is_dir() {
        if !from.join(RUN_FILE).exists() {
            let what = format!("use {}: there is no {RUN_FILE} in it", from.display());
            let hint = format!("name the folder of a run, which has a {RUN_FILE}, or a table");
            return Err(Failure::new(Exit::Input, what).hint(hint));
        }
        return of_run(from, signature);
    }
    // What a file is, its first character tells.
    let mut source = open(from)?;
    let mut first = [0];
    let begun = source
        .read(&mut first)
        .map_err(|error| Failure::new(Exit::Input, format!("read {}: {error}", named(from))))?;
    if begun == 1 && first[0] == b'{' && from != Path::new("-") {
        return of_run(from, signature);
    }
    let table = read_component_table(Cursor::new(&first[..begun]).chain(source));
    table.map(Loaded::Table).map_err(|error| {
        Failure::new(Exit::Input, format!("use {}: {}", named(from), told(&error)))
    })
}

/// Whether a run holds what did not suffice for a result.
fn too_little(run: &Run) -> bool {
    run.results.iter().any(|outcome| matches!(outcome, Outcome::Batches(_)))
}

/// The breakdown of a run as a table, or a signature of it: if one is asked for, or there is no breakdown.
fn of_run(from: &Path, signature: Option<&str>) -> Result<Loaded, Failure> {
    let run: Run = read(from).map_err(|error| Failure::new(Exit::Input, told(&error)))?;
    if run.interrupted {
        tell(format_args!("bandgap: warning: {} is a run that ended early", named(from)));
    }
    let failure = |why: String| Failure::new(Exit::Input, format!("use {}: {why}", from.display()));
    let breakdown = run.results.iter().find_map(|outcome| match outcome {
        Outcome::Breakdown(breakdown) => Some(breakdown),
        _ => None,
    });
    if let (Some(breakdown), None) = (breakdown, signature) {
        let table = breakdown.table().map_err(|error| failure(error.to_string()))?;
        let confidence = run.confidence();
        let breakdown = breakdown.clone();
        return Ok(Loaded::Run(
            table,
            Some(Recorded { breakdown, warnings: run.warnings, confidence }),
        ));
    }
    let table = components(&run.results, signature, run.confidence());
    let table = table.map_err(|error| match error {
        AssembleError::NoSignature if run.interrupted => {
            failure("the run was interrupted before it had a breakdown or a signature".to_owned())
                .hint("measure it again")
        }
        AssembleError::NoSignature if signature.is_none() && too_little(&run) => {
            failure("too little was measured for a breakdown or a signature".to_owned())
                .hint("measure it again, with a longer --time-budget")
        }
        AssembleError::NoSignature if signature.is_none() => {
            failure("the run has neither a breakdown nor a LogP signature".to_owned()).hint(
                "measure a signature, as with bandgap signature --out DIR, or give a table of components",
            )
        }
        AssembleError::NoSuchSignature { .. } => {
            Failure::new(Exit::Usage, format!("choose a signature: {error}"))
        }
        error => failure(error.to_string()),
    })?;
    Ok(Loaded::Run(table, None))
}
