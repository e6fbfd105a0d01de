//! The noise that a run measured, for simulation.

use bandgap_results::Run;
use bandgap_sim::{Detours, Noise};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

/// Nanoseconds.
const SECOND: f64 = 1e9;

/// The detours of each processor of a run's hosts, evenly spaced: at the measured frequency (at least one per second),
/// with the measured loss of time. Empty if noise was not measured.
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

/// The noise of ranks in ascending order; each starts at a random offset, whichever others there are.
pub fn seeded(detours: Vec<Detours>, seed: u64, ranks: impl Iterator<Item = u32>) -> Noise {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut all = (0..).zip(detours.iter().cycle().map(|of| generator.random_range(0..of.length)));
    let offsets = ranks.filter_map(|rank| all.find(|of| of.0 == rank)).map(|of| of.1).collect();
    Noise { detours, offsets }
}
