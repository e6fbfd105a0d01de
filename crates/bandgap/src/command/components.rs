//! Where components come from: a table that is built in, a file, or a run.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use bandgap_assemble::components;
use bandgap_launch::{Exit, Failure, Result, input, told, usage};
use bandgap_model::breakdown::Stack;
use bandgap_record::{
    ComponentTable, Note, component_preset, component_presets, read_component_table,
};
use bandgap_results::{Breakdown, Logp, Outcome};
use bandgap_stats::Rule;
use clap::Args;

use super::fit::{named, open};
use super::show::{found, kept};
use crate::args::Precision;

/// The level that the intervals of a run are taken to have if it does not say.
const USUAL: f64 = 0.95;

/// Where they come from.
#[derive(Clone, Debug, Args)]
pub struct Source {
    /// Components that are known: thunderx2-connectx4 (the paper's), a table in CSV (`-` reads standard input), or a
    /// run (its directory, the beginning of its name, or LAST) with a breakdown or a LogP signature
    #[arg(long, value_name = "PRESET|TABLE|RUN")]
    pub from: Option<PathBuf>,
    /// Of a run with several of them, the first whose id begins like this: breakdown/unix, logp/tcp [default: the first
    /// breakdown, else the signature of small messages]
    #[arg(long, value_name = "ID", requires = "from")]
    pub id: Option<String>,
}

/// What was loaded.
pub struct Loaded {
    /// Components and models.
    pub table: ComponentTable,
    /// The breakdown of a run that they are of.
    pub breakdown: Option<Breakdown>,
    /// What the run says of it.
    pub notes: Vec<Note>,
}

/// The table of this name that is built in, or else the one in the file, or what a run has.
///
/// # Errors
/// There is none, or something is wrong with it.
pub fn load(from: &Path, id: Option<&str>) -> Result<Loaded> {
    let input = |what: String| Failure::new(Exit::Input, what);
    let plain = |table| Loaded { table, breakdown: None, notes: Vec::new() };
    if let Some(table) = from.to_str().and_then(component_preset) {
        return only_run(id, from).map(|()| plain(table));
    }
    let is_stdin = from == Path::new("-");
    if !is_stdin && (from.is_dir() || !from.exists()) {
        let run = found(from).map_err(|failure| {
            let known: Vec<&str> = component_presets().collect();
            failure.hint(format!("name a table, a run, or what is built in: {}", known.join(", ")))
        })?;
        return of_run(&run, id);
    }
    // What a file is, its first character tells.
    let mut source = open(from)?;
    let mut first = [0];
    let begun =
        source.read(&mut first).map_err(|error| input(format!("read {}: {error}", named(from))))?;
    if begun == 1 && first[0] == b'{' && !is_stdin {
        return of_run(from, id);
    }
    only_run(id, from)?;
    let table = read_component_table(Cursor::new(&first[..begun]).chain(source))
        .map_err(|error| input(format!("use {}: {}", named(from), told(&error))))?;
    Ok(plain(table))
}

fn only_run(id: Option<&str>, from: &Path) -> Result<()> {
    let what = || format!("use --id: {} is a component table, and no run", named(from));
    id.map_or(Ok(()), |_| Err(Failure::new(Exit::Usage, what()).hint("leave it out")))
}

/// What of a run is divided: the result of this id, or the first breakdown, else the signature of small messages, else
/// that of the longest transfer.
fn of_run(from: &Path, id: Option<&str>) -> Result<Loaded> {
    let (_, run) = kept(from)?;
    let rank = |result: &Outcome| match result {
        Outcome::Breakdown(_) => (0, 0),
        Outcome::Logp(logp) => {
            (1 + u8::from(logp.bytes.is_some()), u64::MAX - logp.bytes.unwrap_or(0))
        }
        _ => (u8::MAX, 0),
    };
    let ids = |result: &Outcome| match result {
        Outcome::Breakdown(of) => Some(Breakdown::id(of)),
        Outcome::Logp(of) => Some(Logp::id(of)),
        _ => None,
    };
    let is_meant =
        |result: &&Outcome| ids(result).is_some_and(|own| id.is_none_or(|id| own.starts_with(id)));
    let level = run.confidence().unwrap_or(USUAL);
    let meant = run.results.iter().filter(is_meant).min_by_key(|result| rank(result));
    let Some((meant, table)) = meant.and_then(|of| Some((of, components(of, level)?))) else {
        let known: Vec<String> = run.results.iter().filter_map(ids).take(NAMED).collect();
        return Err(match known.is_empty() {
            true => input!("use {}: it has no signature", named(from))
                .hint("measure one, as with bandgap signature --out DIR"),
            false => usage!("use {}: no such id", named(from))
                .hint(format!("give one of {}", known.join(", "))),
        });
    };
    let wrong = |error| input!("use {}: {error}", named(from));
    let table = table.map_err(wrong)?;
    let own = ids(meant).unwrap_or_default();
    let is_its = |note: &Note| note.about.is_empty() || note.about.starts_with(&own);
    let breakdown = match meant {
        Outcome::Breakdown(of) => Some((**of).clone()),
        _ => None,
    };
    Ok(Loaded { table, breakdown, notes: run.notes.into_iter().filter(is_its).collect() })
}

/// Names that a hint lists, at most.
const NAMED: usize = 40;

/// What can be changed, for who named something else.
pub fn known(stack: &Stack) -> String {
    let few = |names: Vec<&str>| {
        let more = if names.len() > NAMED { ", …" } else { "" };
        names[..names.len().min(NAMED)].join(", ") + more
    };
    format!(
        "components: {}; models: {}; parameters: {}; categories: cpu, io, network; layers: hlp, llp, misc, hardware",
        few(stack.components.iter().map(|one| &*one.name).collect()),
        few(stack.models.iter().map(|model| &*model.name).collect()),
        few(stack.parameters.keys().map(|name| &**name).collect()),
    )
}

/// When what is computed of given times counts as precise.
pub fn rule(precision: &Precision) -> Rule {
    Rule { precision: precision.precision.0, stamp: 0.0 }
}
