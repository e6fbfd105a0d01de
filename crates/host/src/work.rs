//! A controlled amount of computation: the Δ of the LogP signature.
//!
//! A loop that reads the clock cannot make 10 ns, so time is made of rounds of dependent
//! arithmetic whose rate is calibrated.
//!
//! It stands between fences: what comes before it has ended when it begins, and what comes after
//! begins when it has ended. LogP's overheads are times in which the processor is engaged. Without
//! fences an out-of-order processor hides them behind the arithmetic while it predicts whether a
//! poll finds something, and not otherwise, so that os + or reads 0 or 30 ns by turns.
//!
//! Invariant of the unsafe code: the assembly is empty, or a fence that changes no register and no
//! memory. The empty one only hides a register's value from the compiler.

use std::cell::Cell;

use bandgap_comm::{Delay, Timer};
use bandgap_stats::quantile::median;
use bandgap_units::Ns;
use serde::{Deserialize, Serialize};

use crate::CycleClock;

thread_local! {
    /// Where the last call's chain ended and the next one begins. Without it, neighbouring calls
    /// would be independent, and an out-of-order processor would run several at once.
    static CHAIN: Cell<u64> = const { Cell::new(1) };
}

/// Runs so many rounds.
#[inline(always)]
pub(crate) fn run(iterations: u32) {
    if iterations > 0 {
        fence();
        CHAIN.with(|end| end.set(chain(end.get(), iterations)));
        fence();
    }
}

/// Nothing after it begins before everything before it has ended. Stores may still wait for their
/// cache lines: handing them to the memory system is what a processor is engaged with, no more.
#[inline(always)]
fn fence() {
    // SAFETY: an instruction that waits, and changes nothing.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!("lfence", options(nostack, preserves_flags));
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("dsb ishld", "isb", options(nostack, preserves_flags));
    }
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}

/// A multiplication and an addition a round, each waiting for the one before: about four cycles,
/// whatever the processor's width and the code's alignment. Not inlined, so that the loop that is
/// calibrated is the loop that runs.
#[inline(never)]
fn chain(seed: u64, iterations: u32) -> u64 {
    let mut value = seed;
    for _ in 0..iterations {
        value = opaque(value.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1));
    }
    value
}

/// The same value, of which the compiler knows nothing; stays in its register.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
#[inline(always)]
pub(crate) fn opaque(mut value: u64) -> u64 {
    // SAFETY: no instruction is executed.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags));
    }
    value
}

/// The same value, of which the compiler knows nothing. May pass through memory.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
#[inline(always)]
pub(crate) fn opaque(value: u64) -> u64 {
    std::hint::black_box(value)
}

/// The time of [`Timer::work`]: offset + per_iteration · iterations, for iterations above zero.
///
/// *Units*: nanoseconds. *Assumes* a constant processor frequency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkRate {
    /// Time of a call, whatever its rounds.
    pub offset: Ns,
    /// Time of a round.
    pub per_iteration: Ns,
    /// Largest deviation of a calibration point from the line, as a share of the point.
    pub worst_residual: f64,
}

/// Rounds of the calibration points: from about 10 ns to about 10 µs.
const COUNTS: [u32; 11] = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];
/// Rounds between two stamps at every point, about 20 µs: the clock's step vanishes in it.
const ROUNDS: u32 = 16_384;
/// Passes over all points. They take turns, so that a disturbance touches all points alike.
const PASSES: usize = 15;

impl WorkRate {
    /// Times calls of increasing rounds and fits a line; takes about 5 ms. Interrupted samples
    /// fall to the median at each point, a wholly disturbed point to the median of slopes.
    pub fn calibrate(clock: &CycleClock) -> Self {
        let mut samples = COUNTS.map(|_| Vec::with_capacity(PASSES));
        // Wakes the processor: its frequency rises with work.
        clock.work(ROUNDS * 32);
        for _ in 0..PASSES {
            for (samples, count) in samples.iter_mut().zip(COUNTS) {
                let calls = ROUNDS / count;
                let begin = clock.stamp();
                for _ in 0..calls {
                    clock.work(count);
                }
                let end = clock.stamp();
                let elapsed = clock.to_ns(end.ticks().saturating_sub(begin.ticks())).0;
                samples.push((elapsed - clock.cost().0).max(0.0) / f64::from(calls));
            }
        }
        let times = samples.map(|of_count| median(&of_count));
        Self::fit(&std::array::from_fn::<_, { COUNTS.len() }, _>(|i| (COUNTS[i], times[i])))
    }

