//! The noise for the simulation of a schedule, from a trace of LogGOPSim or from a run.

use std::fs;
use std::path::Path;

use bandgap_assemble as assemble;
use bandgap_launch::{Result, input, told};
use bandgap_record::Note;
use bandgap_sim::Detours;

use super::show::kept;

/// The detours of processors in a trace or a run.
///
/// # Errors
/// It has none, or cannot be read.
pub fn detours(of: &Path, notes: &mut Vec<Note>) -> Result<Vec<Detours>> {
    let name = of.display();
    if of.is_file() && of.extension().is_none_or(|end| end != "json") {
        let input = |why: String| input!("read the noise {name}: {why}");
        let text = fs::read_to_string(of).map_err(|error| input(told(&error)))?;
        let trace = Detours::read(&text).map_err(|error| input(error.to_string()))?;
        return Ok(vec![trace]);
    }
    let (_, run) = kept(of).map_err(|failure| failure.hint("name a trace or a run"))?;
    let all = assemble::detours(&run);
    if all.is_empty() {
        return Err(input!("use the noise of {name}: it has none that can be used")
            .hint("name a run of bandgap doctor"));
    }
    notes.push(Note::new("noise_even", ""));
    Ok(all)
}
