//! The noise that a schedule is simulated with: a trace as LogGOPSim reads it, or what a run has looked at.

use std::fs;
use std::path::Path;

use bandgap_launch::{Result, input, told};
use bandgap_record::Note;
use bandgap_sim::{Detours, Noise};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

use super::show::kept;

/// Nanoseconds.
const SECOND: f64 = 1e9;

/// The detours of processors in a trace or a run.
///
/// # Errors
/// There is none, or it cannot be read.
pub fn detours(of: &Path, notes: &mut Vec<Note>) -> Result<Vec<Detours>> {
    let name = of.display();
    if of.is_file() && of.extension().is_none_or(|end| end != "json") {
        let input = |why: String| input!("read the noise {name}: {why}");
        let text = fs::read_to_string(of).map_err(|error| input(told(&error)))?;
        let trace = Detours::read(&text).map_err(|error| input(error.to_string()))?;
        return Ok(vec![trace]);
    }
    let (_, run) = kept(of).map_err(|failure| failure.hint("name a trace or a run"))?;
    let hosts = [&run.host].into_iter().chain(&run.hosts);
    let looked = hosts.filter_map(|host| host["noise"].as_array()).flatten();
    let all: Vec<Detours> = looked.filter_map(evenly).collect();
    if all.is_empty() {
        return Err(input!("take the noise of {name}: it has none that can be used")
            .hint("bandgap doctor does"));
    }
    notes.push(Note::new("noise_even", ""));
    Ok(all)
}

/// Detours as often as a processor had them, at least one a second, which take as much time as it lost.
fn evenly(of: &Value) -> Option<Detours> {
    let number = |name: &str| of[1][name].as_f64();
    let period = SECOND / number("detours_per_second")?.max(1.0);
    Detours::read(&format!("{period} {}", number("time_lost")? * period)).ok()
}

/// The noise of so many ranks: each begins somewhere, as the seed says.
pub fn seeded(detours: Vec<Detours>, seed: u64, ranks: usize) -> Noise {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    let of_ranks = detours.iter().cycle().take(ranks);
    let offsets = of_ranks.map(|of| generator.random_range(0..of.length)).collect();
    Noise { detours, offsets }
}