    /// The line through (rounds, ns).
    ///
    /// *Formula*: per_iteration is the median slope of the pairs of points at least a factor of 8
    /// apart (Theil and Sen, with the short baselines left out); offset is the median of
    /// t − per_iteration · n over the smaller half of the counts, where it is not lost in the
    /// noise of long times, and never below zero.
    fn fit(points: &[(u32, f64)]) -> Self {
        let mut slopes = Vec::new();
        for (i, (few, short)) in points.iter().enumerate() {
            for (many, long) in &points[i + 1..] {
                if *many >= few.saturating_mul(8) {
                    slopes.push((long - short) / f64::from(many - few));
                }
            }
        }
        // A clock that stood still must not make the rate zero: it is divided by.
        let slope = median(&slopes).max(1e-3);
        let rest = |&(count, time): &(u32, f64)| time - slope * f64::from(count);
        let rests: Vec<f64> = points[..points.len() / 2].iter().map(rest).collect();
        let offset = median(&rests).max(0.0);
        let residual = |point: &(u32, f64)| (rest(point) - offset).abs() / point.1.max(1e-3);
        Self {
            offset: Ns(offset),
            per_iteration: Ns(slope),
            worst_residual: points.iter().map(residual).fold(0.0, f64::max),
        }
    }

    /// The time of so many rounds.
    pub fn time(&self, iterations: u32) -> Ns {
        match iterations {
            0 => Ns(0.0),
            _ => Ns(self.offset.0 + self.per_iteration.0 * f64::from(iterations)),
        }
    }

    /// The rounds whose time comes nearest to `time`, with the time that they really take.
    /// Nothing for times nearer to zero than to one round, and for what is no number.
    pub fn delay(&self, time: Ns) -> Delay {
        let rounds = ((time.0 - self.offset.0) / self.per_iteration.0).round().max(1.0);
        // A float outside the range saturates.
        let iterations = rounds as u32;
        if time.0.is_nan() || time.0 <= self.time(1).0 / 2.0 {
            return Delay::NONE;
        }
        Delay { iterations, picoseconds: (self.time(iterations).0 * 1000.0).round() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(offset: f64, slope: f64) -> Vec<(u32, f64)> {
        COUNTS.map(|count| (count, offset + slope * f64::from(count))).to_vec()
    }

    proptest! {
        #[test]
        fn a_line_with_one_spoilt_point_comes_back(
            offset in 0.0_f64..20.0, slope in 0.3_f64..4.0, spoilt in 0_usize..11,
        ) {
            let mut points = line(offset, slope);
            points[spoilt].1 *= 3.0;
            let rate = WorkRate::fit(&points);
            // The median over pairs, at most a third of which hold the spoilt point, stays exact
            // but for rounding.
            prop_assert!((rate.per_iteration.0 / slope - 1.0).abs() < 1e-9, "{rate:?}");
            prop_assert!((rate.offset.0 - offset).abs() < 1e-6, "{rate:?}");
            prop_assert!(rate.worst_residual > 0.5, "{rate:?}");
        }

        #[test]
        fn a_delay_is_the_nearest_possible_time(ns in 0.0_f64..1e6) {
            let rate = WorkRate::fit(&line(2.0, 1.5));
            let delay = rate.delay(Ns(ns));
            let off = |iterations| (rate.time(iterations).0 - ns).abs();
            prop_assert!(off(delay.iterations) <= off(delay.iterations + 1) + 1e-9);
            prop_assert!(off(delay.iterations) <= off(delay.iterations.saturating_sub(1)) + 1e-9);
            let told = delay.picoseconds as f64 / 1000.0;
            prop_assert!((told - rate.time(delay.iterations).0).abs() <= 5e-4);
        }
    }

    #[test]
    fn delays_at_the_edges() {
        // offset 2, 1.5 a round: one round takes 3.5 ns, so below 1.75 ns nothing is nearer.
        let rate = WorkRate::fit(&line(2.0, 1.5));
        assert_eq!(rate.delay(Ns(0.0)), Delay::NONE);
        assert_eq!(rate.delay(Ns(1.7)), Delay::NONE);
        assert_eq!(rate.delay(Ns(1.8)).iterations, 1);
        assert_eq!(rate.delay(Ns(32.0)), Delay { iterations: 20, picoseconds: 32_000 });
        assert_eq!(rate.delay(Ns(f64::NAN)), Delay::NONE);
        assert_eq!(rate.delay(Ns(-5.0)), Delay::NONE);
        assert_eq!(rate.delay(Ns(1e300)).iterations, u32::MAX);
    }

    #[test]
    fn the_chain_depends_on_every_round() {
        // x → kx + 1 from 1: k + 1 after one round, k(k + 1) + 1 after two.
        let k = 0x9e37_79b9_7f4a_7c15_u64;
        assert_eq!(chain(1, 0), 1);
        assert_eq!(chain(1, 1), k.wrapping_add(1));
        assert_eq!(chain(1, 2), k.wrapping_mul(k.wrapping_add(1)).wrapping_add(1));
    }

    #[test]
    fn calls_continue_one_another() {
        // Two calls of two rounds must end where one of four does: they cannot overlap.
        CHAIN.set(1);
        run(2);
        run(0);
        run(2);
        assert_eq!(CHAIN.get(), chain(1, 4));
    }

    #[test]
    fn this_machine_calibrates_to_something_usable() {
        let rate = WorkRate::calibrate(&CycleClock::calibrate());
        assert!(rate.per_iteration.0 > 0.0 && rate.offset.0 >= 0.0, "{rate:?}");
        assert!(rate.delay(Ns(1000.0)).iterations > 0);
    }
}
