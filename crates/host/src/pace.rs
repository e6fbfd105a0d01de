//! How fast this processor executes independent instructions right now.
//!
//! A hardware thread shares its core's execution units with its sibling. While the sibling is busy
//! (in a virtual machine perhaps with another user's work), code that is limited by its number of
//! instructions takes up to twice as long. Nothing reveals this except the time itself. Overheads
//! are such code. The chain of [`crate::WorkRate`] is not: each of its instructions waits for the
//! one before.

use bandgap_units::Timer;

use crate::CycleClock;
use crate::rounds::opaque;

/// Rounds in a window: they take much longer than the clock's step, and much less than a batch.
const ROUNDS: u64 = 500;
/// Number of windows; the result is their median, so that one interrupt does not change it.
const WINDOWS: usize = 3;

/// Ticks of a fixed amount of arithmetic in four independent chains, about 4000 instructions. Use
/// the number only in comparisons.
pub fn pace(clock: &CycleClock) -> u64 {
    let mut windows = [0; WINDOWS];
    for ticks in &mut windows {
        let begin = clock.stamp();
        std::hint::black_box(independent(ROUNDS));
        *ticks = clock.stamp().ticks().saturating_sub(begin.ticks());
    }
    windows.sort_unstable();
    windows[WINDOWS / 2]
}

#[inline(never)]
fn independent(rounds: u64) -> u64 {
    let mut chains = [1_u64, 2, 3, 4];
    for round in 0..rounds {
        for chain in &mut chains {
            // Hidden one by one, so that the compiler does not vectorise the chains.
            *chain = opaque(opaque(chain.wrapping_add(round)) ^ round);
        }
    }
    chains.iter().fold(0, |sum, chain| sum ^ chain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_four_chains_are_run_to_their_ends() {
        // (x + 0) ^ 0 = x, then (x + 1) ^ 1: 1, 2, 3, 4 → 3, 2, 5, 4, and 3 ^ 2 ^ 5 ^ 4 = 0; after
        // one round 1 ^ 2 ^ 3 ^ 4 = 4.
        assert_eq!(independent(1), 4);
        assert_eq!(independent(2), 0);
        assert!(pace(&CycleClock::calibrate()) > 0);
    }
}
