//! How fast this processor executes instructions that do not wait for one another.
//!
//! A hardware thread shares its core's execution units with its sibling. While that one is busy,
//! on a virtual machine perhaps with somebody else's work, code that is bound by the number of its
//! instructions takes up to twice as long, and nothing but its time tells. Overheads are such code;
//! the chain of [`crate::WorkRate`], which waits for itself, is not.

use bandgap_comm::Timer;

use crate::CycleClock;
use crate::work::opaque;

/// Rounds: long beside the clock's step, short beside a batch.
const ROUNDS: u64 = 500;
/// The value is the median of this many, so that one interrupt does not make it.
const WINDOWS: usize = 3;

/// Ticks of a fixed amount of arithmetic in four independent chains, about 4000 instructions: a
/// measure for comparisons only.
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
            // One by one: the compiler must not make vectors of them.
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
