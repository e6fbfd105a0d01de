//! The cost of a stamp, and the step of the clock.

use bandgap_stats::outlier::inside_fence;
use bandgap_stats::quantile::mean;

/// Number of bursts; their means are averaged.
const BURSTS: usize = 256;
/// Stamps in a burst: it lasts much longer than the clock's step, and much less than the time
/// between two interruptions.
const STAMPS: usize = 64;

/// Takes stamps, and returns in ticks the mean time between successive ones, which is their cost,
/// and the clock's step. If the step is larger than the cost, a single difference says nothing, so only
/// a whole burst counts.
pub(super) fn measure(mut stamp: impl FnMut() -> u64) -> (f64, u64) {
    let mut stamps = vec![[0_u64; STAMPS]; BURSTS];
    // The first pass brings code and memory into the caches; only the second one counts.
    for _ in 0..2 {
        for burst in &mut stamps {
            for slot in burst.iter_mut() {
                *slot = stamp();
            }
        }
    }
    let means: Vec<f64> = stamps
        .iter()
        .map(|burst| burst[STAMPS - 1].saturating_sub(burst[0]) as f64 / (STAMPS - 1) as f64)
        .collect();
    (mean(&inside_fence(&means)), step(stamps.as_flattened()))
}

/// The greatest common divisor of the differences of successive stamps; 0 if none differ.
pub(super) fn step(stamps: &[u64]) -> u64 {
    stamps.windows(2).map(|pair| pair[1].abs_diff(pair[0])).fold(0, divisor)
}

/// Euclid's algorithm.
fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
