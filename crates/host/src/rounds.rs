//! A controlled amount of computation: the Δ of the LogP signature.
//!
//! A loop that reads the clock cannot last only 10 ns. So time is spent in rounds of dependent
//! arithmetic, whose rate is calibrated.
//!
//! The loop runs between two fences: everything before it has finished when it begins, and nothing
//! after it begins until it has finished. LogP's overheads are times in which the processor is
//! engaged. Without fences, an out-of-order processor hides them behind the arithmetic for as long
//! as it predicts correctly whether a poll finds something: os + or then reads now 0, now 30 ns.
//!
//! Invariant of the unsafe code: the assembly is either empty, or a fence that changes no register
//! and no memory. The empty assembly only hides a register's value from the compiler.

use std::cell::Cell;

thread_local! {
    /// The value at which the last call's chain ended and the next call's begins. Without it,
    /// successive calls would be independent, and the processor would run several at once.
    static CHAIN: Cell<u64> = const { Cell::new(1) };
}

/// Runs this many rounds.
#[inline(always)]
pub fn compute(iterations: u32) {
    if iterations > 0 {
        fence();
        CHAIN.with(|end| end.set(chain(end.get(), iterations)));
        fence();
    }
}

/// Waits until all earlier instructions have finished; no later one begins before. Stores may still
/// wait for their cache lines: the processor is engaged only until it has handed them to the memory
/// system.
#[inline(always)]
fn fence() {
    // SAFETY: the instruction only waits.
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

/// One multiplication and one addition per round, each waiting for the one before: about four
/// cycles, whatever the processor's width and the code's alignment. Not inlined, so that the loop
/// that runs is the loop that was calibrated.
#[inline(never)]
fn chain(seed: u64, iterations: u32) -> u64 {
    let mut value = seed;
    for _ in 0..iterations {
        value = opaque(value.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1));
    }
    value
}

/// Returns the value, hidden from the compiler. It stays in its register.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
#[inline(always)]
pub(crate) fn opaque(mut value: u64) -> u64 {
    // SAFETY: no instruction is executed.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags));
    }
    value
}

/// Returns the value, hidden from the compiler. It may pass through memory.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
#[inline(always)]
pub(crate) fn opaque(value: u64) -> u64 {
    std::hint::black_box(value)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        compute(2);
        compute(0);
        compute(2);
        assert_eq!(CHAIN.get(), chain(1, 4));
    }
}
