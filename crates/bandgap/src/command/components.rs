//! Where components come from: a table that is built in, a file, or a run.

use std::io::{Cursor, Read};
use std::path::Path;

use bandgap_launch::{Exit, Failure, told};
use bandgap_record::{
    ComponentTable, component_preset, component_presets, read, read_component_table,
};
use bandgap_results::{Outcome, Run};

use super::fit::{named, open};

/// The table of this name that is built in, or else the one in the file, or the breakdown of the run.
///
/// # Errors
/// There is none, or something is wrong with it.
pub(super) fn load(from: &Path) -> Result<ComponentTable, Failure> {
    if let Some(table) = from.to_str().and_then(component_preset) {
        return Ok(table);
    }
    if from != Path::new("-") && !from.exists() {
        let known: Vec<&str> = component_presets().collect();
        let what = format!("find {}: there is no such file", from.display());
        let hint = format!("the tables that are built in: {}", known.join(", "));
        return Err(Failure::new(Exit::Input, what).hint(hint));
    }
    if from.is_dir() {
        return of_run(from, read(from));
    }
    // What a file is, its first character tells.
    let mut source = open(from)?;
    let mut first = [0];
    let begun = source
        .read(&mut first)
        .map_err(|error| Failure::new(Exit::Input, format!("read {}: {error}", named(from))))?;
    if begun == 1 && first[0] == b'{' && from != Path::new("-") {
        return of_run(from, read(from));
    }
    read_component_table(Cursor::new(&first[..begun]).chain(source)).map_err(|error| {
        Failure::new(Exit::Input, format!("use {}: {}", named(from), told(&error)))
    })
}

/// The breakdown of a run as a table.
fn of_run(
    from: &Path,
    run: Result<Run, bandgap_record::RecordError>,
) -> Result<ComponentTable, Failure> {
    let run = run.map_err(|error| Failure::new(Exit::Input, told(&error)))?;
    let found = run.results.iter().find_map(|outcome| match outcome {
        Outcome::Breakdown(breakdown) => Some(breakdown),
        _ => None,
    });
    let Some(breakdown) = found else {
        let what = format!("use {}: the run has no breakdown", from.display());
        return Err(Failure::new(Exit::Input, what));
    };
    let table = breakdown.table();
    table.map_err(|error| Failure::new(Exit::Input, format!("use {}: {error}", from.display())))
}
