//! The noise that a run has looked at, for a simulation.

use bandgap_results::Run;
use bandgap_sim::{Detours, Noise};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

/// Nanoseconds.
const SECOND: f64 = 1e9;

/// The detours of the processors of a run's hosts, evenly spaced: as often as a processor had them, at least one a
/// second, which take as much time as it lost. None where nobody has looked.
pub fn detours(run: &Run) -> Vec<Detours> {
    let hosts = [&run.host].into_iter().chain(&run.hosts);
    let looked = hosts.filter_map(|host| host["noise"].as_array()).flatten();
    let evenly = |of: &Value| {
        let number = |name: &str| of[1][name].as_f64();
        let period = SECOND / number("detours_per_second")?.max(1.0);
        Detours::read(&format!("{period} {}", number("time_lost")? * period)).ok()
    };
    looked.filter_map(evenly).collect()
}

/// The noise of so many ranks: each begins somewhere in it, as the seed says.
pub fn seeded(detours: Vec<Detours>, seed: u64, ranks: usize) -> Noise {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    let of_ranks = detours.iter().cycle().take(ranks);
    let offsets = of_ranks.map(|of| generator.random_range(0..of.length)).collect();
    Noise { detours, offsets }
}
