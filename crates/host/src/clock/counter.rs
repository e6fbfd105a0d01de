//! The processor's cycle counter.
//!
//! Invariant of the unsafe code: [`ordered`] is called only if [`facts`] found the counter, so the
//! instructions exist. `CycleClock` ensures this: only then is its source `CycleCounter`.

/// Facts about the counter that are known without timing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// Its instructions exist, and this process may use them.
    pub exists: bool,
    /// It runs at the same rate in all states of the processor.
    pub invariant: bool,
    /// The kernel's name for it, if the kernel lists stable counters among its clock sources.
    pub kernel_name: Option<&'static str>,
}

/// Asks the processor and the kernel.
#[cfg(target_arch = "x86_64")]
pub(super) fn facts() -> Facts {
    use rustix::process::{TimeStampCounterReadability, time_stamp_counter_readability};

    // The oldest supported compiler needs `unsafe` here; in newer ones the functions are safe.
    #[allow(unused_unsafe)]
    let bit = |leaf: u32, bit: u32| {
        // SAFETY: every x86-64 processor has cpuid.
        let highest = unsafe { std::arch::x86_64::__cpuid(0x8000_0000) }.eax;
        // SAFETY: as above, and the leaf is not above the highest one.
        highest >= leaf && unsafe { std::arch::x86_64::__cpuid(leaf) }.edx >> bit & 1 == 1
    };
    let forbidden =
        matches!(time_stamp_counter_readability(), Ok(TimeStampCounterReadability::RaiseSIGSEGV));
    Facts {
        // Leaf 8000_0001, edx bit 27: rdtscp.
        exists: bit(0x8000_0001, 27) && !forbidden,
        // Leaf 8000_0007, edx bit 8: invariant counter.
        invariant: bit(0x8000_0007, 8),
        kernel_name: Some("tsc"),
    }
}

/// The architecture guarantees a virtual counter of constant rate, readable by processes.
#[cfg(target_arch = "aarch64")]
pub(super) fn facts() -> Facts {
    Facts { exists: true, invariant: true, kernel_name: Some("arch_sys_counter") }
}

/// bandgap supports no counter on this architecture.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn facts() -> Facts {
    Facts { exists: false, invariant: false, kernel_name: None }
}

/// The counter, after all earlier instructions and before all later ones.
///
/// Source: Intel, "Software Developer's Manual", volume 2, RDTSCP: it waits for earlier
/// instructions and loads; a following LFENCE holds back later ones.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn ordered() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: rdtscp exists (the module's invariant) and writes only the registers named. Since
    // `nomem` is absent, the compiler moves no memory access across it.
    unsafe {
        std::arch::asm!(
            "rdtscp",
            "lfence",
            out("rax") low,
            out("rdx") high,
            out("rcx") _,
            options(nostack, preserves_flags),
        );
    }
    high << 32 | low
}

/// The counter, after all earlier instructions and before all later ones.
///
/// Source: Arm, "Architecture Reference Manual", CNTVCT_EL0: reads may be reordered; an ISB on both
/// sides prevents that.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(super) fn ordered() -> u64 {
    let ticks: u64;
    // SAFETY: Linux lets processes read this register. Since `nomem` is absent, the compiler moves
    // no memory access across it.
    unsafe {
        std::arch::asm!(
            "isb",
            "mrs {ticks}, cntvct_el0",
            "isb",
            ticks = out(reg) ticks,
            options(nostack, preserves_flags),
        );
    }
    ticks
}

/// Never called: on this architecture the source is never `CycleCounter`.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
pub(super) fn ordered() -> u64 {
    0
}
